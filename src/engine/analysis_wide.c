/*
 * Properties in orders wider than `access` (engine/wide): the events that they need are logged as they come; or not,
 * where slices were asked for and the trace is too long for that, or comes by once (analysis_slices.c).
 *
 * Guarantee: `holds` is said of an order only if it was explored to its end. Cost: that of the orders; memory for the
 * log, within the limit.
 */
#include <string.h>

#include "engine/analysis_impl.h"
#include "engine/memory.h"
#include "engine/wide/wide.h"

static const char *const order_names[] = {
    [PT_ORDERS_ACCESS] = "access",    [PT_ORDERS_SYNC] = "sync",         [PT_ORDERS_VALUES] = "values",
    [PT_ORDERS_AUTO] = "auto",        [PT_ORDERS_SLICES_0] = "slices=0", [PT_ORDERS_SLICES_1] = "slices=1",
    [PT_ORDERS_SLICES_2] = "slices=2"};

enum pt_check_order pt_orders_widest(enum pt_orders orders)
{
    return orders == PT_ORDERS_ACCESS ? PT_CHECK_ACCESS : orders == PT_ORDERS_SYNC ? PT_CHECK_SYNC : PT_CHECK_VALUES;
}

bool pt_orders_find(const char *name, enum pt_orders *ret_orders)
{
    for (size_t i = 0; i < sizeof order_names / sizeof *order_names; i++)
        if (strcmp(order_names[i], name) == 0) {
            *ret_orders = (enum pt_orders)i;
            return true;
        }
    return false;
}

/* ---- the log ---- */

/* Slices do not need all events at once, if the trace can be read more than once. */
static bool may_stream(const struct pt_analysis *a)
{
    return a->options.again && a->options.orders >= PT_ORDERS_SLICES_0 && !pt_wide_log_refuses(a->log);
}

static void begin_streams(struct pt_analysis *a)
{
    a->streams = true;
    pt_wide_log_thin(a->log, true);
}

const char *pt_analysis_too_long(struct pt_analysis *a, uint64_t bytes)
{
    uint64_t limit = a->options.memory_limit, left = pt_memory_share(&a->options, &a->log_announced, bytes);
    if (a->options.orders == PT_ORDERS_AUTO && left > limit / 4)
        left = limit / 4; /* the lattice comes first */
    if (limit)
        return bytes > left ? "the memory limit was reached while the trace was read" : NULL;
    bool over = a->options.log_limit && bytes > a->options.log_limit;
    return over ? "its events take an eighth of this machine's memory (--memory-limit sets another bound)" : NULL;
}

/* Those that nobody asked for by name may not cost more than LOG_MOST events. */
void pt_analysis_log(struct pt_analysis *a, const struct pt_event *event)
{
    enum { LOG_MOST = 1 << 20, STRIDE = PT_LOG_STRIDE };
    if (a->options.goes_by && !a->streams && may_stream(a))
        begin_streams(a);
    pt_wide_log_event(a->log, event);
    if (a->options.goes_by && a->streams) {
        pt_analysis_live(a, event);
        return;
    }
    uint64_t count = pt_wide_log_count(a->log);
    if (a->options.orders == PT_ORDERS_AUTO && count > LOG_MOST)
        pt_wide_log_refuse(a->log, "the trace has more than 1048576 events: ask for them with --order");
    if (may_stream(a) && count > LOG_MOST)
        begin_streams(a);
    if (a->streams || count % STRIDE)
        return;
    const char *why = pt_analysis_too_long(a, pt_wide_log_bytes(a->log));
    if (!why)
        return;
    if (may_stream(a))
        begin_streams(a);
    else
        pt_wide_log_refuse(a->log, why);
    (void)pt_memory_share(&a->options, &a->log_announced, 0);
}

/* ---- the orders ---- */

void pt_analysis_describe(struct pt_finding *f, enum pt_orders order, const struct pt_wide_figures *figures)
{
    f->order = order_names[order];
    f->relevant = figures->relevant;
    f->levels = figures->levels;
    f->states = figures->states;
    f->width = figures->width;
    f->runs = figures->runs;
    f->runs_overflow = figures->runs_overflow;
}

