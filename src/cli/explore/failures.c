/*
 * What is done with each failure that was seen: its schedule is run again, exactly; if it fails in the same way it is
 * shrunk, and what is left is run again, too. What does not fail again is kept as it was seen, and said to be so.
 * Guarantee: "reproduced" means that the schedule that is shown failed in the same way at least twice. Cost: at most
 * SHRINKS runs each, or a few seconds.
 *
 * What is shared may have grown since the run that failed: then its steps are no longer those of the schedule. So runs
 * here share what was shared then, and no more.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/common/interrupt.h"
#include "cli/explore/recorded.h"
#include "explore/shrink.h"

enum { SHRINKS = 400 };
#define SHRINK_TIME UINT64_C(5000000000) /* nanoseconds, for one failure */

struct shrinking {
    struct pt_explorer *explorer;
    const struct pt_explore_failure *failure;
    uint64_t until;
};

static bool run_again(void *context, const struct pt_explore_plan *plan, struct pt_explore_outcome *ret_outcome)
{
    struct shrinking *s = context;
    return !pt_interrupted() && pt_progress_now() <= s->until &&
           pt_explorer_one(s->explorer, plan, s->failure, ret_outcome);
}

static void keep_passed(void *context, const struct pt_explore_outcome *outcome)
{
    struct shrinking *s = context;
    if (pt_explore_outcome_counts(outcome) && pt_explore_outcome_is_whole(outcome))
        pt_explore_passed_add(&s->explorer->passed, outcome);
}

/* 1 + the index of the same failure in this run, which may have several: it may break properties, race, and end badly;
 * 0: it has not got it. */
static uint32_t find_same(const struct pt_explorer *e, const struct pt_explore_failure *before,
                          const struct pt_explore_outcome *outcome, struct pt_explore_failure *ret_same)
{
    struct pt_explore_failure failures[PT_EXPLORE_FAILURES_MAX];
    uint32_t count = pt_explore_failures(outcome, &e->expected, &e->places, failures);
    for (uint32_t i = 0; i < count; i++)
        if (failures[i].kind == before->kind && failures[i].key == before->key) {
            *ret_same = failures[i];
            return i + 1;
        }
    return 0;
}

static bool shrinks_same(void *context, const struct pt_explore_outcome *outcome)
{
    const struct shrinking *s = context;
    struct pt_explore_failure same;
    return find_same(s->explorer, s->failure, outcome, &same);
}

/* Once more, as it was. What it was then counts: it may have steps that the first one had not written. */
static bool reproduce(struct pt_explorer *e, struct pt_explore_seen *seen)
{
    struct pt_explore_outcome again;
    struct pt_explore_failure failure;
    if (!pt_explorer_again(e, seen, NULL, &again))
        return false;
    bool same = !again.result.diverged_at && find_same(e, &seen->failure, &again, &failure);
    if (same) {
        pt_explore_outcome_release(&seen->outcome);
        seen->outcome = again;
        seen->failure = failure;
    } else {
        pt_explore_outcome_release(&again);
    }
    return same;
}

static void shrink(struct pt_explorer *e, struct pt_explore_seen *seen)
{
    struct shrinking context = {e, &seen->failure, pt_progress_now() + SHRINK_TIME};
    struct pt_explore_base base = e->base;
    base.input.clock = seen->input.clock;
    struct pt_explore_shrink search = {.run = run_again,
                                       .passed = keep_passed,
                                       .same = shrinks_same,
                                       .context = &context,
                                       .base = &base,
                                       .runs = SHRINKS};
    pt_explore_shrink(&search, &seen->outcome);
}

/* What a property says is told by a recording of the same run. */
static void record(struct pt_explorer *e, struct pt_explore_seen *seen)
{
    struct pt_explore_reading reading = {.properties = e->properties};
    struct pt_explore_outcome again;
    char *path = pt_explore_recorded_name(PT_EXPLORE_JOBS);
    if (pt_explorer_again(e, seen, path, &again)) {
        struct pt_explore_recorded *recorded = pt_explore_recorded_read(path, &reading);
        uint32_t index = (uint32_t)seen->failure.number;
        struct pt_finding *finding = index < recorded->result.count ? recorded->result.findings[index] : NULL;
        if (finding && finding->verdict == PT_VERDICT_VIOLATED)
            seen->finding = finding;
        PT_PUSH(e->recordings, e->recording_count, e->recording_cap, recorded);
        pt_explore_outcome_release(&again);
    }
    free(path);
}

static void settle_one(struct pt_explorer *e, struct pt_explore_seen *seen)
{
    e->places.limit = seen->shared;
    seen->reproduced = reproduce(e, seen);
    if (seen->reproduced && e->request->shrinks && seen->failure.kind != PT_EXPLORE_FAILS_TIMEOUT) {
        shrink(e, seen);
        seen->reproduced = reproduce(e, seen);
    }
    if (seen->reproduced && seen->failure.kind == PT_EXPLORE_FAILS_PROPERTY)
        record(e, seen);
    e->places.limit = UINT32_MAX;
}

/* What the run's own checks saw, each as a failure of its own or all beside the first. */
static void describe(struct pt_explorer *e, struct pt_explore_seen *seen)
{
    struct pt_explore_names names = pt_program_names_for(e->names, &e->places);
    uint32_t report = seen->failure.report;
    if (e->request->keep_going && !report)
        return;
    pt_explore_founds_read(&names, &seen->outcome, e->expected.checks, report, e->request->keep_going, &seen->founds);
    if (report)
        seen->finding = pt_explore_founds_of(&seen->founds, &seen->outcome.reports[report - 1]);
}

void pt_explorer_settle(struct pt_explorer *e)
{
    for (uint32_t i = 0; i < e->seen_count; i++) {
        if (!pt_explore_is_wild(&e->seen[i]) && !pt_interrupted())
            settle_one(e, &e->seen[i]);
        describe(e, &e->seen[i]);
    }
}
