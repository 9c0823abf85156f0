/* Between analysis.c, which has all properties and the causal order, and analysis_wide.c, which has the wider ones. */
#ifndef PT_ENGINE_ANALYSIS_IMPL_H
#define PT_ENGINE_ANALYSIS_IMPL_H

#include "engine/analysis.h"
#include "engine/foreign.h"
#include "engine/crew.h"
#include "engine/feed.h"
#include "engine/wide/wide.h"
#include "order/clock.h"
#include "order/rank.h"

/* Ids of the trace to small numbers of a monitor. */
struct id_map {
    uint32_t *to;
    size_t cap;
};

struct watched {             /* one property */
    uint64_t counted_before; /* see struct pt_analysis_options */
    struct pt_monitor *monitor;
    struct pt_finding *finding;
    struct pt_lattice *lattice;       /* NULL: nothing to explore */
    struct pt_timed *timed;           /* of a `within` property, which has no lattice */
    struct pt_order_pattern *pattern; /* answers where the lattice is too large; NULL: it is none, or cannot */
    bool wide;                        /* it is explored in wider orders, after its lattice if it has one */
    struct pt_actual *actual;         /* ... if it has none; NULL: it has */
    struct pt_wide_stream *stream;    /* ... of a trace that is not kept ... */
    struct pt_wide_live *live;        /* ... as it arrives, unless ... */
    const char *gave_up;              /* ... that was given up, or ... */
    bool settled;                     /* ... has found something */
    struct id_map vars, events;
    struct pt_analysis_options options; /* its lattice's */
    struct pt_clock_pool clocks;        /* of events that came in batches: nobody else has them */
    uint64_t memory_used;               /* where it counts its memory by itself */
    enum pt_status failed;              /* at an event of the batch: this one, and why */
    uint64_t failed_at;
    struct pt_err why;
    struct pt_analysis *analysis; /* for `alone` */
    unsigned taker;               /* who has its lattice ... */
    uint64_t at;                  /* ... and at which event it is */
    _Atomic bool unordered;       /* it needs no clocks any more */
    _Atomic bool may_relay;       /* two threads can explore it (relay.c) */
    _Atomic uint64_t levels, states;
    bool all_relevant;   /* every event relevant to some property is relevant to this one */
    struct pt_rank *own; /* otherwise: per thread, which of its counted events are this property's */
    size_t own_cap;
};

/* An event on its way to lattices, as little of it as they need: it may pass from one core to another. */
struct waiting {
    uint64_t line;
    struct pt_value value;
    uint32_t thread, object, loc, lane;
    uint32_t clock_len;
    uint8_t op;
};

struct pt_analysis {
    struct pt_names *names;
    struct pt_analysis_options options;
    uint64_t memory_used;     /* by all properties and their clocks: see the options */
    uint64_t order_announced; /* bytes of the clocks in it */
    struct pt_order *order;
    struct pt_wide_log *log; /* for wider orders; NULL: nobody asks for them */
    bool streams;            /* events are not kept for that: analysis_slices.c */
    const char *unread;      /* why they could not be given again; NULL: they could */
    uint64_t log_announced;
    struct watched *watched;
    struct pt_knowledge *knowledge; /* of all decentralised properties; NULL: there are none ... */
    struct pt_locals *locals;       /* ... or the program itself evaluates them */
    struct pt_race_properties *races;
    struct pt_finding **findings;
    uint32_t count;
    struct id_map vars, events; /* relevant to some property: 0 */
    bool has_functions;         /* calls of functions are events of some */
    struct id_map known_events; /* of those: looked at */
    struct pt_foreign foreign;
    bool *var_seen, *event_seen, *thread_seen;
    size_t var_seen_cap, event_seen_cap, thread_seen_cap;
    bool ordering; /* clocks are still needed */
    bool any_timed;
    struct pt_crew *crew; /* NULL, and no takers: events are pushed as they come */
    unsigned takers;      /* threads that take batches while others are filled; 0: none */
    bool makes_way;       /* ... until the lattice can be explored by two threads, for which there would be too many */
    struct pt_feed *feed; /* NULL: none were needed yet */
    uint32_t only;        /* a property with a lattice: where there is one, this */
    struct batch {
        struct waiting *events; /* relevant ones, that no lattice has been given yet */
        uint64_t *counts;       /* their clocks, one after the other */
        size_t counts_cap;
        uint32_t count;
        uint64_t first; /* number of its first event */
    } slots[PT_FEED_SLOTS];
    _Atomic bool failed; /* some lattice has */
    /* Written for each event: takers look at nothing in these cache lines. */
    _Alignas(64) struct filling {
        struct waiting *events; /* of a slot, or of the only batch of a crew */
        uint64_t *counts;
        size_t counts_cap;
        uint64_t count_count;
        uint32_t count, limit; /* with so many events it is full, or ... */
        uint32_t counts_limit; /* ... with so many counts */
        uint64_t pushed;       /* relevant events */
        unsigned slot;
        uint64_t event_count, thread_count;
    } fill;
    struct pt_clock *no_clock;
    struct pt_clock_pool own_clocks;
};

