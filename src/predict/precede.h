/*
 * Whether some events can come before another one that the recorded run has in another order (prediction.md 3.11): a
 * run that contains them, and after which that one is next. Uses that come after a free, reads that come after a store
 * of null, and accesses that come between two others are questions of this kind.
 */
#ifndef PT_PREDICT_PRECEDE_H
#define PT_PREDICT_PRECEDE_H

#include "predict/replay.h"
#include "predict/trf.h"

/* An event of a thread, by its number there, and what it needs of other threads. */
struct pt_precede_event {
    uint32_t thread;
    uint64_t number;
    struct pt_vec *past;
};

/* `taken` are in the run, what they read included in their pasts; `next` are not, and the next of their threads. */
struct pt_precede_question {
    const struct pt_precede_event *taken, *next;
    uint32_t taken_count, next_count;
};

/* The run that was found last (struct pt_replay_run), of the threads of `trf`. */
struct pt_precede {
    const struct pt_trf *trf; /* it knows all threads of the log, and has followed all of it, or all up to the events
                                 that are asked about; in the case of slices all */
    const struct pt_log *log;
    uint64_t *first, *upto;
    size_t cap;
};
void pt_precede_release(struct pt_precede *p);

/* A run of the order `sync`; if there is any, there is this one. The pasts are closed. */
bool pt_precede_sync(struct pt_precede *p, const struct pt_precede_question *question);
/* A run in which sections of locks change places, perhaps: predict/slices.h, which explains `pull` and `effort`. `trf`
 * is plain, and so are the pasts. */
bool pt_precede_slices(struct pt_precede *p, const struct pt_precede_question *question, bool pull, uint64_t *effort);

/* Plays the run that was found, and says whether it is an answer. Shares nothing with how it was found. Either way
 * pt_replay_end is to be called. */
bool pt_precede_judge(const struct pt_precede *p, const struct pt_precede_question *question, struct pt_replay *replay);

#endif
