/* The built-in check `deadlocks` from the inside, split between its files: deadlocks.c follows the run,
 * deadlocks_closure.c decides about a pattern, deadlocks_replay.c plays a witness, deadlocks_report.c makes findings.
 */
#ifndef PT_ENGINE_DEADLOCKS_H
#define PT_ENGINE_DEADLOCKS_H

#include "base/table.h"
#include "deadlock/patterns.h"
#include "engine/check.h"
#include "engine/races.h"
#include "race/hb.h"
#include "trace/event.h"

/* An event that the order of a run depends on, the next of its thread; as small as it can be, since all are kept. */
struct deadlocks_event {
    uint32_t thread, object, loc;
    uint8_t op;
};

/* From taking a lock to releasing it, of recursive ones the outermost. */
struct deadlocks_section {
    uint64_t acquired;        /* its number in its thread, from 1 */
    uint64_t number;          /* among all acquisitions of the run */
    struct pt_hb_stamp until; /* its release and what that needs; at 0: it is not released */
};

/* The sections of one thread and one lock, of one kind. */
struct deadlocks_use {
    uint32_t thread, lock;
    bool shared;
    uint32_t next; /* of the same lock; PT_NONE: the last */
    struct deadlocks_section *sections;
    uint32_t count;
    size_t cap;
    uint32_t cursor; /* of the closure: sections before it are in the set */
};

struct deadlocks_lock {
    uint32_t uses;                  /* the first of them; PT_NONE: none yet */
    bool contested;                 /* several threads use it */
    uint32_t writer, writer_events; /* who has it for itself now; PT_NONE: nobody */
};

struct deadlocks_held {
    uint32_t lock, use, depth;
    bool shared;
};

struct deadlocks_thread {
    struct pt_hb_thread hb; /* its clock is the number of its next event that counts; its past what that needs */
    bool begun;
    struct deadlocks_held *held;
    uint32_t held_count;
    size_t held_cap;
    /* That it is blocked now, by its latest event. */
    uint32_t blocked_on; /* a lock; PT_NONE: it is not */
    uint32_t blocked_loc, blocked_stack;
    uint64_t blocked_at;
};

/* One time that a thread took the lock of an acquire. */
struct deadlocks_instance {
    uint64_t number;     /* in its thread */
    uint64_t event;      /* of the trace */
    uint64_t position;   /* in `kept` */
    struct pt_vec *past; /* what it needs of others */
    uint32_t loc, stack;
};
struct deadlocks_node {
    struct deadlocks_instance *instances;
    uint64_t count;
    size_t cap;
    uint64_t cursor; /* of the closure */
};

struct deadlocks {
    const struct pt_names *names;
    struct pt_check_options options;
    struct pt_race_memory memory;
    struct races_pool pool;
    uint64_t started;

    struct deadlocks_thread *threads;
    size_t thread_cap;
    uint32_t thread_count;
    struct deadlocks_lock *locks;
    size_t lock_cap;
    struct pt_map64 use_index; /* by lock, thread and kind */
    struct deadlocks_use *uses;
    uint32_t use_count;
    size_t use_cap;
    struct pt_hb_sync *vars; /* the latest write of each */
    size_t var_cap;
    struct pt_hb_sync *others;
    size_t other_cap;
    struct pt_value *stacks; /* texts */
    size_t stack_cap;

    uint64_t events, acquisitions;
    struct deadlocks_event *kept;
    uint64_t kept_count;
    size_t kept_cap;
    struct pt_patterns patterns;
    struct deadlocks_cycle {
        struct pt_acquire **members; /* each waits for the next */
        uint32_t count;
    } * cycles;
    uint32_t cycle_count;
    size_t cycle_cap;
    size_t node_bytes, section_bytes;

    uint64_t *ideal;     /* of the closure: how many events of each thread are in the set */
    const char *unknown; /* why the answer is not whole; NULL */
    bool stopped;        /* nothing more is looked at */
    bool lacking;        /* because the trace does not have what deadlocks need */
    size_t peak;

    struct pt_finding *finding;
    uint32_t witness_count; /* of findings that have one */
    struct pt_map64 known;  /* indices of findings, by their places and locks */
};

/* Whether a run of the same events, each lock's sections in their order, gets to a state in which all threads of the
 * pattern are next to block: then the cursors are at the instances, and `ideal` is that state. */
bool pt_deadlocks_close(struct deadlocks *d, const struct deadlocks_cycle *cycle);
/* Whether the run that takes so many events of each thread, as the recorded one has them, is a possible one and ends
 * with each of the cycle blocked by the next. Shares nothing with the closure. */
bool pt_deadlocks_replay(const struct deadlocks *d, const struct deadlocks_cycle *cycle, const uint64_t *upto);
/* The pattern is a deadlock, at the instances of the cursors. */
void pt_deadlocks_predicted(struct deadlocks *d, const struct deadlocks_cycle *cycle);
/* These threads are blocked at the end of the recorded run, each by the next. */
void pt_deadlocks_observed(struct deadlocks *d, const uint32_t *threads, uint32_t count);

#endif
