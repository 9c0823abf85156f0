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
#include "explore/causes.h"
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

static void begin(struct pt_explore_recorded *r, const struct pt_explore_reading *reading)
{
    uint32_t checks = reading->checks;
    struct pt_check_options options = {.trace = "recording",
                                       .order = reading->predicts ? PT_CHECK_VALUES : PT_CHECK_ACCESS,
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
    r->property_count = pt_explore_properties_count(reading->properties);
    if (r->property_count)
        r->analysis = pt_explore_properties_begin(reading->properties, &r->names, reading->predicts);
}

void pt_explore_recorded_remove(const char *path)
{
    struct pt_buf live; /* of a program that was killed */
    pt_buf_init(&live);
    pt_buf_printf(&live, "%s.live", path);
    (void)unlink(path);
    (void)unlink(live.text);
    pt_buf_release(&live);
}

/* Initial values come before everything else. */
static enum pt_status take(struct pt_explore_recorded *r, const struct pt_explore_reading *reading,
                           const struct pt_event *event, struct pt_map64 *given, bool *begun, struct pt_err *err)
{
    enum pt_status status = PT_OK;
    if (r->analysis && event->op == PT_OP_INIT)
        *pt_map64_at(given, event->object) = 1;
    if (r->analysis && event->op != PT_OP_INIT && !*begun) {
        *begun = true;
        status = pt_explore_properties_initial(reading->properties, &r->names, given, r->analysis, err);
    }
    if (status == PT_OK && r->analysis)
        status = pt_analysis_event(r->analysis, event, err);
    return status == PT_OK ? pt_checks_event(r->checks, event, err) : status;
}

static void read_all(struct pt_explore_recorded *r, const struct pt_explore_reading *reading, const char *path,
                     struct pt_err *err)
{
    struct pt_source *source;
    struct pt_event event;
    struct pt_map64 given;
    enum pt_read got = PT_READ_ERROR;
    enum pt_status status = PT_OK;
    bool begun = false;
    pt_map64_init(&given);
    if (pt_source_open(path, &r->names, &source, err) == PT_OK) {
        while (status == PT_OK && (got = pt_source_next(source, &event, err)) == PT_READ_EVENT)
            status = take(r, reading, &event, &given, &begun, err);
        pt_source_free(source);
    }
    if (status == PT_OK && r->analysis && !begun)
        status = pt_explore_properties_initial(reading->properties, &r->names, &given, r->analysis, err);
    pt_map64_release(&given);
    r->torn = got != PT_READ_END || status != PT_OK;
}

struct pt_explore_recorded *pt_explore_recorded_read(const char *path, const struct pt_explore_reading *reading)
{
    struct pt_explore_recorded *r = pt_xcalloc(1, sizeof *r);
    struct pt_err err;
    pt_names_init(&r->names);
    begin(r, reading);
    read_all(r, reading, path, &err);
    const char *lost = r->torn ? err.message : NULL;
    if (r->analysis) {
        pt_analysis_finish(r->analysis, lost);
        r->result.findings = pt_analysis_findings(r->analysis, &r->result.count);
    }
    pt_checks_finish(r->checks, lost, &r->result);
    if (!reading->keeps)
        pt_explore_recorded_remove(path);
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
    if (*count && (list[*count - 1].who & ~PT_EXPLORE_HANDLES) == who)
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
            add_step(list, &count, pt_explore_choice(&o->steps[i]));
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

/* --- predicted violations of properties --- */

static uint32_t slot_of(const char *const *names, const char *name)
{
    for (uint32_t i = 0; names[i]; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return PT_EXPLORE_NO_SLOT;
}

static bool may_be_relevant(const struct pt_explore_step *step)
{
    return step->kind == PT_EXPLORE_STORE || step->kind == PT_EXPLORE_ATOMIC_STORE ||
           step->kind == PT_EXPLORE_ATOMIC_UPDATE || step->kind == PT_EXPLORE_USER;
}

/* The thread's next step behind `from` that is this event; UINT32_MAX: there is none. */
static uint32_t next_event(const struct pt_explore_outcome *o, const struct pt_explore_places *places, uint32_t slot,
                           uint32_t from, const char *loc)
{
    char text[4200];
    for (uint32_t i = from; i < o->step_count; i++) {
        const struct pt_explore_spot *spot = pt_explore_spot(places, o->steps[i].place);
        if (o->steps[i].who != slot || !may_be_relevant(&o->steps[i]))
            continue;
        snprintf(text, sizeof text, "%s:%u", spot->file, spot->line);
        if (strcmp(text, loc) == 0)
            return i;
    }
    return UINT32_MAX;
}

struct pt_explore_stretch *pt_explore_recorded_bring(const struct pt_finding *finding,
                                                     const struct pt_explore_outcome *o,
                                                     const struct pt_explore_names *names, uint32_t *ret_count)
{
    struct pt_explore_causes causes = {0};
    struct pt_arena arena;
    uint32_t from[PT_EXPLORE_THREADS] = {0}, count = 0;
    pt_arena_init(&arena);
    const char *const *threads = pt_explore_thread_names(names, o, &arena);
    struct pt_explore_stretch *list = pt_xcalloc((size_t)o->step_count + 1, sizeof *list);
    bool *taken = pt_xcalloc((size_t)o->step_count + 1, sizeof *taken);
    pt_explore_causes_count(&causes, o);
    for (uint32_t w = 0; w < finding->witness_count; w++) {
        uint32_t slot = slot_of(threads, finding->witness[w].thread);
        uint32_t step = slot == PT_EXPLORE_NO_SLOT
                            ? UINT32_MAX
                            : next_event(o, names->places, slot, from[slot], finding->witness[w].loc);
        if (step == UINT32_MAX) /* no step: of the time before there were several threads */
            continue;
        for (uint32_t i = 0; i <= step; i++) {
            if (taken[i] || !pt_explore_causes_before(&causes, i, step))
                continue;
            taken[i] = true;
            add_step(list, &count, pt_explore_choice(&o->steps[i]));
        }
        from[slot] = step + 1;
    }
    pt_explore_causes_release(&causes);
    pt_arena_release(&arena);
    free(taken);
    if (!count) {
        free(list);
        return NULL;
    }
    *ret_count = count;
    return list;
}

uint64_t pt_explore_recorded_step(const struct pt_finding *finding, const struct pt_explore_outcome *o,
                                  const struct pt_explore_names *names)
{
    struct pt_arena arena;
    uint32_t from[PT_EXPLORE_THREADS] = {0}, step = UINT32_MAX;
    if (!o->steps || finding->witness_from || finding->witness_lost)
        return 0;
    pt_arena_init(&arena);
    const char *const *threads = pt_explore_thread_names(names, o, &arena);
    for (uint32_t w = 0; w < finding->witness_count; w++) {
        uint32_t slot = slot_of(threads, finding->witness[w].thread);
        step = slot == PT_EXPLORE_NO_SLOT ? UINT32_MAX
                                          : next_event(o, names->places, slot, from[slot], finding->witness[w].loc);
        if (step != UINT32_MAX)
            from[slot] = step + 1;
    }
    pt_arena_release(&arena);
    return step == UINT32_MAX ? 0 : (uint64_t)step + 1;
}
