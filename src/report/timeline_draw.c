/* The picture of a trace as SVG, line by line: each has the threads (where there are many, those that do something in
 * it) and an axis. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "report/style.h"
#include "report/timeline_impl.h"
#include "report/within.h"

enum {
    ROW = 80, /* pixels from thread to thread */
    AXIS = 30,
    BELOW = 26, /* a line of the picture, for how long its breaks are */
    TICK_GAP = 90,
    ALL_ROWS = 8, /* with more threads, those without a sign in a line are not drawn in it */
    COLORS = 8,
    LEGEND_LOCKS = 12,
    LEGEND_ROW = 34,
    LEVELS = 2, /* of labels of accesses */
};

static const char *const colors[COLORS] = {"#1f6fb4", "#c2571a", "#2b8a3e", "#8e44ad",
                                           "#00808a", "#b0306a", "#7a6a00", "#505050"};

struct drawing {
    struct pt_timeline *t;
    struct pt_buf *buf;
    uint32_t *y;                 /* of each thread's line, 0: it is not drawn here */
    uint32_t *lock_edge;         /* to the right of the last label above each line */
    uint32_t (*edge)[LEVELS];    /* and of those below it */
    bool *runs;                  /* a thread, at the end of the line before */
    uint32_t top, bottom, right; /* of the threads' lines, in the line that is drawn */
    uint32_t from, to;           /* its marks */
};

/* Text from a trace, cut and harmless, as content of an element or an attribute. */
static void put_cut(struct pt_buf *buf, const char *text, uint32_t max, enum pt_cut where)
{
    struct pt_buf clean, cut;
    pt_buf_init(&clean);
    pt_buf_init(&cut);
    pt_style_clean(&clean, text, strlen(text));
    size_t columns = clean.text ? pt_style_columns(clean.text) : 0;
    pt_style_fit(&cut, clean.text ? clean.text : "", columns < max ? columns : max, where);
    pt_xml_escape(buf, cut.text ? cut.text : "");
    pt_buf_release(&clean);
    pt_buf_release(&cut);
}

static void put_escaped(struct pt_buf *buf, const char *text, uint32_t max)
{
    put_cut(buf, text, max, PT_CUT_END);
}

static void put_text(struct pt_buf *buf, uint32_t x, uint32_t y, const char *class, const char *text, uint32_t max)
{
    pt_buf_printf(buf, "<text x=\"%u\" y=\"%u\" class=\"%s\">", x, y, class);
    put_escaped(buf, text, max);
    pt_buf_puts(buf, "</text>\n");
}

/* ---- signs ---- */

static void put_pole(struct pt_buf *buf, uint32_t x, uint32_t y, const char *color)
{
    pt_buf_printf(buf, "<path d=\"M%u %uv-24\" stroke=\"%s\"/>", x, y, color);
}

static void put_flag(struct pt_buf *buf, uint32_t x, uint32_t y, bool enter, bool reader, const char *color)
{
    put_pole(buf, x, y, color);
    pt_buf_printf(buf, "<path d=\"M%u %ul%d 4l%d 4z\" fill=\"%s\" stroke=\"%s\"/>", x, y - 24, enter ? 9 : -9,
                  enter ? -9 : 9, reader ? "#fff" : color, color);
}

static void put_octagon(struct pt_buf *buf, uint32_t x, uint32_t y, const char *color)
{
    put_pole(buf, x, y, color);
    pt_buf_printf(buf, "<path d=\"M%u %uh4l3 3v4l-3 3h-4l-3 -3v-4z\" fill=\"#d32f2f\" stroke=\"%s\"/>", x - 2, y - 33,
                  color);
}

static void put_box(struct pt_buf *buf, uint32_t x, uint32_t y, uint32_t width, const char *text)
{
    pt_buf_printf(buf, "<path d=\"M%u %uv8\" stroke=\"#555\"/><rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"15\"/>", x,
                  y, x - width / 2, y + 8, width);
    put_text(buf, x, y + 19, "b", text, PT_TL_NAME_MAX);
}

