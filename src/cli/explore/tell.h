/* A failure of a run as a finding, in the words of `explore` and `replay` alike. */
#ifndef PT_CLI_EXPLORE_TELL_H
#define PT_CLI_EXPLORE_TELL_H

#include "base/buf.h"
#include "explore/story.h"

struct pt_explore_telling {
    const struct pt_explore_names *names;
    const struct pt_explore_outcome *outcome;
    const struct pt_explore_failure *failure;
    const struct pt_explore_outcome *passing; /* a run to be shown beside it; NULL: none */
    const char *property;                     /* that is broken; NULL: it is no failure of that kind */
    const struct pt_finding *finding;         /* what a check, or the property, says of the run; NULL: nothing */
};

/* The failure as `ends` of a schedule has it: "signal 6", "race 0123456789abcdef", "property NAME". `property`: the
 * name of the one that is broken, NULL: none is. */
void pt_explore_put_end(const struct pt_explore_failure *failure, const struct pt_explore_outcome *outcome,
                        const char *property, struct pt_buf *buf);
/* Fills in all but how it was found. */
void pt_explore_tell_failure(const struct pt_explore_telling *telling, struct pt_finding *finding);
/* The step of the run in which it fails, from 1 on: that of the access, or of the event that breaks the property; 0: it
 * is its end that fails, or that step is not known. */
uint64_t pt_explore_fails_at(const struct pt_explore_telling *telling);

#endif
