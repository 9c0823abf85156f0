/*
 * `within D` properties (contract section 2; JamaicaVM paper, section 4): LTL on infinite words, watched on a prefix
 * with the assumption that the program is cyclic and that a cycle takes at most D.
 *
 * The Büchi automaton of the property reads one letter per event. Its states that reach no accepting cycle are gone
 * (the paper's Figure 5 keeps them), so
 *
 *   dead   no run of the automaton is left: no continuation satisfies the formula;
 *   late   runs are left, and each of them misses a window: a window [t, t + D), t at or after the start, must contain
 *          a pass through an accepting state.
 *
 * The second is decided with one number per automaton state: until when a run that is there, the best one, may go on
 * without a pass. A run that let its time go by is too late for ever, even if it passes afterwards, but it still counts
 * as left: where it alone survives, the verdict is late, not dead. Both verdicts are final.
 *
 * Time. The start is the first time stamp there is; events before it happen at the start. Time never runs backwards: a
 * stamp below an earlier one, and an event without a stamp, count as the latest time known. With D in events the time
 * of an event is its number, and since no second event has the same number, a window of D events is over with its last
 * event: `late` falls at the D-th event without a pass.
 *
 * Lost events. After a gap the automaton may be in any state that it reaches from those before, and the last pass may
 * have been the last lost event, so windows that overlap the gap are not judged. A violation is reported if it is one
 * whatever was lost. Until the present states and their times are the same for everything that could have been lost
 * without violating the property, the verdict is unknown; then it is known again, on the assumption that what was lost
 * was good. The values of variables are unknown after a gap until they are written again, and an event whose letter
 * depends on one counts as lost. A gap ends with the next time stamp (D in events: at once); it can be given with
 * pt_within_advance.
 *
 * Guarantee: exact for the automaton given, without gaps; with gaps `dead` and `late` are sound. Cost per event: a
 * table look-up (engine/moves.h) and a maximum over the runs that meet in each state of the current set.
 */
#ifndef PT_ENGINE_WITHIN_H
#define PT_ENGINE_WITHIN_H

#include "logic/monitor/monitor.h"

enum pt_within_verdict {
    PT_WITHIN_GOOD,    /* so far */
    PT_WITHIN_UNKNOWN, /* events were lost, and the answer depends on them */
    PT_WITHIN_DEAD,    /* these three are final */
    PT_WITHIN_LATE,
    PT_WITHIN_ERROR, /* an atom that matters has no value: see pt_within_error */
};

struct pt_within;

/* The monitor is of a `within` property and outlives this. */
struct pt_within *pt_within_new(struct pt_monitor *monitor);
void pt_within_free(struct pt_within *within);

/* Before the first event. */
void pt_within_initial(struct pt_within *within, uint32_t var, struct pt_value value);

struct pt_within_event {
    uint32_t var;          /* the monitor's variable that is written, or PT_NONE */
    uint32_t user_event;   /* the monitor's user event that this is, or PT_NONE */
    struct pt_value value; /* of var */
    bool has_time;
    uint64_t time; /* nanoseconds */
};
/* One event: one letter. Each returns the verdict afterwards. */
enum pt_within_verdict pt_within_event(struct pt_within *within, const struct pt_within_event *event);
/* Time has passed, nothing happened. */
enum pt_within_verdict pt_within_advance(struct pt_within *within, uint64_t time);
/* This many events were lost since the last one. */
enum pt_within_verdict pt_within_gap(struct pt_within *within, uint64_t lost);
/* The run ends here: a property that nothing can satisfy is dead even if no event came. */
enum pt_within_verdict pt_within_end(struct pt_within *within);

enum pt_within_verdict pt_within_verdict(const struct pt_within *within);
/* The states of the automaton the runs are in now (none: dead), and those before the last event. They are numbered as
 * `portent automaton` prints them. *ret_final: one of the current ones accepts. */
const uint32_t *pt_within_states(const struct pt_within *within, uint32_t *ret_count, bool *ret_final);
const uint32_t *pt_within_states_before(const struct pt_within *within, uint32_t *ret_count);
/* The first time at which silence would be too long; false when there is none (D in events, no time stamp yet, a
 * verdict that is final). A live monitor sets its timer by it. */
bool pt_within_deadline(const struct pt_within *within, uint64_t *ret_time);

/* Where a final verdict fell. */
struct pt_within_place {
    uint64_t event; /* events read by then, the one that decided included; lost ones count */
    bool silent;    /* no event decided: time passed after that event */
    bool timed;     /* `time` is known: nanoseconds; of a silent verdict the end of the window that was missed */
    uint64_t time;
    bool passed;        /* some run passed an accepting state, the last one ... */
    uint64_t last_pass; /* ... at this time, or event number with D in events; otherwise the start */
};
struct pt_within_place pt_within_place(const struct pt_within *within);
void pt_within_error(struct pt_within *within, struct pt_err *err);
size_t pt_within_bytes(const struct pt_within *within);

#endif
