/*
 * Plays many runs of the order `sync` at once, by the definition of possible runs alone, as replay.h does with one:
 * findings come by the thousand, and the recorded events are gone through once for 512 of them.
 */
#ifndef PT_PREDICT_REPLAYS_H
#define PT_PREDICT_REPLAYS_H

#include "base/table.h"
#include "predict/log.h"

enum { PT_REPLAYS = 512, PT_REPLAYS_WORDS = PT_REPLAYS / 64 }; /* at a time */

/* Some of them, a bit for each. */
struct pt_replays_bits {
    uint64_t at[PT_REPLAYS_WORDS];
};

/* So many events of each thread, in their recorded order. */
struct pt_replays_run {
    const uint64_t *upto;
    const uint32_t *asked; /* the threads whose next events will be asked for */
    uint32_t asked_count;
};

struct pt_replays {
    const struct pt_replays_run *runs;
    uint32_t count, thread_count;
    struct pt_replays_bits impossible; /* runs in which some event could not happen */
    uint64_t left; /* events of threads, and next events that are asked for, that are still to come */
    struct pt_replays_thread {
        uint64_t seen;                   /* its events so far */
        uint64_t least;                  /* how many events the shortest of `in` has */
        uint64_t most;                   /* of all runs */
        uint64_t *order;                 /* the runs by how many events they have; NULL: the shortest was not passed */
        uint32_t passed;                 /* of those */
        bool forked;                     /* there was its fork */
        struct pt_replays_bits in;       /* runs that have all its events so far */
        struct pt_replays_bits unforked; /* runs without its fork */
    } * threads;
    /* Runs in which the last write, or all operations, or the last alloc and free, are those of the recorded run. */
    struct pt_replays_object {
        struct pt_replays_bits differs;
    } * vars, *others;
    struct pt_replays_block {
        struct pt_replays_object made, freed;
    } * blocks;
    struct pt_replays_lock {
        struct pt_replays_bits owned; /* runs in which somebody has it for itself */
        uint32_t readers;             /* the first of `had` that has ever shared it, plus 1 */
    } * locks;
    size_t var_cap, other_cap, block_cap, lock_cap;
    struct pt_map64 index; /* of `had`, by thread and lock */
    struct pt_replays_had {
        struct pt_replays_bits alone, shared; /* runs in which the thread has the lock */
        uint32_t depth;                       /* how often, where its events are taken */
        uint32_t next;                        /* reader of the lock, plus 1 */
        bool reader;
    } * had;
    uint32_t had_count;
    size_t had_cap;
    struct pt_log_event *next; /* of each run, of each thread that is asked for; its `event` is 0: there is none */
    uint32_t *first_next;      /* of each run */
};

/* Plays them, PT_REPLAYS at most. pt_replays_end is to be called afterwards. */
void pt_replays_play(struct pt_replays *replays, const struct pt_log *log, const struct pt_replays_run *runs,
                     uint32_t count, uint32_t threads);
void pt_replays_end(struct pt_replays *replays);

bool pt_replays_possible(const struct pt_replays *replays, uint32_t run);
/* After a possible run: the next event of a thread that was asked for, NULL: it has none; and whether it has the lock,
 * alone or at all. */
const struct pt_log_event *pt_replays_next(const struct pt_replays *replays, uint32_t run, uint32_t thread);
bool pt_replays_has(const struct pt_replays *replays, uint32_t run, uint32_t thread, uint32_t lock, bool alone);

#endif
