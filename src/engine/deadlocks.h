/* The built-in check `deadlocks` from the inside, split between its files: deadlocks.c keeps the run and finds
 * patterns, deadlocks_follow.c follows it once more where there are some, deadlocks_closure.c decides about them,
 * deadlocks_reverse.c tries what that leaves open, deadlocks_replay.c plays a witness, deadlocks_report.c makes
 * findings.
 */
#ifndef PT_ENGINE_DEADLOCKS_H
#define PT_ENGINE_DEADLOCKS_H

#include "base/table.h"
#include "deadlock/patterns.h"
#include "engine/check.h"
#include "engine/full_run.h"
#include "engine/held.h"
#include "engine/meeting.h"
#include "engine/races.h"
#include "predict/replay.h"
#include "predict/replays.h"
#include "predict/slices.h"
#include "predict/trf.h"
#include "trace/event.h"

/* What a thread has locked, and whether it is blocked now, by its latest event. */
struct deadlocks_thread {
    struct pt_held held;
    bool acted, forked;
    bool tries;  /* the next lock that it takes is one that it would not have waited for */
    uint32_t on; /* a lock plus 1; 0: it is not blocked */
    uint32_t loc, stack;
    uint64_t at;
};

/* Whether the lock is one that its thread would not have waited for, or not for ever. */
static inline bool pt_deadlocks_tries(const struct pt_log_event *event)
{
    return pt_op_locks(event->op) && event->atomic;
}

/* One time that a thread took the lock of an acquire. */
struct deadlocks_instance {
    uint64_t number;      /* in its thread */
    uint64_t event;       /* of the trace */
    struct pt_vec *past;  /* what it needs of others, closed */
    struct pt_vec *plain; /* and without what locks add, where that was asked for */
    uint32_t loc, stack;
};
enum { DEADLOCKS_TRIES = 8 }; /* instances of a node that are tried by deadlocks_reverse.c, and never forgotten */
struct deadlocks_node {
    bool wanted;                          /* it is part of a pattern */
    struct deadlocks_instance *instances; /* the first ones, and those that are not forgotten */
    uint64_t count;                       /* of all that there ever were */
    uint64_t forgotten;                   /* of those after the first ones */
    size_t cap;
    uint64_t cursor;
    uint32_t lent; /* one of its locks is that of `lents`, plus 1; 0: all are the thread's own */
};

struct deadlocks {
    const struct pt_names *names;
    struct pt_check_options options;
    struct pt_race_memory memory;
    struct races_pool pool;
    uint64_t started;

    struct pt_trf trf; /* of the second look */
    struct pt_log log;
    struct deadlocks_thread *threads;
    size_t thread_cap;
    uint32_t thread_count;
    uint32_t *owners; /* of each lock, who has it for itself, plus 1; 0: nobody */
    size_t owner_cap;
    bool locks;         /* some lock was taken */
    bool spans;         /* a thread was joined by one that had a lock for itself: */
    bool spans_several; /* different ones, */
    uint32_t span;      /* or always this one */
    struct pt_full_run run;
    struct pt_meeting meeting;

    struct pt_patterns patterns;
    struct deadlocks_lent { /* a lock that a thread has until another one has ended */
        uint32_t lock, owner, loc;
        uint64_t event; /* that took it */
    } * lents;
    uint32_t lent_count;
    size_t lent_cap;
    struct deadlocks_cycle {
        struct pt_acquire **members; /* each waits for the next */
        uint32_t count;
        bool possible;                 /* it is a deadlock */
        bool out;                      /* for certain it is none of the order `sync` */
        uint64_t *cursors;             /* of the closure: the instance of each member, */
        uint64_t *ideal;               /* and how many events of each thread are in the set; */
        uint32_t ideal_count;          /* of so many threads */
        struct deadlocks_instance *at; /* a deadlock's, of each member */
    } * cycles;
    uint32_t cycle_count;
    size_t cycle_cap;
    size_t node_bytes;
    uint64_t forget_at; /* so many sections */
    size_t peak;

    struct pt_finding *finding;
    struct pt_witnesses witnesses;
    struct pt_map64 known; /* indices of findings, by their places and locks */
};

/* An acquire while the thread has these locks, of which another one has one for it until it has ended (`lents`, plus
 * 1); 0: none. Patterns that there are with it are kept. */
struct deadlocks_node *pt_deadlocks_node(struct deadlocks *d, uint32_t thread, const struct pt_event *event,
                                         struct pt_lock_use *held, uint32_t held_count, uint32_t lent);
/* The instance becomes the node's. */
void pt_deadlocks_keep(struct deadlocks *d, struct deadlocks_node *node, const struct deadlocks_instance *instance);
/* How much there is; beyond the limit everything but the findings goes. */
void pt_deadlocks_watch_memory(struct deadlocks *d);
/* Follows all events that are kept, with what they need, and the instances of patterns. */
void pt_deadlocks_follow(struct deadlocks *d);
/* Acquires of threads that are joined by one that has a lock; when all events are known. */
void pt_deadlocks_spans(struct deadlocks *d);
static inline struct deadlocks_instance *pt_deadlocks_instance(const struct deadlocks_node *node, uint64_t n)
{
    return &node->instances[n < DEADLOCKS_TRIES ? n : n - node->forgotten];
}

/* Whether a run of the events so far, each lock's sections in their order, gets to a state in which all threads of the
 * pattern are next to block: then `at` is their instances, and `ideal` that state. May be asked again when there are
 * more events. */
void pt_deadlocks_close(struct deadlocks *d, struct deadlocks_cycle *cycle);
/* Of each thread, what every run has that a pattern gets to with an instance to come. */
void pt_deadlocks_forget(struct deadlocks *d, const uint64_t *known);
/* Whether the run (struct pt_replay_run) is a possible one and ends with each of the cycle blocked by the next. Shares
 * nothing with the closure. */
bool pt_deadlocks_replay(const struct deadlocks *d, const struct deadlocks_cycle *cycle, const uint64_t *first,
                         const uint64_t *upto);
/* The same of some, PT_REPLAYS at most, and the runs that pt_deadlocks_close has found for them. */
void pt_deadlocks_replay_some(const struct deadlocks *d, const struct deadlocks_cycle *const *cycles, uint32_t count,
                              bool *ret_possible);
/* The pattern is a deadlock, at these instances, in that order and after that run (struct pt_replay_run), which was
 * played. */
void pt_deadlocks_tell(struct deadlocks *d, const struct deadlocks_cycle *cycle, const struct deadlocks_instance *at,
                       const char *order, const uint64_t *first, const uint64_t *upto);
/* The same, after the run that the meeting has found. */
void pt_deadlocks_met(struct deadlocks *d, const struct deadlocks_cycle *cycle, const struct deadlocks_instance *at);
/* deadlocks_divided.c: whether several processes divide the patterns, which are this one's, and what all found. */
bool pt_deadlocks_divides(const struct deadlocks *d);
bool pt_deadlocks_is_own(const struct deadlocks *d, uint32_t cycle);
void pt_deadlocks_gather(struct deadlocks *d);
/* Patterns that no run with the same order of locks gets to. */
void pt_deadlocks_reverse(struct deadlocks *d);
/* These threads are blocked at the end of the recorded run, each by the next. */
void pt_deadlocks_observed(struct deadlocks *d, const uint32_t *threads, uint32_t count);

#endif