/* A read is hollow, a write full, an atomic update both. */
static void put_access(struct pt_buf *buf, uint32_t x, uint32_t y, enum pt_tl_kind kind)
{
    pt_buf_printf(buf, "<circle cx=\"%u\" cy=\"%u\" r=\"4.5\" class=\"%s\"/>", x, y, kind == PT_TL_WRITE ? "w" : "r");
    if (kind == PT_TL_UPDATE)
        pt_buf_printf(buf, "<circle cx=\"%u\" cy=\"%u\" r=\"2\" class=\"w\"/>", x, y);
}

/* ---- labels, where the one before leaves room ---- */

static void put_lock_label(struct drawing *d, const struct pt_tl_mark *m, uint32_t y)
{
    const char *name = pt_name(d->t->names, PT_SPACE_LOCK, m->object);
    uint32_t width = PT_TL_CHAR * pt_tl_columns(name);
    uint32_t x = m->x + width > PT_TL_WIDTH - 4 ? PT_TL_WIDTH - 4 - width : m->x;
    if (x < d->lock_edge[m->thread])
        return;
    put_text(d->buf, x, y - 36, "l", name, PT_TL_NAME_MAX);
    d->lock_edge[m->thread] = x + width + 4;
}

/* Where the next box below a mark's line begins. */
static uint32_t next_box(const struct drawing *d, const struct pt_tl_mark *m)
{
    for (const struct pt_tl_mark *next = m + 1; next < d->t->marks + d->to; next++) {
        if (next->thread == m->thread && next->kind == PT_TL_USER)
            return next->x - pt_tl_box_width(d->t, next) / 2;
    }
    return PT_TL_WIDTH;
}

static void put_access_label(struct drawing *d, const struct pt_tl_mark *m, uint32_t y)
{
    struct pt_buf label;
    if (strncmp(pt_name(d->t->names, PT_SPACE_VAR, m->object), "0x", 2) == 0)
        return; /* an address says nothing, and takes the room of names */
    pt_buf_init(&label);
    pt_buf_printf(&label, "%s%s%s", pt_name(d->t->names, PT_SPACE_VAR, m->object), m->value[0] ? "=" : "", m->value);
    uint32_t width = PT_TL_CHAR * pt_tl_columns(label.text), half = width / 2;
    uint32_t x = m->x < d->t->left + half ? d->t->left + half : m->x;
    x = x + half > PT_TL_WIDTH - 4 ? PT_TL_WIDTH - 4 - half : x;
    uint32_t end = next_box(d, m);
    for (uint32_t level = 0; level < LEVELS; level++) {
        uint32_t *edge = &d->edge[m->thread][level];
        if (x < *edge + half || x + half > end)
            continue;
        put_text(d->buf, x, y + 16 + 11 * level, "v", label.text, PT_TL_NAME_MAX);
        *edge = x + half + 4;
        break;
    }
    pt_buf_release(&label);
}

/* A box covers all levels; labels beside it begin after it. */
static void put_user(struct drawing *d, const struct pt_tl_mark *m, uint32_t y)
{
    uint32_t width = pt_tl_box_width(d->t, m);
    put_box(d->buf, m->x, y, width, pt_name(d->t->names, PT_SPACE_EVENT, m->object));
    for (uint32_t level = 0; level < LEVELS; level++)
        d->edge[m->thread][level] = m->x + width / 2 + 3;
}

/* What a browser shows when the mouse is over a sign. */
static void put_title(struct drawing *d, const struct pt_tl_mark *m, enum pt_space space)
{
    static const char *const words[] = {
        [PT_TL_ENTER] = "enters", [PT_TL_EXIT] = "leaves",  [PT_TL_CONTENDED] = "waits for", [PT_TL_USER] = ":",
        [PT_TL_READ] = "reads",   [PT_TL_WRITE] = "writes", [PT_TL_UPDATE] = "updates",      [PT_TL_STATE] = ""};
    pt_buf_puts(d->buf, "<title>");
    put_escaped(d->buf, pt_name(d->t->names, PT_SPACE_THREAD, m->thread), 200);
    pt_buf_printf(d->buf, " %s ", words[m->kind]);
    put_escaped(d->buf, pt_name(d->t->names, space, m->object), 200);
    if (m->value[0]) {
        pt_buf_puts(d->buf, " = ");
        put_escaped(d->buf, m->value, sizeof m->value);
    }
    pt_buf_puts(d->buf, ", ");
    pt_tl_put_when(d->t, m->time, d->buf);
    pt_buf_puts(d->buf, "</title>");
}

