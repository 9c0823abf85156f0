/*
 * One pass over a trace for any number of properties: validates nothing, orders events, hands each property its
 * relevant ones, and collects what was found. No I/O, no clock, no environment: the caller lends what it wants used.
 */
#ifndef PT_ENGINE_ANALYSIS_H
#define PT_ENGINE_ANALYSIS_H

#include "base/err.h"
#include "core/channel.h"
#include "core/mttl.h"
#include "core/local_report.h"
#include "engine/check.h"
#include "engine/group.h"
#include "finding/finding.h"
#include "logic/monitor/monitor.h"
#include "order/order.h"
#include "trace/event.h"

/* Which orders are explored (contract section 3). AUTO: access, then sync and values as far as `effort` goes. */
enum pt_orders {
    PT_ORDERS_ACCESS,
    PT_ORDERS_SYNC,
    PT_ORDERS_VALUES,
    PT_ORDERS_AUTO,
    PT_ORDERS_SLICES_0, /* slices=0, and so on */
    PT_ORDERS_SLICES_1,
    PT_ORDERS_SLICES_2,
};
#define PT_ORDERS_NAMES "access sync values auto slices=0 slices=1 slices=2"
/* False: there is none of that name. */
bool pt_orders_find(const char *name, enum pt_orders *ret_orders);
/* For checks. */
enum pt_check_order pt_orders_widest(enum pt_orders orders);

/* For `stretch`: such threads explore levels together. */
#define PT_NO_STRETCHES UINT32_MAX

struct pt_analysis_options {
    const struct pt_order_kind *order; /* the causal order that the lattice explores; NULL: access */
    enum pt_orders orders;
    uint64_t effort;            /* nanoseconds per property and wider order, by `now`; 0: no end */
    uint64_t window, lookahead; /* at least 1, or PT_ALL */
    bool exhaustive;            /* go on after a violation, so that the figures are exact */
    unsigned jobs;              /* at least 1; that many threads at most, where a level is wide enough for them */
    unsigned cores;             /* that may be used, 0 if that is not known: idle workers look on for work for a while
                                   where each has one */
    uint32_t cuts_for_each;  /* a worker more for so many cuts of a level; 0: for as many as are worth it. In tests 1 */
    uint64_t counted_before; /* relevant events of each thread that the trace leaves out: its first one is the next,
                                in clocks c= too. 0, but in tests */
    uint64_t memory_limit;   /* bytes for all properties and their clocks together; 0: none */
    uint64_t log_limit;      /* without one: bytes of events that are kept for wider orders; 0: no end */
    uint64_t *memory_used;   /* bytes of all at present: pt_analysis_new sets it */
    const char *trace;       /* its name, for places in messages */
    /* Gives the first so many events that threads did again, and what stands before and between them, in the same
     * order: at the end, for orders slices=K of a trace that is too long to be kept. NULL: all were given; otherwise
     * why not, for as long as the analysis lives. May be NULL. */
    const char *(*again)(void *of, uint64_t count, void (*take)(void *context, const struct pt_event *event),
                         void *context);
    void *again_of;
    bool goes_by;     /* ... and while events come, for these orders: nothing is kept from the first one on */
    bool batches;     /* nobody waits for answers before the end: pt_analysis_flush is called then */
    uint32_t batch;   /* relevant events that are handed on together, where they come `live`, 256 at most; 0: as many
                         as are worth it. In tests few */
    bool live;        /* events come while something runs: pt_analysis_flush is called before whoever has them
                         waits for more, tells anybody anything, or looks at what was found */
    bool relays;      /* a bounded window may be explored by two threads: pt_analysis_new sets it, and ... */
    bool relays_wait; /* ... for the time being not */
    uint32_t stretch; /* of the trace, which two threads then explore side by side: so many times 17 events; 0: as many
                         as are worth it. In tests few, or none */
    /* Called around what tells somebody something or reads names: nobody else does then. pt_analysis_new sets it. */
    void (*alone)(void *of, bool begins);
    void *alone_of;
    uint64_t (*now)(void); /* nanoseconds, for `seconds`; may be NULL */
    /* Called now and then during long work; may be NULL. */
    void (*progress)(void *context, const char *property, uint64_t level, uint64_t states);
    /* Whether people have decided about a finding before; NULL: about none. */
    bool (*suppressed)(void *context, const struct pt_finding *finding);
    /* Called at once when a violation of a property is found, before the end of the trace; may be NULL. The finding
     * may still change from predicted to observed, and its figures grow, until the end. */
    void (*found)(void *context, const struct pt_finding *finding);
    /* Called at once when the actual run itself breaks a property, with the event that does (NULL: the initial state);
     * may be NULL. With a bounded window the exploration is some events behind, and `found` follows later. */
    void (*observed)(void *context, const struct pt_finding *finding, const struct pt_step *step);
    /* Asked now and then: true ends the exploration, with unknown for what is not settled; may be NULL. */
    bool (*interrupted)(void *context);
    void *context;
    /* Decentralised properties are evaluated by the program itself, by this block, in the order of the inputs: what it
     * reports comes through pt_analysis_reported. NULL: they are evaluated here, on the events. */
    const struct pt_mttl *block;
    /* race_free properties, too: their findings are left alone here (engine/found.h). */
    bool races_reported;
    /* Processes that do it together (group.h); NULL: alone. What is not divided among them is done by process 0, and
     * the findings of the others then lack it. */
    const struct pt_group *group;
};

