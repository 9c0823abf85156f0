/*
 * Times of events differ by orders of magnitude, and signs need room to be told apart. So the distance of two signs is
 * their distance in time, at a scale that suits the mean, but at least a sign's width, and long silences are cut short;
 * the axis on top carries the true times. A box that would cover the one before it on the same line is moved to the
 * right, with everything after it. Accesses of variables are not drawn.
 *
 * Cost: linear in the trace. Memory: bounded by the limits, beside the names.
 */
#include "report/timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "report/format.h"
#include "report/style.h"
#include "report/tracetime.h"
#include "report/within.h"

enum {
    ROW = 74,  /* pixels from line to line */
    TOP = 120, /* above the first row: title, legend, axis */
    BOTTOM = 24,
    MEAN_GAP = 22, /* between signs */
    MIN_GAP = 12,
    MAX_GAP = 90,
    TICK_GAP = 100,
    NAME_MAX = 22, /* characters of a thread's, lock's or event's name */
    CHAR = 6,      /* pixels of a character, at most */
    COLORS = 8,
    LEGEND_LOCKS = 8,
};

enum kind { ENTER, EXIT, CONTENDED, USER, STATE };

struct mark {
    uint32_t thread, object;
    uint64_t time;
    uint32_t x;
    uint8_t kind; /* enum kind */
    bool reader;
};

struct row {
    uint32_t box_edge, label_edge; /* to the right of what was drawn last */
    uint32_t first, last;          /* x of its marks */
    bool has_marks, has_states;
};

struct pt_timeline {
    const char *name;
    const struct pt_names *names;
    struct pt_tracetime time;
    struct mark *marks;
    uint32_t mark_count;
    size_t mark_cap;
    uint64_t marks_left_out, events;
    struct row *rows;
    uint32_t row_count, left; /* x of the lines' start */
    char limits[200];
    struct pt_buf *buf;
};

static const char *const colors[COLORS] = {"#1f6fb4", "#c2571a", "#2b8a3e", "#8e44ad",
                                           "#00808a", "#b0306a", "#7a6a00", "#505050"};

struct pt_timeline *pt_timeline_new(const char *name, const struct pt_names *names)
{
    struct pt_timeline *t = pt_xcalloc(1, sizeof *t);
    t->name = name;
    t->names = names;
    return t;
}

static bool kind_of(enum pt_op op, enum kind *ret_kind)
{
    switch (op) {
    case PT_OP_ACQ:
    case PT_OP_RACQ:
        *ret_kind = ENTER;
        return true;
    case PT_OP_REL:
    case PT_OP_RREL:
        *ret_kind = EXIT;
        return true;
    case PT_OP_CONTENDED:
        *ret_kind = CONTENDED;
        return true;
    case PT_OP_EVENT:
        *ret_kind = USER;
        return true;
    case PT_OP_STATE:
        *ret_kind = STATE;
        return true;
    default:
        return false;
    }
}

void pt_timeline_event(struct pt_timeline *t, const struct pt_event *event)
{
    uint64_t now = pt_tracetime_next(&t->time, event);
    enum kind kind;
    if (event->thread == PT_NONE)
        return;
    t->events++;
    if (!kind_of(event->op, &kind))
        return;
    if (t->mark_count >= PT_TIMELINE_MARKS || event->thread >= PT_TIMELINE_THREADS) {
        t->marks_left_out++;
        return;
    }
    struct mark mark = {.thread = event->thread,
                        .object = event->object,
                        .time = now,
                        .kind = (uint8_t)kind,
                        .reader = event->op == PT_OP_RACQ || event->op == PT_OP_RREL};
    PT_PUSH(t->marks, t->mark_count, t->mark_cap, mark);
}

static uint32_t thread_count(const struct pt_timeline *t)
{
    return t->names->space[PT_SPACE_THREAD].count;
}

const char *pt_timeline_limits(struct pt_timeline *t)
{
    uint32_t threads = thread_count(t);
    size_t len = 0;
    if (threads > PT_TIMELINE_THREADS)
        len += (size_t)snprintf(t->limits, sizeof t->limits, "%u of %" PRIu32 " threads are shown",
                                (unsigned)PT_TIMELINE_THREADS, threads);
    if (t->marks_left_out)
        snprintf(t->limits + len, sizeof t->limits - len, "%s%" PRIu64 " later signs (of %" PRIu64 ") are left out",
                 len ? ", and " : "", t->marks_left_out, t->marks_left_out + t->mark_count);
    return t->limits;
}

/* ---- layout ---- */

/* Columns of a name as it is shown. */
static uint32_t shown_columns(const char *text)
{
    struct pt_buf clean;
    pt_buf_init(&clean);
    pt_style_clean(&clean, text, strlen(text));
    size_t columns = clean.text ? pt_style_columns(clean.text) : 0;
    pt_buf_release(&clean);
    return columns < NAME_MAX ? (uint32_t)columns : NAME_MAX;
}

