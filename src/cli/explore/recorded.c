/*
 * A controlled run that was recorded: the same analysis as of `check`, over the same source of events. What it predicts
 * becomes schedules for later runs: the threads of a predicted race or deadlock are brought to right before what they
 * do in it, each as far as it went by itself, and then it is done. Which steps these are goes by the place in the
 * source. Guarantee: none; a schedule that cannot be followed goes on freely. Cost: that of `check`, for a short while.
 */
#include "cli/explore/recorded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/explore_depend.h"
#include "core/found.h"
#include "engine/check.h"
#include "trace/source.h"

#define EFFORT UINT64_C(100000000) /* nanoseconds, of searches in the order values */

char *pt_explore_recorded_name(uint32_t job)
{
    const char *folder = getenv("TMPDIR");
    struct pt_buf name;
    pt_buf_init(&name);
    if (access("/dev/shm", W_OK) == 0)
        folder = "/dev/shm";
    pt_buf_printf(&name, "%s/portent-explore-%ld-%u.recording", folder && *folder ? folder : "/tmp", (long)getpid(),
                  job);
    return pt_buf_take(&name);
}

static void begin(struct pt_explore_recorded *r, struct pt_analyse *analyse, uint32_t checks, bool predicts)
{
    struct pt_check_options options = {.trace = "recording",
                                       .order = predicts ? PT_CHECK_VALUES : PT_CHECK_ACCESS,
                                       .automatic = true,
                                       .near = PT_ALL,
                                       .now = pt_progress_now,
                                       .effort = EFFORT};
    const struct pt_check_kind *kinds[3];
    uint32_t count = 0;
    if (checks >> PT_FOUND_RACE & 1)
        kinds[count++] = &pt_check_races;
    if (checks >> PT_FOUND_DEADLOCK & 1)
        kinds[count++] = &pt_check_deadlocks;
    if (checks >> PT_FOUND_LIFETIME & 1)
        kinds[count++] = &pt_check_lifetimes;
    r->checks = pt_checks_new(kinds, count, &r->names, &options);
    if (analyse && analyse->input_count)
        r->analysis = pt_analysis_new(&r->names, analyse->inputs, analyse->input_count, &analyse->engine);
}

static void remove_files(const char *path)
{
    struct pt_buf live; /* of a program that was killed */
    pt_buf_init(&live);
    pt_buf_printf(&live, "%s.live", path);
    (void)unlink(path);
    (void)unlink(live.text);
    pt_buf_release(&live);
}

struct pt_explore_recorded *pt_explore_recorded_read(const char *path, struct pt_analyse *analyse, uint32_t checks,
                                                     bool predicts)
{
    struct pt_explore_recorded *r = pt_xcalloc(1, sizeof *r);
    struct pt_source *source;
    struct pt_event event;
    struct pt_err err;
    enum pt_read got = PT_READ_ERROR;
    enum pt_status status = PT_OK;
    pt_names_init(&r->names);
    begin(r, analyse, checks, predicts);
    if (pt_source_open(path, &r->names, &source, &err) == PT_OK) {
        while (status == PT_OK && (got = pt_source_next(source, &event, &err)) == PT_READ_EVENT) {
            if (r->analysis)
                status = pt_analysis_event(r->analysis, &event, &err);
            if (status == PT_OK)
                status = pt_checks_event(r->checks, &event, &err);
        }
        pt_source_free(source);
    }
    r->torn = got != PT_READ_END || status != PT_OK;
    const char *lost = r->torn ? err.message : NULL;
    if (r->analysis) {
        pt_analysis_finish(r->analysis, lost);
        r->result.findings = pt_analysis_findings(r->analysis, &r->result.count);
    }
    pt_checks_finish(r->checks, lost, &r->result);
    remove_files(path);
    return r;
}

void pt_explore_recorded_free(struct pt_explore_recorded *r)
{
    if (!r)
        return;
    pt_checks_free(r->checks);
    if (r->analysis)
        pt_analysis_free(r->analysis);
    pt_names_release(&r->names);
    free(r);
}

/* --- steering --- */

/* Step of the run that stands at this place, of a thread that is not in `taken`. */
static uint32_t find_step(const struct pt_explore_outcome *o, const struct pt_explore_places *places, const char *loc,
                          const struct pt_explore_set *taken)
{
    char text[4200];
    for (uint32_t i = 0; i < o->step_count; i++) {
        const struct pt_explore_spot *spot = pt_explore_spot(places, o->steps[i].place);
        if (!spot->file[0] || pt_explore_has(taken, o->steps[i].who))
            continue;
        snprintf(text, sizeof text, "%s:%u", spot->file, spot->line);
        if (strcmp(text, loc) == 0)
            return i;
    }
    return UINT32_MAX;
}

static void add_step(struct pt_explore_stretch *list, uint32_t *count, uint32_t who)
{
    if (*count && list[*count - 1].who == who)
        list[*count - 1].steps++;
    else
        list[(*count)++] = (struct pt_explore_stretch){who, 1};
}

/* Everybody of the finding goes to right before its step; others as far as they had gone before the first of them. Then
 * the sides are done, the last one first. */
static void steer_to(const struct pt_finding *finding, const struct pt_explore_outcome *o,
                     const struct pt_explore_places *places, struct pt_explore_tactic *tactic)
{
    uint32_t until[PT_EXPLORE_THREADS], first = UINT32_MAX, count = 0;
    struct pt_explore_set taken = {0};
    memset(until, 0xff, sizeof until);
    for (uint32_t i = 0; i < finding->side_count; i++) {
        uint32_t step = find_step(o, places, finding->sides[i].step.loc, &taken);
        if (step == UINT32_MAX)
            return;
        pt_explore_add(&taken, o->steps[step].who);
        until[o->steps[step].who] = step;
        first = step < first ? step : first;
    }
    struct pt_explore_stretch *list = pt_xcalloc((size_t)o->step_count + finding->side_count + 1, sizeof *list);
    for (uint32_t i = 0; i < o->step_count; i++) {
        uint32_t who = o->steps[i].who;
        if (pt_explore_has(&taken, who) ? i < until[who] : i < first)
            add_step(list, &count, who);
    }
    for (uint32_t slot = PT_EXPLORE_THREADS; slot-- > 0;)
        if (pt_explore_has(&taken, slot))
            add_step(list, &count, slot);
    pt_explore_steer_add(tactic, list, count);
    free(list);
}

void pt_explore_recorded_steer(const struct pt_explore_recorded *r, const struct pt_explore_outcome *outcome,
                               const struct pt_explore_places *places, struct pt_explore_tactic *tactic)
{
    for (uint32_t i = 0; i < r->result.count && outcome->steps; i++) {
        const struct pt_finding *finding = r->result.findings[i];
        if (finding->verdict != PT_VERDICT_VIOLATED || !finding->builtin)
            continue;
        if (finding->how == PT_HOW_PREDICTED)
            steer_to(finding, outcome, places, tactic);
        for (uint32_t k = 0; k < finding->more_count; k++)
            if (finding->more[k]->how == PT_HOW_PREDICTED)
                steer_to(finding->more[k], outcome, places, tactic);
    }
}