/* What a thread of the program found out about such a property. */
struct pt_thread_report {
    uint32_t property;           /* of the block */
    enum pt_local_result result; /* core/channel.h */
    const char *thread;
    uint64_t from, to;  /* states */
    const char *report; /* core/local_report.h; of the first report of a property */
    size_t report_bytes;
    /* Names and numbers as a recording of the run has them, see trace/channel.h; may be NULL. The program has no debug
     * information at hand, and does not know how the recording cuts its memory. */
    const char *(*object)(void *context, const struct pt_local_report_step *step, struct pt_value *ret_value);
    uint64_t (*state)(void *context, const char *thread, uint64_t state, const struct pt_local_report_step *step);
    void *context;
};

struct pt_analysis;

/*
 * A decentralised property has neither monitor nor message: its engine compiles it. Otherwise a monitor slot may be
 * NULL with an error text instead: its finding is an error from the start (a kind of property that has no engine yet,
 * an automaton over the limit).
 */
struct pt_analysis_input {
    const struct pt_property *property; /* NULL for a module */
    struct pt_monitor *monitor;         /* NULL: the finding is `verdict` with `message` */
    enum pt_verdict verdict;
    const char *message;
};

struct pt_analysis *pt_analysis_new(struct pt_names *names, const struct pt_analysis_input *inputs, uint32_t count,
                                    const struct pt_analysis_options *options);
void pt_analysis_free(struct pt_analysis *analysis);
/* Every event of the trace in order, init and clock lines included. PT_EINPUT when a c= clock makes no sense. */
enum pt_status pt_analysis_event(struct pt_analysis *analysis, const struct pt_event *event,
                                 struct pt_err *err) PT_WARN_UNUSED;
void pt_analysis_reported(struct pt_analysis *analysis, const struct pt_thread_report *report);
/* This many events are missing here, as a `lost` line says too: `within` properties become unknown until they are
 * known again (within.h), others that are not violated are unknown for good. */
void pt_analysis_gap(struct pt_analysis *analysis, uint64_t lost);
/* The live state of a `within` property, NULL for others. A clock event brings the time to it. */
struct pt_within;
struct pt_within *pt_analysis_within(struct pt_analysis *analysis, uint32_t index);
/* Where the options have `batches` or `live`: what waits for its batch is taken. Once the last event was given,
 * before pt_analysis_finish; an error is that of an event before. */
enum pt_status pt_analysis_flush(struct pt_analysis *analysis, struct pt_err *err) PT_WARN_UNUSED;
/* The trace has ended; `lost`: events are missing, so that what would hold is unknown. */
void pt_analysis_finish(struct pt_analysis *analysis, const char *lost);
/* Valid until the analysis is freed; final after finish. In the order of the inputs. */
struct pt_finding **pt_analysis_findings(struct pt_analysis *analysis, uint32_t *ret_count);
void pt_analysis_counts(const struct pt_analysis *analysis, uint64_t *ret_events, uint64_t *ret_threads);
#endif