static inline uint32_t pt_id_map_get(const struct id_map *map, uint32_t id)
{
    return id < map->cap ? map->to[id] : PT_NONE;
}

/* What the event is to a property: the variable it writes, the user event it is. */
static inline uint32_t pt_watched_var(const struct watched *w, const struct pt_event *event)
{
    return pt_op_writes_var(event->op) ? pt_id_map_get(&w->vars, event->object) : PT_NONE;
}
static inline uint32_t pt_watched_event(const struct watched *w, const struct pt_event *event)
{
    return event->op == PT_OP_EVENT ? pt_id_map_get(&w->events, event->object) : PT_NONE;
}

/* --- analysis_push.c --- */

/* Where it pays and may be done, lattices are given their events by several threads from now on. */
void pt_analysis_divide(struct pt_analysis *a);
/* Nobody but the caller does anything from here on. Once all is flushed, or before the analysis is freed. */
void pt_analysis_unite(struct pt_analysis *a);
/* A relevant event, for all lattices; `lane`: where clocks count the events of its thread. */
enum pt_status pt_analysis_push(struct pt_analysis *a, const struct pt_event *event, uint32_t lane,
                                struct pt_clock *clock, struct pt_err *err);
void pt_watched_forget_pattern(struct watched *w);

/* --- analysis_wide.c --- */

/* Wider orders need the whole trace. */
void pt_analysis_log(struct pt_analysis *a, const struct pt_event *event);
enum { PT_LOG_STRIDE = 1024 }; /* events between two looks at a log's size */
/* Why a log of so many bytes is too long; NULL: it is not. */
const char *pt_analysis_too_long(struct pt_analysis *a, uint64_t bytes);
struct pt_wide_order pt_orders_wide(enum pt_orders orders);
/* What was explored. */
void pt_analysis_describe(struct pt_finding *finding, enum pt_orders order, const struct pt_wide_figures *figures);
/* The order that was asked for, in a log; nanoseconds for it, 0: no end. */
void pt_analysis_explore_log(struct pt_analysis *a, struct watched *w, struct pt_wide_log *log, uint64_t effort);
/* One order, asked for by name; the property has no lattice. */
void pt_analysis_explore_asked(struct pt_analysis *a, struct watched *w, const char *lost);
/* The lattice has explored `access` to its end and found nothing: the wider ones follow. */
void pt_analysis_explore_wider(struct pt_analysis *a, struct watched *w);

/* --- analysis_slices.c --- */

/* An event of a trace that comes by once. */
void pt_analysis_live(struct pt_analysis *a, const struct pt_event *event);
/* The trace has ended: passes over it, where some property needs them. */
void pt_analysis_pass(struct pt_analysis *a);
/* The answer, after that. */
void pt_analysis_settle_slices(struct pt_analysis *a, struct watched *w);

#endif
