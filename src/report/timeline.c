/*
 * The axis is linear, at a scale that suits the median distance of two signs, with two exceptions that can be seen: a
 * silence too long for it is cut out, and where signs of one thread would cover each other the time between them is
 * stretched. The picture is as wide as a sheet of paper: what does not fit goes on in the line below, as text does.
 *
 * Cost: linear in the trace, and the sorting of what is drawn. Memory: bounded by the limits, beside the names.
 */
#include "report/timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/format.h"
#include "report/style.h"
#include "report/timeline_impl.h"
#include "report/within.h"
#include "trace/writer.h"

enum { SIGN = 6, APART = 3 }; /* pixels: half of a sign, and between two of a thread */

struct pt_timeline *pt_timeline_new(const char *name, const struct pt_names *names)
{
    struct pt_timeline *t = pt_xcalloc(1, sizeof *t);
    t->name = name;
    t->names = names;
    return t;
}

static bool kind_of(enum pt_op op, enum pt_tl_kind *ret_kind)
{
    static const struct {
        enum pt_op op;
        enum pt_tl_kind kind;
    } kinds[] = {{PT_OP_ACQ, PT_TL_ENTER},    {PT_OP_RACQ, PT_TL_ENTER}, {PT_OP_REL, PT_TL_EXIT},
                 {PT_OP_RREL, PT_TL_EXIT},    {PT_OP_EVENT, PT_TL_USER}, {PT_OP_CONTENDED, PT_TL_CONTENDED},
                 {PT_OP_STATE, PT_TL_STATE},  {PT_OP_READ, PT_TL_READ},  {PT_OP_WRITE, PT_TL_WRITE},
                 {PT_OP_UPDATE, PT_TL_UPDATE}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        *ret_kind = kinds[i].kind;
        if (kinds[i].op == op)
            return true;
    }
    return false;
}

/* Values are kept as text: a string of the trace may be gone when the picture is drawn. */
static void keep_value(struct pt_tl_mark *mark, const struct pt_event *event)
{
    if (event->value.kind == PT_VALUE_UNKNOWN)
        return;
    struct pt_buf text;
    pt_buf_init(&text);
    pt_value_to_text(event->value, &text);
    snprintf(mark->value, sizeof mark->value, "%s", text.text);
    if (text.len >= sizeof mark->value)
        strcpy(mark->value + sizeof mark->value - 3, "..");
    pt_buf_release(&text);
}

void pt_timeline_event(struct pt_timeline *t, const struct pt_event *event)
{
    uint64_t now = pt_tracetime_next(&t->time, event);
    enum pt_tl_kind kind;
    if (event->thread == PT_NONE)
        return;
    t->events++;
    if (!kind_of(event->op, &kind))
        return;
    if (t->mark_count >= PT_TIMELINE_MARKS || event->thread >= PT_TIMELINE_THREADS) {
        t->marks_left_out++;
        return;
    }
    struct pt_tl_mark mark = {.thread = event->thread,
                              .object = event->object,
                              .time = now,
                              .kind = (uint8_t)kind,
                              .reader = pt_op_is_shared(event->op)};
    if (kind == PT_TL_READ || kind == PT_TL_WRITE || kind == PT_TL_UPDATE)
        keep_value(&mark, event);
    PT_PUSH(t->marks, t->mark_count, t->mark_cap, mark);
}

const char *pt_timeline_limits(struct pt_timeline *t)
{
    uint32_t threads = pt_tl_threads(t);
    size_t len = 0;
    if (threads > PT_TIMELINE_THREADS)
        len += (size_t)snprintf(t->limits, sizeof t->limits, "%u of %" PRIu32 " threads are shown",
                                (unsigned)PT_TIMELINE_THREADS, threads);
    if (t->marks_left_out)
        snprintf(t->limits + len, sizeof t->limits - len, "%s%" PRIu64 " later signs (of %" PRIu64 ") are left out",
                 len ? ", and " : "", t->marks_left_out, t->marks_left_out + t->mark_count);
    return t->limits;
}

uint32_t pt_tl_columns(const char *text)
{
    struct pt_buf clean;
    pt_buf_init(&clean);
    pt_style_clean(&clean, text, strlen(text));
    size_t columns = clean.text ? pt_style_columns(clean.text) : 0;
    pt_buf_release(&clean);
    return columns < PT_TL_NAME_MAX ? (uint32_t)columns : PT_TL_NAME_MAX;
}

uint32_t pt_tl_box_width(const struct pt_timeline *t, const struct pt_tl_mark *mark)
{
    return PT_TL_CHAR * pt_tl_columns(pt_name(t->names, PT_SPACE_EVENT, mark->object)) + 8;
}

