/* What a program's own checks found in a run, as findings; names are those of its debug information. */
#ifndef PT_CLI_EXPLORE_FOUNDS_H
#define PT_CLI_EXPLORE_FOUNDS_H

#include "engine/found.h"
#include "explore/story.h"

struct pt_explore_founds {
    struct pt_founds *all;   /* NULL: nothing was found */
    struct pt_result result; /* a finding for each check that found something; they live as long as `all` */
};

/* `first`: 1 + the index of the report that is told first, 0: any; `alone`: and no other. Only of `checks` (1 << enum
 * pt_found_check, or-ed). */
void pt_explore_founds_read(const struct pt_explore_names *names, const struct pt_explore_outcome *outcome,
                            uint32_t checks, uint32_t first, bool alone, struct pt_explore_founds *ret_founds);
void pt_explore_founds_release(struct pt_explore_founds *founds);
/* That of the check that made this report; NULL: it could not be described. */
struct pt_finding *pt_explore_founds_of(const struct pt_explore_founds *founds, const struct pt_explore_report *report);

/* A number for what was found that neither comments nor other lines change: by the functions, files and variables of
 * its sides, whichever came first. Never 0. */
uint64_t pt_explore_report_key(const struct pt_explore_report *report);

#endif
