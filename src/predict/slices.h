/*
 * Runs in which sections of locks come in another order than they were recorded: the two-slice witness (prediction.md
 * 3.6), for races and deadlocks. It keeps what every read saw, and puts some of the events after all others.
 */
#ifndef PT_PREDICT_SLICES_H
#define PT_PREDICT_SLICES_H

#include "predict/trf.h"

/* An event that has to be next at the end of the run. */
struct pt_slices_target {
    uint32_t thread;
    uint64_t number;
};

/* A run after which all targets are next, perhaps: predict/replay.h has to play it. `trf` is plain and has followed all
 * of the log. `pull`: the second way to keep what reads saw (slices.c). `first` and `upto` are of its threads; `upto`
 * comes with what the targets need. *effort is lowered by the events that were looked at. False: there is no run of
 * this kind, or the effort was too small. */
bool pt_slices_find(const struct pt_trf *trf, const struct pt_log *log, const struct pt_slices_target *targets,
                    uint32_t count, bool pull, uint64_t *first, uint64_t *upto, uint64_t *effort);

#endif
