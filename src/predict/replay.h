/*
 * Plays a run that a prediction has found, by the definition of possible runs alone (contract section 3): no clocks, no
 * sections, nothing of how it was found.
 */
#ifndef PT_PREDICT_REPLAY_H
#define PT_PREDICT_REPLAY_H

#include "base/table.h"
#include "predict/log.h"

/* So many events of each thread in their recorded order, and after them, in their recorded order too, those up to
 * `upto` of each. first == upto, the whole run as it was recorded: one of the order `sync`; others are of `values`. */
struct pt_replay_run {
    const uint64_t *first, *upto;
    uint32_t threads;
};

struct pt_replay {
    const struct pt_log *log;
    struct pt_replay_run run;
    uint64_t *seen, *taken;    /* events of each thread, in the recorded run so far and in ours */
    struct pt_log_event *next; /* of each thread, its first event that is left out; its `event` is 0: there is none */
    bool *unforked;            /* of each thread: its fork was recorded and has not been taken */
    struct pt_replay_object {
        uint64_t recorded, here; /* what was written last, or how many operations there were, in both runs */
    } * vars, *others;
    struct pt_replay_block {
        struct pt_replay_object made, freed; /* by which events */
    } * blocks;
    struct pt_replay_lock {
        uint32_t owner, readers; /* who has it for itself, plus 1, and how many share it */
    } * locks;
    size_t var_cap, other_cap, block_cap, lock_cap;
    struct pt_map64 depth; /* how often a thread has a lock, by both */
};

/* Plays it. False: it is no possible run. Either way pt_replay_end is to be called. */
bool pt_replay_play(struct pt_replay *replay, const struct pt_log *log, const struct pt_replay_run *run);
void pt_replay_end(struct pt_replay *replay);

/* After a possible run: the thread's next event, NULL: it has none; and whether it has the lock, alone or at all. */
const struct pt_log_event *pt_replay_next(const struct pt_replay *replay, uint32_t thread);
bool pt_replay_has(const struct pt_replay *replay, uint32_t thread, uint32_t lock, bool alone);

#endif
