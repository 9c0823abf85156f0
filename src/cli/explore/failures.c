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
#include "core/found.h"
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

/* A run may break several properties, and end badly besides. */
static bool is_same(const struct pt_explorer *e, const struct pt_explore_failure *before,
                    const struct pt_explore_outcome *outcome)
{
    struct pt_explore_failure failure = pt_explore_failure(outcome, &e->expected, &e->places);
    if (before->kind == PT_EXPLORE_FAILS_PROPERTY)
        return outcome->broken >> before->number & 1;
    return failure.kind == before->kind && failure.key == before->key;
}

static bool shrinks_same(void *context, const struct pt_explore_outcome *outcome)
{
    const struct shrinking *s = context;
    return is_same(s->explorer, s->failure, outcome);
}

/* Once more, as it was. What it was then counts: it may have steps that the first one had not written. */
static bool reproduce(struct pt_explorer *e, struct pt_explore_seen *seen)
{
    struct pt_explore_outcome again;
    if (!pt_explorer_again(e, seen, NULL, &again))
        return false;
    bool same = is_same(e, &seen->failure, &again) && !again.result.diverged_at;
    if (same) {
        pt_explore_outcome_release(&seen->outcome);
        seen->outcome = again;
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

/* What the program's own checks saw, and what a property says, is told by a recording of the same run. */
static void record(struct pt_explorer *e, struct pt_explore_seen *seen)
{
    struct pt_explore_reading reading = {0};
    struct pt_explore_outcome again;
    if (seen->failure.kind == PT_EXPLORE_FAILS_RACE)
        reading.checks = 1u << PT_FOUND_RACE;
    else if (seen->failure.kind == PT_EXPLORE_FAILS_LIFETIME)
        reading.checks = 1u << PT_FOUND_LIFETIME;
    else if (seen->failure.kind == PT_EXPLORE_FAILS_PROPERTY)
        reading.properties = e->properties;
    else
        return;
    char *path = pt_explore_recorded_name(PT_EXPLORE_JOBS);
    if (pt_explorer_again(e, seen, path, &again)) {
        struct pt_explore_recorded *recorded = pt_explore_recorded_read(path, &reading);
        uint32_t index = reading.properties ? (uint32_t)seen->failure.number : 0;
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
    if (seen->reproduced)
        record(e, seen);
    e->places.limit = UINT32_MAX;
}

void pt_explorer_settle(struct pt_explorer *e)
{
    for (uint32_t i = 0; i < e->seen_count && !pt_interrupted(); i++)
        if (!pt_explore_is_wild(&e->seen[i]))
            settle_one(e, &e->seen[i]);
}
