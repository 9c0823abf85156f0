/*
 * Lock-order patterns: who wants which lock while holding which, and the ways in which such acquisitions could wait for
 * each other in a circle. An acquire here is abstract: a thread, the lock it takes and those it holds meanwhile,
 * however often it does so.
 *
 * A pattern is a circle of acquires of different threads, of different locks, in which each wants a lock that the next
 * one holds, and no lock is held by two of them, since that one would keep them from getting there together (a gate).
 * Locks may be shared among readers: who wants one shared waits for writers alone, and a gate that both pass as readers
 * is none.
 *
 * Used by one thread at a time, by means of the caller's.
 */
#ifndef PT_DEADLOCK_PATTERNS_H
#define PT_DEADLOCK_PATTERNS_H

#include "race/vec.h"

struct pt_lock_use {
    uint64_t lock; /* its address, or a number */
    bool shared;   /* with other readers */
    uint32_t lent; /* who has it instead of the thread, a number of the caller's that tells acquires apart; 0: itself */
};

struct pt_acquire {
    uint32_t thread;
    uint32_t index; /* from 0, in the order in which they became known */
    struct pt_lock_use wants;
    uint32_t held_count;
    void *note; /* the caller's */
    struct pt_acquire *bucket, *next_wanting;
    uint64_t mark;              /* of the search that has passed here, ... */
    struct pt_acquire *pending; /* ... and what it has still to look at */
    struct pt_holding {
        struct pt_lock_use use;
        struct pt_acquire *of;
        struct pt_holding *next; /* in its bucket */
    } held[];                    /* by lock, ascending */
};

struct pt_patterns {
    const struct pt_race_memory *memory;
    uint32_t count;
    uint32_t buckets;            /* a power of two, of each of the tables; 0: none yet */
    struct pt_acquire **known;   /* by thread, lock and held locks */
    struct pt_acquire **wanting; /* by the lock that is wanted */
    struct pt_holding **holding; /* by a lock that is held */
    uint64_t searches;
};

void pt_patterns_begin(struct pt_patterns *patterns, const struct pt_race_memory *memory);
void pt_patterns_end(struct pt_patterns *patterns);
size_t pt_patterns_bytes(const struct pt_patterns *patterns);

/* The acquire of that description. `held` has each lock once, in any order, and is sorted here; it does not contain the
 * wanted one. */
struct pt_acquire *pt_patterns_take(struct pt_patterns *patterns, uint32_t thread, struct pt_lock_use wants,
                                    struct pt_lock_use *held, uint32_t held_count, bool *ret_new);

/* What a search is to do. */
struct pt_patterns_search {
    /* A pattern, each acquire waiting for the next. */
    void (*found)(void *context, struct pt_acquire *const *cycle, uint32_t count);
    /* Whether two acquires may happen at the same time; NULL: all may. */
    bool (*may_meet)(void *context, const struct pt_acquire *one, const struct pt_acquire *other);
    void *context;
    uint32_t most;  /* acquires in a pattern, at most PT_PATTERN_MAX */
    uint64_t steps; /* acquires that are looked at before it gives up */
};
enum { PT_PATTERN_MAX = 64 };

/* Every pattern that this acquire is part of, among those that are known; called for each acquire as it becomes known,
 * it finds each pattern once. False: it gave up, or a circle was longer than `most`. */
bool pt_patterns_search(struct pt_patterns *patterns, struct pt_acquire *latest,
                        const struct pt_patterns_search *search);

#endif