static void put_mark(struct drawing *d, const struct pt_tl_mark *m)
{
    uint32_t y = d->y[m->thread];
    const char *color = colors[m->object % COLORS];
    bool access = m->kind == PT_TL_READ || m->kind == PT_TL_WRITE || m->kind == PT_TL_UPDATE;
    if (m->kind == PT_TL_STATE)
        return;
    pt_buf_puts(d->buf, "<g>");
    put_title(d, m, access ? PT_SPACE_VAR : m->kind == PT_TL_USER ? PT_SPACE_EVENT : PT_SPACE_LOCK);
    if (access)
        put_access(d->buf, m->x, y, m->kind);
    else if (m->kind == PT_TL_CONTENDED)
        put_octagon(d->buf, m->x, y, color);
    else if (m->kind != PT_TL_USER)
        put_flag(d->buf, m->x, y, m->kind == PT_TL_ENTER, m->reader, color);
    if (access)
        put_access_label(d, m, y);
    else if (m->kind == PT_TL_USER)
        put_user(d, m, y);
    else if (m->kind != PT_TL_EXIT)
        put_lock_label(d, m, y);
    pt_buf_puts(d->buf, "</g>\n");
}

/* ---- a line of the picture ---- */

static void put_thick(struct drawing *d, uint32_t thread, uint32_t from, uint32_t to)
{
    pt_buf_printf(d->buf, "<path d=\"M%u %uH%u\" class=\"run\"/>\n", from, d->y[thread], to > from ? to : from + 2);
}

/* Whether the thread runs after its mark `i`; without states it does from its first to its last. */
static bool runs_after(const struct pt_timeline *t, uint32_t i, bool before)
{
    const struct pt_tl_mark *m = &t->marks[i];
    const struct pt_tl_row *row = &t->rows[m->thread];
    if (!row->has_states)
        return i != row->last;
    return m->kind != PT_TL_STATE ? before : strcmp(pt_name(t->names, PT_SPACE_STATE, m->object), "running") == 0;
}

static void put_thread(struct drawing *d, uint32_t thread)
{
    const struct pt_timeline *t = d->t;
    uint32_t since = d->runs[thread] ? t->left : 0;
    if (d->y[thread]) {
        pt_buf_printf(d->buf, "<text x=\"8\" y=\"%u\" class=\"n\">", d->y[thread] + 4);
        put_cut(d->buf, pt_name(t->names, PT_SPACE_THREAD, thread), PT_TL_NAME_MAX,
                PT_CUT_START); /* numbers are last */
        pt_buf_puts(d->buf, "</text>\n");
        pt_buf_printf(d->buf, "<path d=\"M%u %uH%u\" class=\"idle\"/>\n", t->left, d->y[thread], d->right);
    }
    for (uint32_t i = d->from; i < d->to; i++) {
        if (t->marks[i].thread != thread)
            continue;
        bool runs = runs_after(t, i, since != 0);
        if (since && !runs)
            put_thick(d, thread, since, t->marks[i].x);
        since = !runs ? 0 : since ? since : t->marks[i].x;
    }
    if (since && d->y[thread])
        put_thick(d, thread, since, d->right);
    d->runs[thread] = since != 0;
}

/* Times at signs that are far enough from each other; those after a break are wanted most. */
static void put_axis(struct drawing *d)
{
    const struct pt_timeline *t = d->t;
    uint32_t edge = 0;
    for (uint32_t i = d->from; i < d->to; i++) {
        const struct pt_tl_mark *m = &t->marks[i];
        struct pt_buf label;
        pt_buf_init(&label);
        pt_tl_put_when(t, m->time, &label);
        uint32_t width = PT_TL_CHAR * (uint32_t)label.len;
        if (m->x >= edge && m->x + 3 + width < PT_TL_WIDTH) {
            pt_buf_printf(d->buf, "<path d=\"M%u %uV%u\" class=\"tick\"/>", m->x, d->top - 22, d->bottom);
            put_text(d->buf, m->x + 3, d->top - 14, "a", label.text, 40);
            edge = m->x + (width + 12 > TICK_GAP || m->cut ? width + 12 : TICK_GAP);
        }
        pt_buf_release(&label);
    }
}