static uint32_t box_width(const struct pt_timeline *t, const struct mark *m)
{
    return CHAR * shown_columns(pt_name(t->names, PT_SPACE_EVENT, m->object)) + 8;
}

static uint32_t gap(const struct pt_timeline *t, uint32_t i)
{
    uint64_t total = t->marks[t->mark_count - 1].time - t->marks[0].time;
    double mean = (double)total / t->mark_count, between = (double)(t->marks[i].time - t->marks[i - 1].time);
    double pixels = mean > 0 ? between / mean * MEAN_GAP : MIN_GAP;
    return pixels < MIN_GAP ? MIN_GAP : pixels > MAX_GAP ? MAX_GAP : (uint32_t)pixels;
}

/* Gives every mark its x; returns that of the last. */
static uint32_t lay_out(struct pt_timeline *t)
{
    uint32_t x = t->left + MIN_GAP;
    for (uint32_t i = 0; i < t->mark_count; i++) {
        struct mark *m = &t->marks[i];
        struct row *row = &t->rows[m->thread];
        x += i > 0 ? gap(t, i) : 0;
        if (m->kind == USER) {
            uint32_t half = box_width(t, m) / 2;
            if (x < row->box_edge + half + 4)
                x = row->box_edge + half + 4;
            row->box_edge = x + half;
        }
        m->x = x;
        row->has_states = row->has_states || m->kind == STATE;
        if (!row->has_marks)
            row->first = x;
        row->has_marks = true;
        row->last = x;
    }
    return x;
}

/* ---- drawing ---- */

/* Text from a trace, cut and harmless, as content of an element or an attribute. */
static void put_escaped(struct pt_buf *buf, const char *text, uint32_t max)
{
    struct pt_buf clean, cut;
    pt_buf_init(&clean);
    pt_buf_init(&cut);
    pt_style_clean(&clean, text, strlen(text));
    size_t columns = clean.text ? pt_style_columns(clean.text) : 0;
    pt_style_fit(&cut, clean.text ? clean.text : "", columns < max ? columns : max, PT_CUT_END);
    pt_xml_escape(buf, cut.text ? cut.text : "");
    pt_buf_release(&clean);
    pt_buf_release(&cut);
}

static void put_text(struct pt_timeline *t, uint32_t x, uint32_t y, const char *class, const char *text, uint32_t max)
{
    pt_buf_printf(t->buf, "<text x=\"%u\" y=\"%u\" class=\"%s\">", x, y, class);
    put_escaped(t->buf, text, max);
    pt_buf_puts(t->buf, "</text>\n");
}

static uint32_t line_y(uint32_t thread)
{
    return TOP + thread * ROW + ROW / 2;
}

/* A time, or, in a trace without, the event's number. */
static void put_when(const struct pt_timeline *t, uint64_t time, struct pt_buf *buf)
{
    if (t->time.stamped)
        pt_within_time(buf, time);
    else
        pt_buf_printf(buf, "event %" PRIu64, time / PT_TRACETIME_STEP);
}

/* What a browser shows when the mouse is over a sign. */
static void put_title(struct pt_timeline *t, const struct mark *m, const char *words, enum pt_space space)
{
    pt_buf_puts(t->buf, "<title>");
    put_escaped(t->buf, pt_name(t->names, PT_SPACE_THREAD, m->thread), 200);
    pt_buf_printf(t->buf, " %s ", words);
    put_escaped(t->buf, pt_name(t->names, space, m->object), 200);
    pt_buf_puts(t->buf, ", ");
    put_when(t, m->time, t->buf);
    pt_buf_puts(t->buf, "</title>");
}

static void put_pole(struct pt_timeline *t, uint32_t x, uint32_t y, const char *color)
{
    pt_buf_printf(t->buf, "<path d=\"M%u %uv-24\" stroke=\"%s\"/>", x, y, color);
}

static void put_flag(struct pt_timeline *t, uint32_t x, uint32_t y, bool enter, bool reader, const char *color)
{
    put_pole(t, x, y, color);
    pt_buf_printf(t->buf, "<path d=\"M%u %ul%d 4l%d 4z\" fill=\"%s\" stroke=\"%s\"/>", x, y - 24, enter ? 9 : -9,
                  enter ? -9 : 9, reader ? "#fff" : color, color);
}

static void put_octagon(struct pt_timeline *t, uint32_t x, uint32_t y, const char *color)
{
    put_pole(t, x, y, color);
    pt_buf_printf(t->buf, "<path d=\"M%u %uh4l3 3v4l-3 3h-4l-3 -3v-4z\" fill=\"#d32f2f\" stroke=\"%s\"/>", x - 2,
                  y - 33, color);
}

