/*
 * The causal order of a trace (contract section 3, --order=access) by the dynamic vector clocks of the JMPaX paper,
 * section 3.4, with the correction of contract section 8 (a read takes the variable's *write* clock).
 */
#ifndef PT_ORDER_ORDER_H
#define PT_ORDER_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "trace/event.h"

/* Where clocks come from and go to: short ones are kept for reuse, so that a steady stream of events allocates nothing.
 */
enum { PT_CLOCK_CLASSES = 16 };
struct pt_clock_pool {
    size_t bytes;                             /* of the clocks that are alive */
    struct pt_clock *spare[PT_CLOCK_CLASSES]; /* by length, in steps of 4 counts */
};
void pt_clock_pool_release(struct pt_clock_pool *pool); /* after its last clock */

/* Immutable and shared: counts[j] is how many relevant events of thread j precede or equal; threads past len have 0. */
struct pt_clock {
    union {
        struct pt_clock_pool *pool; /* outlives it */
        struct pt_clock *next;      /* of a spare one */
    };
    uint32_t refs;
    uint32_t len;
    uint32_t counts[];
};
static inline uint32_t pt_clock_get(const struct pt_clock *clock, uint32_t thread)
{
    return thread < clock->len ? clock->counts[thread] : 0;
}

struct pt_clock *pt_clock_new(uint32_t len,
                              struct pt_clock_pool *pool); /* zeroed; the caller fills it before sharing it */
struct pt_clock *pt_clock_ref(struct pt_clock *clock);
void pt_clock_unref(struct pt_clock *clock); /* NULL is fine */
/* *place <- max(*place, other); true: *place learned something. NULL is the empty clock. */
bool pt_clock_absorb(struct pt_clock **place, struct pt_clock *other);
/* *place <- a copy with thread i's count one higher. */
void pt_clock_tick(struct pt_clock **place, uint32_t thread);

struct pt_order;

/* `label` names the trace in errors. */
struct pt_order *pt_order_new(const char *label, const struct pt_names *names);
void pt_order_free(struct pt_order *order);
/*
 * Takes the next event of the trace. For a relevant one *ret_clock is its clock, not referenced for the caller;
 * for others it is untouched. By Theorem 1 of the paper, relevant e of thread i precedes or equals relevant f iff
 * clock(e)[i] <= clock(f)[i]. PT_EINPUT when a c= field contradicts the events before it.
 */
enum pt_status pt_order_event(struct pt_order *order, const struct pt_event *event, bool relevant,
                              struct pt_clock **ret_clock, struct pt_err *err) PT_WARN_UNUSED;
/* Memory, the clocks it has handed out and that are still alive included. */
size_t pt_order_bytes(const struct pt_order *order);

/*
 * Is this a legal run prefix? `have[j]` relevant events of thread j (of `threads`) have happened already; event k of
 * the list is the next one of thread[k] and needs need(k)[j] events of each other thread j first. `have` is advanced
 * past the legal events; returns their number. This is Proposition 1 of the paper, event by event; engines show no
 * witness that does not pass it.
 */
uint32_t pt_order_replay(uint32_t *have, uint32_t threads, const uint32_t *thread, const uint32_t *const *need,
                         uint32_t count);

#endif
