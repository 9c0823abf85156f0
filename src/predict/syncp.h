/*
 * Races in the order `sync`, all of them (SyncP, prediction.md 3.3), as the run is followed: two accesses of which a
 * closed set (trf.h) contains all that both need and neither of them.
 */
#ifndef PT_PREDICT_SYNCP_H
#define PT_PREDICT_SYNCP_H

#include "predict/trf.h"

/* The accesses of a variable by one thread at one place, with the same locks: a cache line, for which every access
 * waits. */
struct pt_syncp_group {
    uint32_t var, thread, loc;
    uint32_t life;     /* of the variable */
    uint32_t locks;    /* a set of `lock_sets`; PT_NONE: none */
    uint16_t from, to; /* the bytes it touches; to is 0: all */
    uint8_t op;
    bool atomic;
    uint8_t room;    /* for so many accesses, as a power of two; 0: none */
    uint8_t idle;    /* it has nobody to ask while its variable has so many groups; 0: perhaps it has */
    uint32_t slot;   /* among its variable's; PT_NONE: its thread is settled */
    uint32_t kind;   /* likewise */
    uint32_t count;  /* of accesses */
    uint64_t region; /* of the latest access */
    struct pt_syncp_access {
        uint64_t number; /* in its thread */
        struct pt_vec *past;
    } * accesses;               /* of each region the last one */
    struct pt_syncp_asks *asks; /* NULL: it has not asked any other */
};
_Static_assert(sizeof(struct pt_syncp_group) == 64, "a cache line");

/* Whom a group has still to ask of its variable, by their slots. */
struct pt_syncp_asks {
    struct pt_syncp_open {
        uint64_t tried; /* up to where its accesses do not race with the next ones of this one */
        uint32_t slot;
    } * open; /* those with which no race was found, and one may be */
    size_t cap;
    uint32_t count;
    uint32_t met;  /* of the variable's slots */
    uint32_t told; /* of the variable's, when it was looked at last */
};

/* Accesses of a variable that may race with the same others. */
struct pt_syncp_kind {
    uint32_t locks;
    uint16_t from, to;
    uint8_t op;
    bool atomic;
    bool partner;      /* there is another kind, or another access of its own, with which it may race */
    uint64_t partners; /* these, a bit each; of the first 64 kinds of a variable */
    uint64_t covered;  /* whoever may race with one of these may race with it */
    struct pt_syncp_last {
        uint64_t number;
        uint32_t thread;
    } * lasts; /* accesses that all of the kind are needed by who needs them, or others that cover it */
    uint32_t last_count;
    size_t last_cap;
};

/* An access that has not been put to its group yet: it has asked nobody, and nobody has asked it. */
struct pt_syncp_pending {
    struct pt_syncp_access access;
    uint64_t region;
    uint32_t thread, loc, locks;
    uint16_t from, to;
    uint8_t op;
    bool atomic;
};

struct pt_syncp_var {
    struct pt_syncp_slot {
        uint64_t last; /* access of the group, its number; kept where the variable is `asked` about */
        uint32_t thread, group;
        uint32_t mark; /* of the group's description */
    } * slots;
    struct pt_syncp_kind *kinds;
    uint32_t count, kind_count;
    size_t cap, kind_cap;
    struct pt_syncp_pending *pending;
    uint32_t pending_count;
    size_t pending_cap;
    uint64_t recent_region; /* of the latest access, in its thread; and its group, plus 1, if it has one by now */
    uint32_t recent_thread, recent;
    uint32_t life;      /* how often its memory was allocated */
    uint32_t next;      /* of its block, plus 1 */
    uint32_t told;      /* how often what is wanted of it became less */
    uint32_t settlings; /* of threads, when slots of those that were settled were given up last */
    bool begun;
    bool block;   /* it lies in one of memory */
    bool asked;   /* some kind has a partner */
    bool asks;    /* some access did not need all that may race with it */
    bool crowded; /* it has too many kinds, or threads, to say what an access needs */
};

/* A race: the first of its two groups. `set`: of each thread, the events of the run after which both are next; of
 * settled ones pt_trf_complete has to say it. */
struct pt_syncp_race {
    const struct pt_syncp_group *first, *second;
    uint64_t first_number, second_number;
    const uint64_t *set;
};

/* Returns whether no more of these two groups are wanted. */
typedef bool pt_syncp_found(void *context, const struct pt_syncp_race *race);
/* Whether a race of these two groups is wanted; asked of each two that may have one, again when their variable's `told`
 * has grown. */
typedef bool pt_syncp_asks_for(void *context, const struct pt_syncp_group *one, const struct pt_syncp_group *other);

struct pt_syncp {
    struct pt_trf *trf;
    pt_syncp_found *found;
    pt_syncp_asks_for *asks_for; /* NULL: all are wanted */
    void *context;
    const bool *wanted; /* of each variable: it may have a race; NULL: all may */
    struct pt_syncp_var *vars;
    size_t var_cap;
    struct pt_map64 index; /* of groups that are not among the first of their variable */
    struct pt_syncp_lately {
        uint32_t mark, group; /* of a group's description; the group plus 1 */
    } * lately;               /* those that were used not long ago */
    struct pt_syncp_group *groups;
    uint32_t group_count;
    size_t group_cap;
    struct pt_strtab lock_sets; /* a set is its locks' ids, twice plus 1 if shared, ascending */
    uint32_t *alone;            /* by a lock's id as in those: the set of it alone, plus 1 */
    size_t alone_cap;
    struct pt_syncp_thread {
        uint64_t region;
        uint32_t locks;
        bool known;
    } * threads;
    size_t thread_cap;
    struct pt_syncp_block {
        uint32_t vars; /* the first, plus 1 */
        bool freed;
        struct pt_event free; /* the latest one */
        uint32_t locks;
        uint64_t region;
        struct pt_syncp_access access;
    } * blocks;
    size_t block_cap;
    uint64_t *set, *both; /* scratch */
    uint64_t *known;      /* of each thread, what all knew not long ago */
    uint64_t known_until; /* when that is looked up anew, by `taken` */
    uint64_t taken;       /* accesses that came */
    size_t known_cap;
    uint32_t *moved; /* likewise */
    size_t set_cap, both_cap, moved_cap;
    size_t bytes;      /* of accesses, slots and what was asked */
    uint32_t spare;    /* a group that is not used any more, plus 1; its `slot` is the next one */
    uint64_t accesses; /* that are kept */
    uint64_t prune_at;
    bool pruned, late; /* some were forgotten; and then a thread began that nobody forked, and may race with those */
};

/* Where `trf` is plain, what is found is each pair of accesses that may race and of which none needs the other: then
 * `set` is what they need, not closed. */
void pt_syncp_begin(struct pt_syncp *syncp, struct pt_trf *trf, pt_syncp_found *found, void *context);
void pt_syncp_end(struct pt_syncp *syncp);
size_t pt_syncp_bytes(const struct pt_syncp *syncp);

/* Each event that counts, before pt_trf_event has it. */
void pt_syncp_event(struct pt_syncp *syncp, const struct pt_event *event);

#endif
