/*
 * A witness as a picture: one column per thread that takes part, time downwards, an arrow from each immediate cause.
 * The block's begin, the foreign event and the later event of the block are filled; a legend says so. Every event has a
 * row of its own. So an arrow to another thread runs down beside its column, then across in the row of its target, and
 * meets no box and no text but there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/utf8.h"
#include "net/witness.h"

static const char *const fills[] = {[PT_WITNESS_OTHER] = "#ffffff",
                                    [PT_WITNESS_BEGIN] = "#cfe2ff",
                                    [PT_WITNESS_FOREIGN] = "#fff3b0",
                                    [PT_WITNESS_LATER] = "#f8c4c4"};

/* Text between double quotes for Graphviz. */
static void put_quoted(struct pt_buf *buf, const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            pt_buf_puts(buf, "\\");
        pt_buf_printf(buf, "%c", (unsigned char)*text < ' ' ? ' ' : *text);
    }
}

void pt_witness_dot(const struct pt_program *program, const struct pt_witness *witness, const char *title,
                    struct pt_buf *buf)
{
    pt_buf_puts(buf, "digraph witness {\n  label=\"");
    put_quoted(buf, title);
    pt_buf_puts(buf, "\";\n  node [shape=box, style=filled, fontname=\"sans-serif\", fontsize=10];\n");
    for (uint32_t i = 0; i < witness->count; i++) {
        const struct pt_witness_event *event = &witness->events[i];
        const struct pt_prog_step *step = &program->steps[event->step];
        pt_buf_printf(buf, "  e%u [fillcolor=\"%s\", group=t%u, label=\"", i + 1, fills[event->role], step->thread);
        put_quoted(buf, step->text);
        pt_buf_puts(buf, "\\n");
        put_quoted(buf, program->threads[step->thread].name);
        pt_buf_printf(buf, ", line %u\"];\n", step->place.line);
        for (uint32_t k = 0; k < event->cause_count; k++)
            pt_buf_printf(buf, "  e%u -> e%u;\n", event->causes[k] + 1, i + 1);
    }
    pt_buf_puts(buf, "}\n");
}

enum {
    CHAR = 8, /* pixels of a character of 12 points, at most */
    ROW = 44,
    BOX_HEIGHT = 30,
    GAP = 44, /* between columns, where arrows run down */
    WAYS = 6, /* of them beside each other */
    TOP = 104,
    LEFT = 20,
    LEAST_CHARS = 16,
    MOST_CHARS = 48,
    TITLE_CHARS = 100,
};

struct drawing {
    const struct pt_program *program;
    const struct pt_witness *witness;
    struct pt_buf *buf;
    uint32_t *columns;  /* of each thread, PT_NONE: it takes no part */
    uint32_t box_width; /* so that the longest step fits, within bounds */
    uint32_t arrows;    /* drawn so far between columns */
};

static uint32_t box_x(const struct drawing *d, uint32_t column)
{
    return LEFT + column * (d->box_width + GAP);
}

static uint32_t box_y(uint32_t row)
{
    return TOP + row * ROW;
}

static uint32_t column_of(const struct drawing *d, uint32_t event)
{
    return d->columns[d->program->steps[d->witness->events[event].step].thread];
}

/* The column of each thread that takes part, in the order they appear; returns how many. */
static uint32_t place_threads(struct drawing *d)
{
    uint32_t count = 0;
    memset(d->columns, 0xff, (size_t)d->program->thread_count * sizeof *d->columns);
    for (uint32_t i = 0; i < d->witness->count; i++) {
        uint32_t thread = d->program->steps[d->witness->events[i].step].thread;
        if (d->columns[thread] == PT_NONE)
            d->columns[thread] = count++;
    }
    return count;
}

/* The text of a step with its line. */
static void put_step(const struct drawing *d, uint32_t event, struct pt_buf *line)
{
    const struct pt_prog_step *step = &d->program->steps[d->witness->events[event].step];
    pt_buf_printf(line, "%u: %s", step->place.line, step->text);
}

/* How wide a box has to be, within bounds. */
static uint32_t width_of_boxes(const struct drawing *d)
{
    size_t chars = LEAST_CHARS;
    for (uint32_t i = 0; i < d->witness->count; i++) {
        struct pt_buf line;
        pt_buf_init(&line);
        put_step(d, i, &line);
        chars = line.len > chars ? line.len : chars;
        pt_buf_release(&line);
    }
    return CHAR * (uint32_t)(chars < MOST_CHARS ? chars : MOST_CHARS) + 16;
}

/* Text of at most `most` bytes, harmless; what is cut ends in "..". */
static void put_text(struct pt_buf *buf, uint32_t x, uint32_t y, const char *style, const char *text, size_t most)
{
    size_t len = strlen(text), shown = len;
    if (len > most)
        for (shown = most - 2; shown > 0 && ((unsigned char)text[shown] & 0xc0) == 0x80;
             shown--) /* a whole character */
            ;
    char *cut = pt_xmalloc(shown + 3);
    memcpy(cut, text, shown);
    memcpy(cut + shown, len > most ? ".." : "", len > most ? 3 : 1);
    pt_buf_printf(buf, "<text x=\"%u\" y=\"%u\"%s>", x, y, style);
    pt_xml_escape(buf, cut);
    pt_buf_puts(buf, "</text>\n");
    free(cut);
}

