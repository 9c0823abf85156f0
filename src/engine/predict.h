/* What the predictors among the built-in checks have in common. */
#ifndef PT_ENGINE_PREDICT_H
#define PT_ENGINE_PREDICT_H

#include "finding/finding.h"
#include "predict/replay.h"

enum {
    PT_WITNESS_MAX = 20000, /* steps: a longer run is replayed, too, and not shown */
    PT_WITNESSES_MAX = 100, /* findings of a check that have one */
};

/* The events of the run become the finding's witness, with its schedule; witness_lost: they are too many. */
void pt_predict_witness(struct pt_finding *f, const struct pt_names *names, const struct pt_log *log,
                        const struct pt_replay_run *run);

#endif