static void put_length(const struct pt_timeline *t, uint64_t length, struct pt_buf *buf)
{
    if (t->time.stamped)
        pt_within_time(buf, length);
    else
        pt_buf_printf(buf, "%" PRIu64 " event%s", length / PT_TRACETIME_STEP, length == PT_TRACETIME_STEP ? "" : "s");
}

/* How long the silence before mark `i` is, below its break. */
static void put_silence(struct drawing *d, uint32_t i, uint32_t x, uint32_t *edge)
{
    const struct pt_timeline *t = d->t;
    struct pt_buf label;
    pt_buf_init(&label);
    put_length(t, t->marks[i].time - t->marks[i - 1].time, &label);
    uint32_t half = PT_TL_CHAR * (uint32_t)label.len / 2;
    if (x >= *edge + half) {
        put_text(d->buf, x, d->bottom + 12, "b s", label.text, 40);
        *edge = x + half + 4;
    }
    pt_buf_release(&label);
}

/* Where the axis is not linear: behind everything else. */
static void put_exceptions(struct drawing *d)
{
    const struct pt_timeline *t = d->t;
    uint32_t edge = 0;
    for (uint32_t i = d->from; i < d->to; i++) {
        const struct pt_tl_mark *m = &t->marks[i];
        uint32_t before = i > d->from ? t->marks[i - 1].x : t->left;
        if (m->stretched)
            pt_buf_printf(d->buf, "<path d=\"M%u %uH%uV%uH%uz\" class=\"wide\"/>\n", before, d->top, m->x, d->bottom,
                          before);
        if (!m->cut)
            continue;
        uint32_t x = m->broken;
        pt_buf_printf(d->buf, "<path d=\"M%u %u", x - 3, d->top - 20);
        for (uint32_t y = d->top - 20, k = 0; y + 8 <= d->bottom; y += 8, k++)
            pt_buf_printf(d->buf, "l%d 8", k % 2 ? -6 : 6);
        pt_buf_puts(d->buf, "\" class=\"cut\"/>\n");
        put_silence(d, i, x, &edge);
    }
}

/* Gives the threads of this line their places, and returns where it ends. */
static uint32_t place_rows(struct drawing *d)
{
    const struct pt_timeline *t = d->t;
    uint32_t y = d->top;
    bool *here = pt_xcalloc(t->row_count + 1, sizeof *here);
    for (uint32_t i = d->from; i < d->to; i++)
        here[t->marks[i].thread] = true;
    for (uint32_t k = 0; k < t->row_count; k++) {
        d->y[k] = 0;
        d->lock_edge[k] = d->edge[k][0] = d->edge[k][1] = 0;
        if (t->row_count > ALL_ROWS && !here[k])
            continue;
        d->y[k] = y + ROW / 2;
        y += ROW;
    }
    free(here);
    return y;
}

static void put_line(struct drawing *d)
{
    enum { AFTER = 30 }; /* the last sign of all */
    bool last = d->to == d->t->mark_count && d->to > 0;
    uint32_t end = last ? d->t->marks[d->to - 1].x + AFTER : PT_TL_RIGHT;
    d->right = end < PT_TL_RIGHT ? end : PT_TL_RIGHT;
    d->bottom = place_rows(d);
    put_exceptions(d);
    put_axis(d);
    for (uint32_t k = 0; k < d->t->row_count; k++)
        put_thread(d, k);
    for (uint32_t i = d->from; i < d->to; i++)
        put_mark(d, &d->t->marks[i]);
}

/* ---- legend and head ---- */

struct legend {
    struct drawing *d;
    uint32_t x, y; /* of the next sign's line */
};

/* Words beside a sign that is `sign` pixels wide, in a new row where this one is full; returns the sign's x. */
static uint32_t legend_words(struct legend *l, uint32_t sign, const char *words)
{
    uint32_t width = sign + 8 + PT_TL_CHAR * (uint32_t)strlen(words) + 18;
    if (l->x + width > PT_TL_WIDTH) {
        l->x = 20;
        l->y += LEGEND_ROW;
    }
    uint32_t x = l->x;
    put_text(l->d->buf, x + sign + 6, l->y - 8, "a", words, 120);
    l->x += width;
    return x;
}

