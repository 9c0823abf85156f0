/*
 * A causal order (contract section 3, --order): which events depend on each other, what an event needs, whether it is
 * enabled in a cut, why two events are ordered or not, and whether a sequence of events is a legal run. Nobody else
 * decides any of this; orders differ in their `struct pt_order_kind` alone, and each is one file (access.h is the only
 * one so far).
 *
 * Two objects ask an order. A *pass* (struct pt_order) reads a trace once and says what each relevant event needs. A
 * *relation* (struct pt_relation) is the order among the events of one exploration, where cuts are counts per thread.
 * Engines choose how to ask when they begin, not at each state: an order without `allows` is decided by needs alone,
 * which packed.h compares whole words at a time.
 */
#ifndef PT_ORDER_ORDER_H
#define PT_ORDER_ORDER_H

#include "base/err.h"
#include "order/clock.h"
#include "trace/event.h"

/* An event as far as dependence goes. */
struct pt_act {
    uint32_t thread, object;
    uint8_t op; /* enum pt_op */
};

/* What orders two events directly. */
enum pt_link {
    PT_LINK_NONE,
    PT_LINK_PROGRAM,  /* they are of one thread, or lane */
    PT_LINK_FORK,     /* the first starts the second's thread, or the thread that the second joins */
    PT_LINK_JOIN,     /* the second waits for the end of the first's thread */
    PT_LINK_CONFLICT, /* both access one object, and at least one of them writes it */
};

/* An event of an exploration: the index-th, from 1, of those that cuts count in its thread. */
struct pt_cut_event {
    uint32_t column; /* its thread, by its number in the relation */
    uint64_t index;
    const struct pt_clock *needs; /* by threads of the trace; of the event's own thread: `index` */
    uint32_t object;
    uint8_t op;
};

struct pt_order;
struct pt_relation;

struct pt_order_kind {
    const char *name; /* as the JSON has it */

    /* `earlier` comes before `later` in the recorded run: what keeps them so, if both are in a run? */
    enum pt_link (*depends)(const struct pt_act *earlier, const struct pt_act *later);

    /* A pass: see pt_order_new and what follows it. */
    struct pt_order *(*pass_new)(const char *label, const struct pt_names *names);
    enum pt_status (*pass_event)(struct pt_order *pass, const struct pt_event *event, bool relevant,
                                 struct pt_clock **ret_needs, struct pt_err *err);
    uint32_t (*pass_lane)(const struct pt_order *pass, uint32_t thread); /* NULL: its own number */
    size_t (*pass_bytes)(const struct pt_order *pass);
    void (*pass_free)(struct pt_order *pass);

    /* How many of the events, one after the other from the cut `have`, make a legal run. Advances `have` past them.
     * By code of its own: it judges what a search found with the help of the members below and of packed.h. */
    uint32_t (*replay)(const struct pt_relation *relation, uint64_t *have, const struct pt_cut_event *run,
                       uint32_t count);

    /* Orders in which a cut that contains what an event needs may still not enable it, as events exclude each other;
     * all four, or none. `allows` is asked about events whose needs are met and which are next in their threads, by
     * several workers at a time; `rules` gets every event of the exploration, in trace order. */
    void *(*rules_new)(void);
    void (*rules_add)(void *rules, const struct pt_cut_event *event);
    bool (*allows)(const void *rules, const uint64_t *counts, const struct pt_cut_event *event);
    void (*rules_free)(void *rules);
};

/* --- a pass over a trace --- */

struct pt_order { /* the head of each kind's own struct */
    const struct pt_order_kind *kind;
    uint64_t counted_before; /* of each thread; may be set before the first event: counts begin after it */
    bool lanes;              /* may be set before the first event: see pt_order_lane */
};

