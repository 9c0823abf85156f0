/* What the predictors among the built-in checks have in common. */
#ifndef PT_ENGINE_PREDICT_H
#define PT_ENGINE_PREDICT_H

#include "finding/finding.h"
#include "predict/replay.h"

enum {
    PT_WITNESS_MAX = 20000, /* steps: a longer run is replayed, too, and not shown */
    PT_WITNESSES_MAX = 100, /* findings of a check that have one */
};

/* Those of one check. */
struct pt_witnesses {
    uint32_t count;
    struct pt_unguarded *unguarded; /* of its log, made for the first */
    uint64_t log_count;
};
void pt_witnesses_release(struct pt_witnesses *witnesses);
/* False: there are so many that this finding has none. */
bool pt_witnesses_room(const struct pt_witnesses *witnesses, struct pt_finding *f);

/* The events of the run become the finding's witness, with its schedule; witness_lost: they are too many. */
void pt_predict_witness(struct pt_witnesses *witnesses, struct pt_finding *f, const struct pt_names *names,
                        const struct pt_log *log, const struct pt_replay_run *run);
/* One more at its end. */
void pt_predict_last(struct pt_finding *f, const struct pt_names *names, const struct pt_log_event *event);

/* An event of the run, and its number among those of the witness. */
struct pt_step pt_predict_step(const struct pt_names *names, const struct pt_log_event *event, uint64_t number);

#endif