static void put_rect(struct pt_buf *buf, uint32_t x, uint32_t y, uint32_t width, uint32_t height, const char *fill)
{
    pt_buf_printf(buf, "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" rx=\"4\" fill=\"%s\" stroke=\"#444\"/>\n", x,
                  y, width, height, fill);
}

static void put_box(struct drawing *d, uint32_t event)
{
    uint32_t x = box_x(d, column_of(d, event)), y = box_y(event);
    struct pt_buf line;
    pt_buf_init(&line);
    put_step(d, event, &line);
    pt_buf_puts(d->buf, "<g><title>");
    pt_xml_escape(d->buf, line.text);
    pt_buf_puts(d->buf, "</title>\n");
    put_rect(d->buf, x, y, d->box_width, BOX_HEIGHT, fills[d->witness->events[event].role]);
    put_text(d->buf, x + 8, y + 19, "", line.text, (d->box_width - 16) / CHAR);
    pt_buf_puts(d->buf, "</g>\n");
    pt_buf_release(&line);
}

static void put_path(struct pt_buf *buf, const char *path)
{
    pt_buf_printf(buf, "<path d=\"%s\" fill=\"none\" stroke=\"#444\" marker-end=\"url(#tip)\"/>\n", path);
}

/* Down within a column; to another one beside the first, then across. It leaves below the middle of a box and arrives
 * above it, so that no two look like one. */
static void put_arrow(struct drawing *d, uint32_t from, uint32_t to)
{
    uint32_t a = column_of(d, from), b = column_of(d, to), half = BOX_HEIGHT / 2;
    char path[160];
    if (a == b) {
        snprintf(path, sizeof path, "M%u %uV%u", box_x(d, a) + d->box_width / 2, box_y(from) + BOX_HEIGHT, box_y(to));
    } else {
        uint32_t aside = 8 + d->arrows++ % WAYS * ((GAP - 16) / WAYS);
        uint32_t x1 = box_x(d, a) + (a < b ? d->box_width : 0), x2 = box_x(d, b) + (a < b ? 0 : d->box_width);
        snprintf(path, sizeof path, "M%u %uH%uV%uH%u", x1, box_y(from) + half + 6, a < b ? x1 + aside : x1 - aside,
                 box_y(to) + half - 6, x2);
    }
    put_path(d->buf, path);
}

static void put_legend(struct drawing *d)
{
    static const struct {
        enum pt_witness_role role;
        const char *words;
    } rows[] = {{PT_WITNESS_BEGIN, "the block begins"},
                {PT_WITNESS_FOREIGN, "another thread comes in between"},
                {PT_WITNESS_LATER, "the block goes on, after it"}};
    uint32_t x = LEFT;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put_rect(d->buf, x, 38, 18, 14, fills[rows[i].role]);
        put_text(d->buf, x + 24, 49, " class=\"s\"", rows[i].words, TITLE_CHARS);
        x += 44 + 7 * (uint32_t)strlen(rows[i].words);
    }
    char path[60];
    snprintf(path, sizeof path, "M%u 45h24", x);
    put_path(d->buf, path);
    put_text(d->buf, x + 32, 49, " class=\"s\"", "comes first", TITLE_CHARS);
}

enum { LEGEND_WIDTH = 810 };

static void put_head(struct drawing *d, const char *title, uint32_t width, uint32_t height)
{
    pt_buf_printf(d->buf,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\">\n"
                  "<style>text { font: 12px monospace } .n { font-weight: bold } .s { font-family: sans-serif; fill: "
                  "#444 } .h { font: bold 14px "
                  "sans-serif }</style>\n"
                  "<defs><marker id=\"tip\" markerWidth=\"8\" markerHeight=\"8\" refX=\"7\" refY=\"4\" orient=\"auto\">"
                  "<path d=\"M0,0 L8,4 L0,8 z\" fill=\"#444\"/></marker></defs>\n<title>",
                  width, height, width, height);
    pt_xml_escape(d->buf, title);
    pt_buf_puts(d->buf, "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
    put_text(d->buf, LEFT, 24, " class=\"h\"", title, TITLE_CHARS);
    put_legend(d);
    for (uint32_t t = 0; t < d->program->thread_count; t++) {
        if (d->columns[t] != PT_NONE)
            put_text(d->buf, box_x(d, d->columns[t]), TOP - 12, " class=\"n\"", d->program->threads[t].name,
                     d->box_width / CHAR);
    }
}

void pt_witness_svg(const struct pt_program *program, const struct pt_witness *witness, const char *title,
                    struct pt_buf *buf)
{
    struct drawing d = {.program = program, .witness = witness, .buf = buf};
    d.columns = pt_xmalloc((size_t)program->thread_count * sizeof *d.columns);
    uint32_t count = place_threads(&d);
    d.box_width = width_of_boxes(&d);
    uint32_t width = 2 * LEFT + count * (d.box_width + GAP) - GAP;
    size_t titled = strlen(title) < TITLE_CHARS ? strlen(title) : TITLE_CHARS;
    uint32_t least = 2 * LEFT + 9 * (uint32_t)titled > LEGEND_WIDTH ? 2 * LEFT + 9 * (uint32_t)titled : LEGEND_WIDTH;
    put_head(&d, title, width < least ? least : width, box_y(witness->count) + LEFT);
    for (uint32_t i = 0; i < witness->count; i++) {
        put_box(&d, i);
        for (uint32_t k = 0; k < witness->events[i].cause_count; k++)
            put_arrow(&d, witness->events[i].causes[k], i);
    }
    pt_buf_puts(buf, "</svg>\n");
    free(d.columns);
}