/* `label` names the trace in errors. */
static inline struct pt_order *pt_order_new(const struct pt_order_kind *kind, const char *label,
                                            const struct pt_names *names)
{
    return kind->pass_new(label, names);
}
static inline void pt_order_free(struct pt_order *order)
{
    if (order)
        order->kind->pass_free(order);
}
/*
 * Takes the next event of the trace. For a relevant one *ret_needs is what it needs: for each thread, how many of its
 * relevant events are in every run that contains this one, itself included. It is not referenced for the caller; for
 * other events it is untouched. PT_EINPUT when a c= field contradicts the events before it.
 */
static inline enum pt_status pt_order_event(struct pt_order *order, const struct pt_event *event, bool relevant,
                                            struct pt_clock **ret_needs, struct pt_err *err)
{
    return order->kind->pass_event(order, event, relevant, ret_needs, err);
}
/*
 * Where clocks count the events of a thread that has had a relevant one: at its own number or, with `lanes`, at that of
 * a *lane*, which threads share of which each begins when the one before it has ended. Its first relevant event needs
 * all of theirs, so that a cut is one number for each lane, and clocks are as long as there are threads at a time.
 */
static inline uint32_t pt_order_lane(const struct pt_order *order, uint32_t thread)
{
    return order->kind->pass_lane ? order->kind->pass_lane(order, thread) : thread;
}
/* Memory, the clocks it has handed out and that are still alive included. */
static inline size_t pt_order_bytes(const struct pt_order *order)
{
    return order->kind->pass_bytes(order);
}

/* --- the order among the events of one exploration --- */

struct pt_relation {
    const struct pt_order_kind *kind;
    uint32_t *threads; /* of the trace, by column; or lanes, where the pass has them */
    uint32_t thread_count;
    size_t thread_cap;
    void *rules; /* of kinds that have `allows` */
};

void pt_relation_init(struct pt_relation *relation, const struct pt_order_kind *kind);
void pt_relation_release(struct pt_relation *relation);
/* A further thread, which gets the next column. */
void pt_relation_thread(struct pt_relation *relation, uint32_t thread);
/* The next event of the exploration, in trace order. */
static inline void pt_relation_add(struct pt_relation *relation, const struct pt_cut_event *event)
{
    if (relation->rules)
        relation->kind->rules_add(relation->rules, event);
}

/* Whether an event is enabled in exactly the cuts that contain what it needs. Enabledness then grows with the cut, and
 * the union of two consistent cuts is consistent. */
static inline bool pt_relation_by_needs(const struct pt_relation *relation)
{
    return !relation->kind->allows;
}

/* How many events of a column every cut contains that enables the event. */
static inline uint64_t pt_relation_needs(const struct pt_relation *relation, const struct pt_cut_event *event,
                                         uint32_t column)
{
    return column == event->column ? event->index - 1 : pt_clock_get(event->needs, relation->threads[column]);
}

/* May the event be the next one after a cut, given by counts per column? */
bool pt_relation_enabled(const struct pt_relation *relation, const uint64_t *counts, const struct pt_cut_event *event);

/* Of two events in the order of the recorded run. */
struct pt_reason {
    enum pt_link link; /* what orders them directly */
    uint64_t needs;    /* the later one needs so many events of the earlier one's thread, ... */
    uint64_t index;    /* ... of which the earlier one is this */
};
struct pt_reason pt_relation_reason(const struct pt_relation *relation, const struct pt_cut_event *earlier,
                                    const struct pt_cut_event *later);
/* No run has the later one without the earlier one before it. */
static inline bool pt_reason_needed(struct pt_reason reason)
{
    return reason.needs >= reason.index;
}
/* No run has the later one before the earlier one. */
static inline bool pt_reason_ordered(struct pt_reason reason)
{
    return pt_reason_needed(reason) || reason.link != PT_LINK_NONE;
}

/* See `replay` above. Engines show no witness that does not pass it to its end. */
static inline uint32_t pt_relation_replay(const struct pt_relation *relation, uint64_t *have,
                                          const struct pt_cut_event *run, uint32_t count)
{
    return relation->kind->replay(relation, have, run, count);
}

#endif
