/* The built-in check `deadlocks` from the inside, split between its files: deadlocks.c follows the run,
 * deadlocks_closure.c decides about a pattern, deadlocks_reverse.c tries what that leaves open, deadlocks_replay.c
 * plays a witness, deadlocks_report.c makes findings.
 */
#ifndef PT_ENGINE_DEADLOCKS_H
#define PT_ENGINE_DEADLOCKS_H

#include "base/table.h"
#include "deadlock/patterns.h"
#include "engine/check.h"
#include "engine/full_run.h"
#include "engine/meeting.h"
#include "engine/races.h"
#include "predict/replay.h"
#include "predict/slices.h"
#include "predict/trf.h"
#include "trace/event.h"

/* That a thread is blocked now, by its latest event. */
struct deadlocks_thread {
    uint32_t on; /* a lock plus 1; 0: it is not */
    uint32_t loc, stack;
    uint64_t at;
};

/* One time that a thread took the lock of an acquire. */
struct deadlocks_instance {
    uint64_t number;      /* in its thread */
    uint64_t event;       /* of the trace */
    struct pt_vec *past;  /* what it needs of others, closed */
    struct pt_vec *plain; /* and without what locks add, where that was asked for */
    uint32_t loc, stack;
};
struct deadlocks_node {
    struct deadlocks_instance *instances;
    uint64_t count;
    size_t cap;
    uint64_t cursor; /* of the closure */
    struct deadlocks_lent {
        uint32_t lock; /* that another thread has until this one has ended, plus 1; 0: none */
        uint32_t owner, loc;
    } lent;
};

struct deadlocks {
    const struct pt_names *names;
    struct pt_check_options options;
    struct pt_race_memory memory;
    struct races_pool pool;
    uint64_t started;

    struct pt_trf trf;
    struct pt_log log;
    struct deadlocks_thread *blocked;
    size_t blocked_cap;
    struct pt_full_run run;
    struct pt_meeting meeting;

    struct pt_patterns patterns;
    struct deadlocks_cycle {
        struct pt_acquire **members; /* each waits for the next */
        uint32_t count;
        bool possible; /* it is a deadlock */
    } * cycles;
    uint32_t cycle_count;
    size_t cycle_cap;
    size_t node_bytes;

    uint64_t *ideal; /* of the closure: how many events of each thread are in the set */
    size_t peak;

    struct pt_finding *finding;
    uint32_t witness_count; /* of findings that have one */
    struct pt_map64 known;  /* indices of findings, by their places and locks */
};

/* An acquire while the thread has these locks, of which another one has one for it until it has ended; NULL: none. The
 * instance becomes ours; false: not, since the thread does the same with all of these its own. */
bool pt_deadlocks_note(struct deadlocks *d, uint32_t thread, const struct pt_event *event, struct pt_lock_use *held,
                       uint32_t held_count, const struct deadlocks_instance *instance,
                       const struct deadlocks_lent *lent);
/* Acquires of threads that are joined by one that has a lock; when all events are known. */
void pt_deadlocks_spans(struct deadlocks *d);

/* Whether a run of the same events, each lock's sections in their order, gets to a state in which all threads of the
 * pattern are next to block: then the cursors are at the instances, and `ideal` is that state. */
bool pt_deadlocks_close(struct deadlocks *d, const struct deadlocks_cycle *cycle);
/* Whether the run (struct pt_replay_run) is a possible one and ends with each of the cycle blocked by the next. Shares
 * nothing with the closure. */
bool pt_deadlocks_replay(const struct deadlocks *d, const struct deadlocks_cycle *cycle, const uint64_t *first,
                         const uint64_t *upto);
/* The pattern is a deadlock, at the instances of the cursors, in that order and after that run (struct pt_replay_run).
 * False: it is not, by the replay. */
bool pt_deadlocks_predicted(struct deadlocks *d, const struct deadlocks_cycle *cycle, const char *order,
                            const uint64_t *first, const uint64_t *upto);
/* The same, after the run that the meeting has found. */
void pt_deadlocks_met(struct deadlocks *d, const struct deadlocks_cycle *cycle);
/* Patterns that no run with the same order of locks gets to. */
void pt_deadlocks_reverse(struct deadlocks *d);
/* These threads are blocked at the end of the recorded run, each by the next. */
void pt_deadlocks_observed(struct deadlocks *d, const uint32_t *threads, uint32_t count);

#endif