static void put_box(struct pt_timeline *t, uint32_t x, uint32_t y, uint32_t width, const char *text)
{
    pt_buf_printf(t->buf, "<path d=\"M%u %uv8\" stroke=\"#555\"/><rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"15\"/>",
                  x, y, x - width / 2, y + 8, width);
    put_text(t, x, y + 19, "b", text, NAME_MAX);
}

/* A lock's name above its sign, where the name before it leaves room. */
static void put_label(struct pt_timeline *t, const struct mark *m, uint32_t y)
{
    struct row *row = &t->rows[m->thread];
    const char *name = pt_name(t->names, PT_SPACE_LOCK, m->object);
    if (m->x < row->label_edge)
        return;
    put_text(t, m->x, y - 36, "l", name, NAME_MAX);
    row->label_edge = m->x + CHAR * shown_columns(name) + 4;
}

static void put_mark(struct pt_timeline *t, const struct mark *m)
{
    static const char *const words[] = {[ENTER] = "enters", [EXIT] = "leaves", [CONTENDED] = "waits for", [USER] = ":"};
    uint32_t y = line_y(m->thread);
    if (m->kind == STATE)
        return;
    const char *color = colors[m->object % COLORS];
    pt_buf_puts(t->buf, "<g>");
    put_title(t, m, words[m->kind], m->kind == USER ? PT_SPACE_EVENT : PT_SPACE_LOCK);
    if (m->kind == USER)
        put_box(t, m->x, y, box_width(t, m), pt_name(t->names, PT_SPACE_EVENT, m->object));
    else if (m->kind == CONTENDED)
        put_octagon(t, m->x, y, color);
    else
        put_flag(t, m->x, y, m->kind == ENTER, m->reader, color);
    if (m->kind == ENTER || m->kind == CONTENDED)
        put_label(t, m, y);
    pt_buf_puts(t->buf, "</g>\n");
}

static bool is_running(const struct pt_timeline *t, const struct mark *m)
{
    return strcmp(pt_name(t->names, PT_SPACE_STATE, m->object), "running") == 0;
}

static void put_thick(struct pt_timeline *t, uint32_t thread, uint32_t from, uint32_t to)
{
    pt_buf_printf(t->buf, "<path d=\"M%u %uH%u\" class=\"run\"/>\n", from, line_y(thread), to > from ? to : from + 2);
}

static void put_line(struct pt_timeline *t, uint32_t thread, uint32_t right)
{
    const struct row *row = &t->rows[thread];
    uint32_t since = 0; /* x since which it runs, 0: it does not */
    put_text(t, 8, line_y(thread) + 4, "n", pt_name(t->names, PT_SPACE_THREAD, thread), NAME_MAX);
    pt_buf_printf(t->buf, "<path d=\"M%u %uH%u\" class=\"idle\"/>\n", t->left, line_y(thread), right);
    if (row->has_marks && !row->has_states)
        put_thick(t, thread, row->first - MIN_GAP / 2, row->last + MIN_GAP / 2);
    for (uint32_t i = 0; row->has_states && i < t->mark_count; i++) {
        const struct mark *m = &t->marks[i];
        if (m->thread != thread || m->kind != STATE)
            continue;
        bool running = is_running(t, m);
        if (since && !running)
            put_thick(t, thread, since, m->x);
        since = !running ? 0 : since ? since : m->x;
    }
    if (since)
        put_thick(t, thread, since, right);
}

static void put_axis(struct pt_timeline *t, uint32_t bottom)
{
    uint32_t edge = 0;
    for (uint32_t i = 0; i < t->mark_count; i++) {
        const struct mark *m = &t->marks[i];
        if (m->x < edge)
            continue;
        struct pt_buf label;
        pt_buf_init(&label);
        put_when(t, m->time, &label);
        pt_buf_printf(t->buf, "<path d=\"M%u %dV%u\" class=\"tick\"/>", m->x, TOP - 26, bottom);
        put_text(t, m->x + 3, TOP - 18, "a", label.text, 40);
        pt_buf_release(&label);
        edge = m->x + TICK_GAP;
    }
}

