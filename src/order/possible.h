/*
 * Whether a sequence of recorded events is a possible run, by the definitions of contract section 3 alone ("Causal
 * order", "Wider orders"). It judges what searches found before it is shown, and shares nothing with them: no clocks,
 * no sections, no packing; it plays the run event by event.
 *
 * What the contract leaves open, and how it is closed here, always so that the recorded run itself is possible and each
 * order contains the one before:
 * - Operations on one lock keep their order if one of them is exclusive; readers are not ordered with each other.
 * - A read that did not return what its writer left (something that was not recorded has written) is tied to that
 *   writer, as one without a value is.
 * - An access of a part of its variable is tied to the write before it, a write too, since it keeps the other parts.
 * - A thread that was joined has no lock any more: that is how a robust mutex goes on.
 */
#ifndef PT_ORDER_POSSIBLE_H
#define PT_ORDER_POSSIBLE_H

#include "trace/event.h"

enum pt_possible { PT_POSSIBLE_ACCESS, PT_POSSIBLE_SYNC, PT_POSSIBLE_VALUES };

/* An event that a thread did: init, clock and the like are none. */
struct pt_recorded {
    struct pt_value value;
    uint32_t thread, object;
    uint8_t op;   /* enum pt_op */
    bool partial; /* it touches some bytes of its variable only */
};
static inline struct pt_recorded pt_recorded(const struct pt_event *event)
{
    return (struct pt_recorded){event->value, event->thread, event->object, event->op, event->to > 0};
}

/* All of them, in recorded order, and the values before the first one; variables past the count have 0. */
struct pt_recording {
    const struct pt_recorded *events;
    uint64_t count;
    const struct pt_value *initial; /* by variable */
    uint32_t initial_count;
};

/* How many of the run's events, given by their places in the recording, can happen one after the other. All: it is a
 * possible run. Otherwise *ret_why says in words which rule the next one breaks; NULL: nobody asks. */
uint64_t pt_possible_play(const struct pt_recording *recording, enum pt_possible order, const uint64_t *run,
                          uint64_t count, const char **ret_why);

#endif
