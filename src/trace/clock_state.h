/*
 * What the clocks of a trace say (docs/trace-format.md). A line's c= need not name everything that its event knows:
 * what its thread knew at its line before stays known, and who names the latest counted event of a thread knows all
 * that this event did. Readers complete clocks by this rule, and writers leave out what it gives back.
 *
 * A running program's clocks leave out more: a thread may come behind one that has ended (struct pt_event, `behind`),
 * and whoever names an event of it knows all events of that one, and of those before it. Traces do not say this: what
 * a writer makes of such a clock is what it would make of one that names them all.
 */
#ifndef PT_TRACE_CLOCK_STATE_H
#define PT_TRACE_CLOCK_STATE_H

#include "trace/clock_tree.h"
#include "trace/event.h"

/* A clock that names so many threads, or less, is left as it is, for people to read. */
enum { PT_CLOCK_SHORT = 16 };

struct pt_clock_thread {
    struct pt_tree now;  /* what it knew at its latest line with a clock, in the trace's own counts */
    struct pt_tree said; /* the same at its latest counted event */
    uint64_t counted;    /* its events that clocks count, so far */
    uint64_t when;       /* the line of the latest of them */
    uint32_t behind;     /* as in struct pt_event */
};

/* All zero: of no line. */
struct pt_clock_state {
    struct pt_clock_thread *threads; /* by id */
    size_t thread_cap;
    uint64_t lines; /* with clocks */
    struct pt_tree_pool pool;
    struct pt_clock_entry *named; /* of the latest line: what had to be named */
    uint32_t named_count;
    size_t named_cap;
};

void pt_clock_state_release(struct pt_clock_state *state);
/* The next line that has a clock. Its thread is named in it, others with no more events than they have had. */
void pt_clock_state_take(struct pt_clock_state *state, const struct pt_event *event);
/* The same, and leaves in its clock what has to be named, in order of threads; valid until the next call. */
void pt_clock_state_reduce(struct pt_clock_state *state, struct pt_event *event);
/* What there is of a thread; valid until the next call of either. */
struct pt_clock_thread *pt_clock_state_thread(struct pt_clock_state *state, uint32_t thread);
size_t pt_clock_state_bytes(const struct pt_clock_state *state);

#endif
