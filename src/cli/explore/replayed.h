/* A run that was replayed: whether it was the same one, how it failed, and whether that is what its schedule was saved
 * for. */
#ifndef PT_CLI_EXPLORE_REPLAYED_H
#define PT_CLI_EXPLORE_REPLAYED_H

#include "cli/explore/founds.h"
#include "cli/explore/names.h"
#include "cli/explore/properties.h"
#include "explore/schedule.h"
#include "report/json_writer.h"
#include "report/style.h"

struct pt_explore_recorded;

struct pt_replayed {
    /* what there is; the caller's */
    const struct pt_explore_schedule *schedule;
    struct pt_explore_outcome *outcome;
    const struct pt_explore_places *places;
    struct pt_explore_names names;
    const struct pt_explore_properties *properties; /* NULL: none */
    const struct pt_explore_recorded *recorded;     /* what they say of it; NULL: nothing */
    /* what it is */
    uint32_t stretch; /* where it became another run; the schedule's count: nowhere */
    uint64_t step;
    bool same_values;
    struct pt_explore_failure failure; /* that which the schedule was saved for, if it has it; else its first */
    bool as_saved;
    struct pt_explore_founds founds;
    struct pt_finding *finding; /* the failure, for people; NULL: it did not fail */
};

/* Fills in the second part; released afterwards. */
void pt_replayed_judge(struct pt_replayed *replayed);
void pt_replayed_release(struct pt_replayed *replayed);

/* Which of the program's own checks are to look at it: 1 << enum pt_found_check, or-ed. */
uint32_t pt_replayed_checks(const struct pt_explore_schedule *schedule);
bool pt_replayed_is_same(const struct pt_replayed *replayed);
/* Everything that `explore` shows of such a run, then a line that compares it with the schedule. */
void pt_replayed_text(const struct pt_replayed *replayed, const struct pt_style *style, struct pt_buf *buf);
/* The members of an object. */
void pt_replayed_json(const struct pt_replayed *replayed, struct pt_json *json);

#endif
