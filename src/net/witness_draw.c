/*
 * A witness as a picture: one column per thread that takes part, time downwards, an arrow from each immediate cause.
 * The block's begin, the foreign event and the later event of the block are filled.
 */
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

enum { COLUMN = 260, ROW = 44, BOX_WIDTH = 220, BOX_HEIGHT = 30, TOP = 64, LEFT = 20 };

static uint32_t box_x(uint32_t column)
{
    return LEFT + column * COLUMN;
}

static uint32_t box_y(uint32_t row)
{
    return TOP + row * ROW;
}

/* The column of each thread that takes part, in the order they appear; returns how many. */
static uint32_t place_threads(const struct pt_program *program, const struct pt_witness *witness, uint32_t *columns)
{
    uint32_t count = 0;
    memset(columns, 0xff, (size_t)program->thread_count * sizeof *columns);
    for (uint32_t i = 0; i < witness->count; i++) {
        uint32_t thread = program->steps[witness->events[i].step].thread;
        if (columns[thread] == PT_NONE)
            columns[thread] = count++;
    }
    return count;
}

/* Down within a column, from side to side between two. */
static void put_arrow(struct pt_buf *buf, uint32_t from_column, uint32_t from_row, uint32_t to_column, uint32_t to_row)
{
    uint32_t x1 = box_x(from_column) + BOX_WIDTH / 2, y1 = box_y(from_row) + BOX_HEIGHT;
    uint32_t x2 = box_x(to_column) + BOX_WIDTH / 2, y2 = box_y(to_row);
    if (from_column != to_column) {
        x1 = box_x(from_column) + (from_column < to_column ? BOX_WIDTH : 0);
        x2 = box_x(to_column) + (from_column < to_column ? 0 : BOX_WIDTH);
        y1 -= BOX_HEIGHT / 2;
        y2 += BOX_HEIGHT / 2;
    }
    pt_buf_printf(buf, "<line x1=\"%u\" y1=\"%u\" x2=\"%u\" y2=\"%u\" stroke=\"#444\" marker-end=\"url(#tip)\"/>\n", x1,
                  y1, x2, y2);
}

static void put_text(struct pt_buf *buf, uint32_t x, uint32_t y, const char *style, const char *text)
{
    enum { LONGEST = 80 };
    char shown[LONGEST + 1];
    size_t len = strlen(text);
    if (len > LONGEST) {
        memcpy(shown, text, LONGEST - 2);
        memcpy(shown + LONGEST - 2, "..", 3);
        text = shown;
    }
    pt_buf_printf(buf, "<text x=\"%u\" y=\"%u\"%s>", x, y, style);
    pt_xml_escape(buf, text);
    pt_buf_puts(buf, "</text>\n");
}

static void put_box(struct pt_buf *buf, const struct pt_program *program, const struct pt_witness_event *event,
                    uint32_t column, uint32_t row)
{
    const struct pt_prog_step *step = &program->steps[event->step];
    struct pt_buf line;
    pt_buf_init(&line);
    enum { LONGEST = 30 };
    size_t len = strlen(step->text);
    pt_buf_printf(&line, "%u: %.*s%s", step->place.line, len > LONGEST ? LONGEST - 2 : (int)len, step->text,
                  len > LONGEST ? ".." : "");
    pt_buf_printf(buf, "<rect x=\"%u\" y=\"%u\" width=\"%d\" height=\"%d\" rx=\"4\" fill=\"%s\" stroke=\"#444\"/>\n",
                  box_x(column), box_y(row), BOX_WIDTH, BOX_HEIGHT, fills[event->role]);
    put_text(buf, box_x(column) + 8, box_y(row) + 19, "", line.text);
    pt_buf_release(&line);
}

void pt_witness_svg(const struct pt_program *program, const struct pt_witness *witness, const char *title,
                    struct pt_buf *buf)
{
    uint32_t *columns = pt_xmalloc((size_t)program->thread_count * sizeof *columns);
    uint32_t count = place_threads(program, witness, columns);
    pt_buf_printf(buf,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" font-family=\"sans-serif\" "
                  "font-size=\"12\">\n<defs><marker id=\"tip\" markerWidth=\"8\" markerHeight=\"8\" refX=\"7\" "
                  "refY=\"4\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"#444\"/></marker></defs>\n<title>",
                  2 * LEFT + count * COLUMN, box_y(witness->count) + LEFT);
    pt_xml_escape(buf, title);
    pt_buf_puts(buf, "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
    put_text(buf, LEFT, 22, " font-weight=\"bold\"", title);
    for (uint32_t t = 0; t < program->thread_count; t++) {
        if (columns[t] != PT_NONE)
            put_text(buf, box_x(columns[t]), TOP - 12, " fill=\"#666\"", program->threads[t].name);
    }
    for (uint32_t i = 0; i < witness->count; i++) {
        const struct pt_witness_event *event = &witness->events[i];
        uint32_t column = columns[program->steps[event->step].thread];
        put_box(buf, program, event, column, i);
        for (uint32_t k = 0; k < event->cause_count; k++) {
            uint32_t cause = event->causes[k];
            put_arrow(buf, columns[program->steps[witness->events[cause].step].thread], cause, column, i);
        }
    }
    pt_buf_puts(buf, "</svg>\n");
    free(columns);
}