/* What the signs mean; then the colours of the first locks. */
static void put_legend(struct pt_timeline *t)
{
    const struct pt_strtab *locks = &t->names->space[PT_SPACE_LOCK];
    uint32_t x = 20, y = 72;
    bool states = false;
    for (uint32_t i = 0; i < t->row_count; i++)
        states = states || t->rows[i].has_states;
    put_flag(t, x, y, true, false, "#444");
    put_text(t, x + 14, y - 10, "a", "lock entered", 40);
    put_flag(t, x += 110, y, false, false, "#444");
    put_text(t, x + 6, y - 10, "a", "left", 40);
    put_octagon(t, x += 46, y, "#444");
    put_text(t, x + 10, y - 10, "a", "contended", 40);
    put_box(t, x += 120, y - 30, 66, "user event");
    const char *thick =
        states ? "thick: running" : "thick: from a thread's first sign to its last (no states are known)";
    put_text(t, x += 50, y - 10, "a", thick, 100);
    x += CHAR * (uint32_t)strlen(thick) + 10;
    for (uint32_t i = 0; i < locks->count && i < LEGEND_LOCKS; i++) {
        const char *name = pt_strtab_text(locks, i);
        put_flag(t, x, y, true, false, colors[i % COLORS]);
        put_text(t, x + 14, y - 10, "a", name, NAME_MAX);
        x += 40 + CHAR * shown_columns(name);
    }
    if (locks->count > LEGEND_LOCKS)
        put_text(t, x, y - 10, "a", "...", 3);
}

static void put_head(struct pt_timeline *t, uint32_t width, uint32_t height)
{
    const char *limits = pt_timeline_limits(t);
    struct pt_buf title;
    pt_buf_init(&title);
    pt_buf_printf(&title, "%s: %" PRIu64 " event%s, %" PRIu32 " thread%s; ", t->name, t->events,
                  t->events == 1 ? "" : "s", thread_count(t), thread_count(t) == 1 ? "" : "s");
    if (t->time.stamped)
        pt_buf_printf(&title, "0 is t=%" PRIu64, t->time.first);
    else
        pt_buf_puts(&title, "no times are known, so each event takes one step");
    pt_buf_printf(&title, "%s%s", limits[0] ? "; " : "", limits);
    pt_buf_printf(
        t->buf, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\">\n<title>",
        width, height, width, height);
    put_escaped(t->buf, t->name, 200);
    pt_buf_puts(t->buf, "</title>\n<style>\n"
                        "text { font: 11px sans-serif; fill: #222 }\n"
                        ".t { font-size: 14px } .n { font-weight: bold } .b { text-anchor: middle; font-size: 10px }\n"
                        ".l { font-size: 9px; fill: #555 } .a { font-size: 10px; fill: #555 }\n"
                        "rect { fill: #fff8d6; stroke: #555 } .idle, .run, .tick { fill: none }\n"
                        ".idle { stroke: #777 } .run { stroke: #222; stroke-width: 6 } .tick { stroke: #e4e4e4 }\n"
                        "</style>\n<rect width=\"100%\" height=\"100%\" style=\"fill: #fff; stroke: none\"/>\n");
    put_text(t, 8, 24, "t", title.text, 400);
    pt_buf_release(&title);
}

static uint32_t name_column(const struct pt_timeline *t)
{
    uint32_t columns = 4;
    for (uint32_t i = 0; i < t->row_count; i++) {
        uint32_t c = shown_columns(pt_name(t->names, PT_SPACE_THREAD, i));
        columns = c > columns ? c : columns;
    }
    return 24 + (CHAR + 1) * columns;
}

void pt_timeline_finish(struct pt_timeline *t, struct pt_buf *buf)
{
    uint32_t threads = thread_count(t);
    t->buf = buf;
    t->row_count = threads < PT_TIMELINE_THREADS ? threads : PT_TIMELINE_THREADS;
    t->rows = pt_xcalloc(t->row_count, sizeof *t->rows);
    t->left = name_column(t);
    uint32_t right = lay_out(t) + 3 * MIN_GAP, bottom = TOP + t->row_count * ROW;
    for (uint32_t i = 0; i < t->row_count; i++)
        right = t->rows[i].box_edge > right ? t->rows[i].box_edge : right;
    uint32_t width = (right < 900 ? 900 : right) + BOTTOM;
    put_head(t, width, bottom + BOTTOM);
    put_legend(t);
    put_axis(t, bottom);
    for (uint32_t i = 0; i < t->row_count; i++)
        put_line(t, i, right);
    for (uint32_t i = 0; i < t->mark_count; i++)
        put_mark(t, &t->marks[i]);
    pt_buf_puts(buf, "</svg>\n");
    free(t->marks);
    free(t->rows);
    free(t);
}

static void *begin(const struct pt_report_context *context, const struct pt_names *names, struct pt_buf *buf)
{
    (void)buf; /* nothing is drawn before the end */
    return pt_timeline_new(context->name, names);
}

static void take_event(void *state, const struct pt_event *event)
{
    pt_timeline_event(state, event);
}

static const char *limits(void *state)
{
    return pt_timeline_limits(state);
}

static void finish(void *state, struct pt_buf *buf)
{
    pt_timeline_finish(state, buf);
}

static const struct pt_report_events from_trace = {begin, take_event, limits, finish};

const struct pt_report_format pt_report_format_timeline = {
    .name = "timeline",
    .from_trace = &from_trace,
    .is_picture = true,
};