/* A length of the axis that has a round name. */
static uint64_t round_length(const struct pt_timeline *t)
{
    enum { LEAST = 40 }; /* pixels */
    for (uint64_t unit = t->time.stamped ? 1 : PT_TRACETIME_STEP; unit < UINT64_MAX / 50; unit *= 10) {
        static const uint64_t steps[] = {1, 2, 5};
        for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
            if ((double)(steps[k] * unit) * t->scale >= LEAST)
                return steps[k] * unit;
        }
    }
    return 0;
}

static void put_scale(struct legend *l)
{
    const struct pt_timeline *t = l->d->t;
    uint64_t length = round_length(t);
    uint32_t pixels = (uint32_t)((double)length * t->scale);
    if (length == 0)
        return;
    struct pt_buf words;
    pt_buf_init(&words);
    put_length(t, length, &words);
    uint32_t x = legend_words(l, pixels, words.text);
    pt_buf_printf(l->d->buf, "<path d=\"M%u %uv8m0 -4h%um0 -4v8\" fill=\"none\" stroke=\"#222\"/>\n", x, l->y - 16,
                  pixels);
    pt_buf_release(&words);
}

static void put_access_legend(struct legend *l)
{
    uint32_t x = legend_words(l, 10, "write");
    put_access(l->d->buf, x + 5, l->y - 12, PT_TL_WRITE);
    x = legend_words(l, 10, "read");
    put_access(l->d->buf, x + 5, l->y - 12, PT_TL_READ);
    x = legend_words(l, 10, "atomic update");
    put_access(l->d->buf, x + 5, l->y - 12, PT_TL_UPDATE);
}

static void put_lines_legend(struct legend *l)
{
    const struct pt_timeline *t = l->d->t;
    bool states = false, cut = false, stretched = false;
    for (uint32_t i = 0; i < t->row_count; i++)
        states = states || t->rows[i].has_states;
    for (uint32_t i = 0; i < t->mark_count; i++) {
        cut = cut || t->marks[i].cut;
        stretched = stretched || t->marks[i].stretched;
    }
    uint32_t x =
        legend_words(l, 24, states ? "running" : "from a thread's first sign to its last (no states are known)");
    pt_buf_printf(l->d->buf, "<path d=\"M%u %uh24\" class=\"run\"/>\n", x, l->y - 12);
    put_scale(l);
    if (cut) {
        x = legend_words(l, 12, "silence, cut out");
        pt_buf_printf(l->d->buf, "<path d=\"M%u %ul6 6l-6 6l6 6\" class=\"cut\"/>\n", x + 2, l->y - 21);
    }
    if (stretched) {
        x = legend_words(l, 20, "stretched, so that signs stand apart");
        pt_buf_printf(l->d->buf, "<path d=\"M%u %uh20v18h-20z\" class=\"wide\"/>\n", x, l->y - 21);
    }
}

/* What the signs mean; then the colours of the first locks. Returns where it ends. */
static uint32_t put_legend(struct drawing *d)
{
    struct legend l = {.d = d, .x = 20, .y = pt_timeline_limits(d->t)[0] ? 86 : 72};
    const struct pt_strtab *locks = &d->t->names->space[PT_SPACE_LOCK];
    uint32_t x = legend_words(&l, 10, "lock entered");
    put_flag(d->buf, x, l.y, true, false, "#444");
    x = legend_words(&l, 10, "left");
    put_flag(d->buf, x + 9, l.y, false, false, "#444");
    x = legend_words(&l, 10, "contended");
    put_octagon(d->buf, x + 5, l.y, "#444");
    put_access_legend(&l);
    x = legend_words(&l, 66, "");
    put_box(d->buf, x + 33, l.y - 30, 66, "user event");
    put_lines_legend(&l);
    for (uint32_t i = 0; i < locks->count && i < LEGEND_LOCKS; i++) {
        struct pt_buf name;
        pt_buf_init(&name);
        pt_style_clean(&name, pt_strtab_text(locks, i), strlen(pt_strtab_text(locks, i)));
        struct pt_buf cut;
        pt_buf_init(&cut);
        pt_style_fit(&cut, name.text ? name.text : "", pt_tl_columns(pt_strtab_text(locks, i)), PT_CUT_END);
        x = legend_words(&l, 10, cut.text ? cut.text : "");
        put_flag(d->buf, x, l.y, true, false, colors[i % COLORS]);
        pt_buf_release(&name);
        pt_buf_release(&cut);
    }
    if (locks->count > LEGEND_LOCKS)
        legend_words(&l, 0, "...");
    return l.y + 12;
}