void pt_tl_put_when(const struct pt_timeline *t, uint64_t time, struct pt_buf *buf)
{
    if (t->time.stamped)
        pt_within_time(buf, time);
    else
        pt_buf_printf(buf, "event %" PRIu64, time / PT_TRACETIME_STEP);
}

static int compare_times(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Pixels per nanosecond: the median of the distances that are not 0 has PT_TL_MEAN_GAP. */
static double find_scale(const struct pt_timeline *t)
{
    uint64_t *gaps = pt_xmalloc((t->mark_count + 1) * sizeof *gaps);
    uint32_t count = 0;
    for (uint32_t i = 1; i < t->mark_count; i++) {
        if (t->marks[i].time > t->marks[i - 1].time)
            gaps[count++] = t->marks[i].time - t->marks[i - 1].time;
    }
    qsort(gaps, count, sizeof *gaps, compare_times);
    double scale = count ? (double)PT_TL_MEAN_GAP / (double)gaps[count / 2] : 0;
    free(gaps);
    return scale;
}

/* How far the signs of all threads reach. */
static double reach(const struct pt_timeline *t, const double *edges, double x)
{
    for (uint32_t k = 0; k < t->row_count; k++)
        x = edges[k] > x ? edges[k] : x;
    return x;
}

/* The place of one mark, from `*x`, that of the mark before it; `edges`: how far each thread's line is covered. */
static void place(struct pt_timeline *t, uint32_t i, double *x, uint32_t *line, double *edges)
{
    struct pt_tl_mark *m = &t->marks[i];
    bool sign = m->kind != PT_TL_STATE;
    double half = m->kind == PT_TL_USER ? pt_tl_box_width(t, m) / 2.0 : SIGN;
    double share = i > 0 ? (double)(m->time - t->marks[i - 1].time) * t->scale : 0;
    double broken = reach(t, edges, *x) + PT_TL_BREAK;
    m->cut = share > PT_TL_MAX_GAP;
    double at = m->cut ? broken + PT_TL_BREAK + half : *x + share, least = sign ? edges[m->thread] + half + APART : at;
    m->stretched = i > 0 && at + 1 < least;
    at = at < least ? least : at;
    if (at + half > PT_TL_RIGHT) { /* it goes on in the next line, where this one ends */
        double over = share - (PT_TL_RIGHT - *x);
        broken = t->left + PT_TL_BREAK;
        at = m->cut ? broken + PT_TL_BREAK + half : t->left + (over > 0 ? over : 0);
        least = t->left + half + APART;
        at = at < least ? least : at;
        m->stretched = false;
        (*line)++;
        for (uint32_t k = 0; k < t->row_count; k++)
            edges[k] = t->left;
    }
    if (sign)
        edges[m->thread] = at + half;
    m->x = (uint32_t)at;
    m->broken = (uint32_t)broken;
    m->line = *line;
    *x = at;
}

static void lay_out(struct pt_timeline *t)
{
    double *edges = pt_xcalloc(t->row_count + 1, sizeof *edges), x = t->left + SIGN;
    uint32_t line = 0;
    for (uint32_t k = 0; k < t->row_count; k++)
        edges[k] = t->left;
    t->scale = find_scale(t);
    for (uint32_t i = 0; i < t->mark_count; i++) {
        struct pt_tl_row *row = &t->rows[t->marks[i].thread];
        place(t, i, &x, &line, edges);
        /* That a thread ended is known of all that are recorded: it does not say when they ran. */
        row->has_states =
            row->has_states || (t->marks[i].kind == PT_TL_STATE &&
                                strcmp(pt_name(t->names, PT_SPACE_STATE, t->marks[i].object), "ended") != 0);
        if (!row->has_marks)
            row->first = i;
        row->has_marks = true;
        row->last = i;
    }
    free(edges);
}

static uint32_t name_column(const struct pt_timeline *t)
{
    uint32_t columns = 4;
    for (uint32_t i = 0; i < t->row_count; i++) {
        uint32_t c = pt_tl_columns(pt_name(t->names, PT_SPACE_THREAD, i));
        columns = c > columns ? c : columns;
    }
    return 24 + (PT_TL_CHAR + 1) * columns;
}

void pt_timeline_finish(struct pt_timeline *t, struct pt_buf *buf)
{
    uint32_t threads = pt_tl_threads(t);
    t->row_count = threads < PT_TIMELINE_THREADS ? threads : PT_TIMELINE_THREADS;
    t->rows = pt_xcalloc(t->row_count + 1, sizeof *t->rows);
    t->left = name_column(t);
    lay_out(t);
    pt_tl_draw(t, buf);
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