struct pt_wide_order pt_orders_wide(enum pt_orders orders)
{
    struct pt_wide_order order = {.possible = orders == PT_ORDERS_SYNC ? PT_POSSIBLE_SYNC : PT_POSSIBLE_VALUES};
    if (orders >= PT_ORDERS_SLICES_0) {
        order.sliced = true;
        order.slices = orders - PT_ORDERS_SLICES_0;
    }
    return order;
}

/* True: the property is settled. `asked`: this order and no other was asked for. */
static bool explore(struct pt_analysis *a, struct pt_wide_log *log, struct watched *w, enum pt_orders orders,
                    uint64_t effort, bool asked)
{
    struct pt_finding *f = w->finding;
    struct pt_wide_names names = {w->vars.to, w->events.to, w->vars.cap, w->events.cap};
    struct pt_wide_figures figures;
    uint64_t since = a->options.now ? a->options.now() : 0;
    uint64_t deadline = a->options.now && effort ? since + effort : 0;
    enum pt_wide_end end =
        pt_wide_explore(log, pt_orders_wide(orders), w->monitor, &names, &a->options, deadline, f, &figures);
    if (a->options.now)
        f->seconds += (double)(a->options.now() - since) / 1e9;
    if (figures.peak_bytes > f->peak_bytes)
        f->peak_bytes = figures.peak_bytes;
    if (asked || end != PT_WIDE_CUT)
        pt_analysis_describe(f, orders, &figures);
    if (figures.cut)
        f->complete = f->complete && !asked;
    if (end == PT_WIDE_CUT && asked) {
        f->verdict = PT_VERDICT_UNKNOWN;
        f->message = figures.cut;
        f->complete = false;
    } else if (end == PT_WIDE_CUT) {
        f->wider = figures.cut;
    } else if (end == PT_WIDE_HOLDS) {
        f->wider = NULL;
    }
    if (end == PT_WIDE_VIOLATED && a->options.found)
        a->options.found(a->options.context, f);
    return asked || end == PT_WIDE_VIOLATED || end == PT_WIDE_ERROR;
}

void pt_analysis_explore_log(struct pt_analysis *a, struct watched *w, struct pt_wide_log *log, uint64_t effort)
{
    (void)explore(a, log, w, a->options.orders, effort, true);
}

static void search_asked(struct pt_analysis *a, struct watched *w)
{
    struct pt_finding *f = w->finding;
    if (pt_wide_log_refuses(a->log) && !w->settled) {
        f->verdict = PT_VERDICT_UNKNOWN;
        f->message = pt_wide_log_refuses(a->log);
        f->complete = false;
    } else if (a->streams) {
        pt_analysis_settle_slices(a, w);
    } else {
        pt_analysis_explore_log(a, w, a->log, a->options.effort);
    }
}

/* One order, asked for by name; it has no lattice. What the run itself broke stays broken, whatever the search came
 * to. */
void pt_analysis_explore_asked(struct pt_analysis *a, struct watched *w, const char *lost)
{
    struct pt_finding *f = w->finding;
    if (!w->settled) {
        f->complete = true;
        f->order = order_names[a->options.orders];
    }
    search_asked(a, w);
    if (f->verdict == PT_VERDICT_UNKNOWN && f->how == PT_HOW_OBSERVED) {
        f->verdict = PT_VERDICT_VIOLATED;
        f->witness_lost = true;
    } else if (f->verdict != PT_VERDICT_VIOLATED) {
        f->how = PT_HOW_NONE;
    }
    if (lost && f->verdict == PT_VERDICT_HOLDS) {
        f->verdict = PT_VERDICT_UNKNOWN;
        f->message = pt_arena_strndup(&f->arena, lost, strlen(lost));
    }
    f->complete = f->complete && !lost;
}

/* The lattice has explored `access` to its end and found nothing: the wider ones follow. */
void pt_analysis_explore_wider(struct pt_analysis *a, struct watched *w)
{
    struct pt_finding *f = w->finding;
    if (f->verdict != PT_VERDICT_HOLDS || !f->complete || !f->monitorable)
        return;
    f->wider = pt_wide_log_refuses(a->log);
    if (!f->wider && !explore(a, a->log, w, PT_ORDERS_SYNC, a->options.effort, false))
        (void)explore(a, a->log, w, PT_ORDERS_VALUES, a->options.effort, false);
}