static void put_head(const struct pt_timeline *t, uint32_t height, struct pt_buf *buf)
{
    pt_buf_printf(
        buf, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" viewBox=\"0 0 %d %u\">\n<title>",
        PT_TL_WIDTH, height, PT_TL_WIDTH, height);
    put_escaped(buf, t->name, 200);
    pt_buf_puts(buf, "</title>\n<style>\n"
                     "text { font: 11px sans-serif; fill: #222 }\n"
                     ".t { font-size: 14px } .n { font-weight: bold } .b, .v { text-anchor: middle; font-size: 10px }\n"
                     ".l, .v { font-size: 9px; fill: #333 } .a, .s { font-size: 10px; fill: #444 }\n"
                     ".l, .v, .a { paint-order: stroke; stroke: #fff; stroke-width: 3px }\n"
                     "rect { fill: #fff8d6; stroke: #555 } .idle, .run, .tick, .cut { fill: none }\n"
                     ".idle { stroke: #777 } .run { stroke: #999; stroke-width: 6 } .tick { stroke: #ddd }\n"
                     ".cut { stroke: #555 } .wide { fill: #f1efe4 }\n"
                     ".w { fill: #222; stroke: #222 } .r { fill: #fff; stroke: #222 }\n"
                     "</style>\n<rect width=\"100%\" height=\"100%\" style=\"fill: #fff; stroke: none\"/>\n");
}

static void put_caption(struct pt_timeline *t, struct pt_buf *buf)
{
    const char *limits = pt_timeline_limits(t);
    struct pt_buf title;
    pt_buf_init(&title);
    pt_buf_printf(&title, "%s: %" PRIu64 " event%s, %" PRIu32 " thread%s; ", t->name, t->events,
                  t->events == 1 ? "" : "s", pt_tl_threads(t), pt_tl_threads(t) == 1 ? "" : "s");
    if (t->time.stamped)
        pt_buf_printf(&title, "0 is t=%" PRIu64, t->time.first);
    else
        pt_buf_puts(&title, "no times are known, so each event takes one step");
    put_text(buf, 8, 24, "t", title.text, 130);
    if (limits[0])
        put_text(buf, 8, 40, "a", limits, 160);
    pt_buf_release(&title);
}

void pt_tl_draw(struct pt_timeline *t, struct pt_buf *buf)
{
    struct pt_buf body;
    pt_buf_init(&body);
    struct drawing d = {.t = t, .buf = &body};
    d.y = pt_xcalloc(t->row_count + 1, sizeof *d.y);
    d.lock_edge = pt_xcalloc(t->row_count + 1, sizeof *d.lock_edge);
    d.edge = pt_xcalloc(t->row_count + 1, sizeof *d.edge);
    d.runs = pt_xcalloc(t->row_count + 1, sizeof *d.runs);
    put_caption(t, &body);
    d.bottom = put_legend(&d);
    do { /* once at least: threads without signs are shown as well */
        d.top = d.bottom + AXIS + (d.from > 0 ? BELOW : 0);
        for (d.to = d.from; d.to < t->mark_count && t->marks[d.to].line == t->marks[d.from].line; d.to++)
            ;
        put_line(&d);
        d.from = d.to;
    } while (d.from < t->mark_count);
    put_head(t, d.bottom + BELOW, buf);
    pt_buf_add(buf, body.text, body.len);
    pt_buf_puts(buf, "</svg>\n");
    pt_buf_release(&body);
    free(d.y);
    free(d.lock_edge);
    free(d.edge);
    free(d.runs);
}
