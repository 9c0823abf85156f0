/*
 * Races in the order `sync`, all of them (SyncP, prediction.md 3.3), as the run is followed: two accesses of which a
 * closed set (trf.h) contains all that both need and neither of them.
 */
#ifndef PT_PREDICT_SYNCP_H
#define PT_PREDICT_SYNCP_H

#include "predict/trf.h"

/* The accesses of a variable by one thread at one place, with the same locks. */
struct pt_syncp_group {
    uint32_t var, thread, loc;
    uint32_t life;     /* of the variable */
    uint32_t locks;    /* a set of `lock_sets`; PT_NONE: none */
    uint16_t from, to; /* the bytes it touches; to is 0: all */
    uint8_t op;
    bool reads, writes, atomic;
    uint32_t slot;   /* among its variable's */
    uint64_t region; /* of the latest access */
    struct pt_syncp_access {
        uint64_t number; /* in its thread */
        struct pt_vec *past;
    } * accesses; /* of each region the last one */
    uint32_t count;
    size_t cap;
    uint64_t *tried; /* by the other's slot: up to where its accesses do not race with the next ones of this one;
                        UINT64_MAX: none does, or one was found */
    size_t tried_cap;
    uint32_t tried_count;
    uint32_t open; /* how many of them are less than that */
};

struct pt_syncp_var {
    struct pt_syncp_slot {
        uint64_t last; /* access of the group, its number */
        uint32_t thread, group;
        uint32_t mark; /* of the group's description */
    } * slots;
    uint32_t count;
    size_t cap;
    uint32_t recent; /* the group of the latest access, plus 1 */
    uint32_t life;   /* how often its memory was allocated */
    uint32_t next;   /* of its block, plus 1 */
    bool begun, shared;
};

/* A race: the first of its two groups. `set`: of each thread, the events of the run after which both are next. */
struct pt_syncp_race {
    const struct pt_syncp_group *first, *second;
    uint64_t first_number, second_number;
    const uint64_t *set;
};

/* Returns whether no more of these two groups are wanted. */
typedef bool pt_syncp_found(void *context, const struct pt_syncp_race *race);

struct pt_syncp {
    struct pt_trf *trf;
    pt_syncp_found *found;
    void *context;
    struct pt_syncp_var *vars;
    size_t var_cap;
    struct pt_map64 index; /* of groups that are not among the first of their variable */
    uint32_t *lately;      /* groups that were used not long ago, plus 1, by their descriptions */
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
    size_t set_cap, both_cap;
    size_t bytes;      /* of accesses and slots */
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
