/*
 * Properties in the order slices=K of traces that are not kept: one that comes by once is read by an automaton as it
 * arrives (wide/sliced_live.c); of one that is too long, and where that automaton was given up, the events are given
 * again, once for each pass (wide/sliced_stream.c). What either finds is found again in a log of the events up to
 * there, from which its run is made and judged: at once, where the trace comes by.
 *
 * Guarantee: `holds` is said only if the automaton, or the passes, came to their end. What cannot be given again makes
 * the answer unknown, and is told. Cost: that of these; memory for their states, and for a log up to a violation.
 */
#include "engine/analysis_impl.h"
#include "engine/memory.h"
#include "engine/wide/wide.h"

static void do_not_know(struct watched *w, const char *why)
{
    w->finding->verdict = PT_VERDICT_UNKNOWN;
    w->finding->message = why;
    w->finding->complete = false;
}

static struct pt_wide_names names_of(const struct watched *w)
{
    return (struct pt_wide_names){w->vars.to, w->events.to, w->vars.cap, w->events.cap};
}

/* ---- what was found ---- */

struct collecting {
    struct pt_analysis *a;
    struct pt_wide_log *log;
};

static void collect(void *context, const struct pt_event *event)
{
    struct collecting *c = context;
    pt_wide_log_event(c->log, event);
    if (pt_wide_log_count(c->log) % PT_LOG_STRIDE == 0 && pt_analysis_too_long(c->a, pt_wide_log_bytes(c->log)))
        pt_wide_log_refuse(c->log, "a violation was found, but the events up to it do not fit into memory");
}

/* A violation, or a property without a value, is there after so many events. */
static void show(struct pt_analysis *a, struct watched *w, uint64_t count)
{
    struct pt_finding *f = w->finding;
    struct collecting c = {a, pt_wide_log_like(a->log)};
    const char *why = a->options.again(a->options.again_of, count, collect, &c);
    w->settled = true;
    f->complete = true;
    if (why || pt_wide_log_refuses(c.log)) {
        pt_analysis_describe(f, a->options.orders, &(struct pt_wide_figures){0});
        do_not_know(w, pt_wide_log_refuses(c.log));
    }
    if (why) {
        struct pt_buf text;
        pt_buf_init(&text);
        pt_buf_printf(&text, "a violation was found, but not shown to be one: %s", why);
        f->message = pt_arena_strndup(&f->arena, text.text, text.len);
        pt_buf_release(&text);
    } else if (!pt_wide_log_refuses(c.log)) {
        pt_analysis_explore_log(a, w, c.log, 0);
        if (f->verdict == PT_VERDICT_HOLDS) {
            f->verdict = PT_VERDICT_ERROR;
            f->message = "internal error: what was found was not found again; please report this";
        }
    }
    (void)pt_memory_share(&a->options, &a->log_announced, 0);
    pt_wide_log_free(c.log);
}

/* ---- as it arrives ---- */

static void give_up(struct watched *w, const char *why)
{
    w->gave_up = why;
    pt_wide_live_free(w->live);
    w->live = NULL;
}

struct repeating {
    struct watched *w;
    enum pt_wide_live_end end;
};

static void repeat(void *context, const struct pt_event *event)
{
    struct repeating *r = context;
    if (r->end == PT_WIDE_LIVE_ON)
        r->end = pt_wide_live_event(r->w->live, event, pt_watched_var(r->w, event), pt_watched_event(r->w, event));
}

static void follow(struct pt_analysis *a, struct watched *w, const struct pt_event *event)
{
    uint64_t count = a->fill.event_count;
    struct repeating r = {.w = w};
    repeat(&r, event);
    while (r.end == PT_WIDE_LIVE_AGAIN) { /* the last of them may be news in several ways */
        r.end = PT_WIDE_LIVE_ON;
        const char *why = a->options.again(a->options.again_of, count, repeat, &r);
        if (why) {
            give_up(w, why);
            return;
        }
    }
    if (r.end == PT_WIDE_LIVE_FOUND) {
        pt_wide_live_free(w->live);
        w->live = NULL;
        show(a, w, count);
    } else if (r.end != PT_WIDE_LIVE_ON) {
        give_up(w, pt_wide_live_why(w->live));
    }
}

void pt_analysis_live(struct pt_analysis *a, const struct pt_event *event)
{
    bool refused = pt_wide_log_refuses(a->log);
    for (uint32_t i = 0; i < a->count; i++) {
        struct watched *w = &a->watched[i];
        if (!w->wide || w->settled || w->gave_up)
            continue;
        if (refused) {
            give_up(w, pt_wide_log_refuses(a->log));
        } else if (event->thread == PT_NONE) {
            if (w->live && event->op == PT_OP_INIT && pt_id_map_get(&w->vars, event->object) != PT_NONE)
                give_up(w, "an initial value came late");
        } else {
            struct pt_wide_names names = names_of(w);
            if (!w->live)
                w->live = pt_wide_live_new(a->log, pt_orders_wide(a->options.orders).slices, w->monitor, &names,
                                           &a->options, w->finding);
            follow(a, w, event);
        }
    }
}

/* ---- passes ---- */

static void make_stream(struct pt_analysis *a, struct watched *w)
{
    struct pt_wide_names names = names_of(w);
    uint64_t deadline = a->options.now && a->options.effort ? a->options.now() + a->options.effort : 0;
    w->stream = pt_wide_stream_new(a->log, pt_orders_wide(a->options.orders).slices, w->monitor, &names, &a->options,
                                   deadline, w->finding);
}

static void pass(void *context, const struct pt_event *event)
{
    struct pt_analysis *a = context;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->watched[i].stream)
            pt_wide_stream_event(a->watched[i].stream, event);
}

void pt_analysis_pass(struct pt_analysis *a)
{
    bool again = a->streams && !pt_wide_log_refuses(a->log);
    while (again && !a->unread) {
        again = false;
        for (uint32_t i = 0; i < a->count; i++) {
            struct watched *w = &a->watched[i];
            if (w->wide && !w->stream && !w->live && !w->settled)
                make_stream(a, w);
            again |= w->stream && pt_wide_stream_begin(w->stream);
        }
        if (again)
            a->unread = a->options.again(a->options.again_of, UINT64_MAX, pass, a);
    }
}

/* ---- the answer ---- */

/* What the passes over the trace say. */
static void take_stream(struct pt_analysis *a, struct watched *w)
{
    struct pt_wide_figures figures;
    uint64_t found_at;
    enum pt_wide_end end = pt_wide_stream_end(w->stream, &figures, &found_at);
    w->finding->peak_bytes = figures.peak_bytes;
    pt_analysis_describe(w->finding, a->options.orders, &figures);
    if (end == PT_WIDE_CUT)
        do_not_know(w, a->unread ? a->unread : figures.cut);
    if (end != PT_WIDE_VIOLATED)
        return;
    if (pt_wide_stream_is_observed(w->stream))
        w->finding->how = PT_HOW_OBSERVED; /* perhaps by what comes after the events that were found */
    show(a, w, found_at);
}

void pt_analysis_settle_slices(struct pt_analysis *a, struct watched *w)
{
    if (w->settled)
        return;
    if (w->live) {
        struct pt_wide_figures figures;
        pt_wide_live_figures(w->live, &figures);
        w->finding->peak_bytes = figures.peak_bytes;
        pt_analysis_describe(w->finding, a->options.orders, &figures);
    } else if (w->stream) {
        take_stream(a, w);
    } else {
        do_not_know(w, a->unread ? a->unread : "the trace was not read again");
    }
}
