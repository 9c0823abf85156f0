/*
 * The loop of `explore`: rounds of runs that a strategy hands out, done by the crew, learnt from in their order. The
 * first failure ends it, or all are collected. Guarantee: what is found follows from the seed, not from the number of
 * jobs, unless time ends it. Cost: the runs.
 */
#include "cli/explore/explorer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/common/diag.h"
#include "cli/common/interrupt.h"
#include "cli/common/whatis.h"
#include "cli/explore/recorded.h"
#include "cli/explore/stress.h"
#include "cli/explore/sweep.h"
#include "core/found.h"
#include "core/settings.h"

enum { ROUND = 16, SPINS = 500 };

/* --- beginning --- */

/* What the program's own checks are to look for, and nothing on its standard error. Its status stays its own. */
static void make_options(struct pt_explorer *e)
{
    const char *before = getenv(PT_OPTIONS_ENV);
    uint32_t checks = e->request->checks;
    pt_buf_init(&e->options);
    pt_buf_printf(&e->options, "%s exitcode=0 verbosity=-1 halt_on_error=0 races=%d lifetimes=%d deadlocks=0",
                  before ? before : "", (int)(checks >> PT_FOUND_RACE & 1), (int)(checks >> PT_FOUND_LIFETIME & 1));
    pt_explore_properties_calls(e->properties, &e->options);
}

static void make_base(struct pt_explorer *e)
{
    const struct pt_explore_request *request = e->request;
    struct pt_explore_input *input = &e->base.input;
    e->base = (struct pt_explore_base){
        .seed = request->seed, .places = &e->places, .preemptions = request->preemptions, .expected = &e->expected};
    input->wishes = PT_EXPLORE_LOGS | PT_EXPLORE_PINS | (request->late ? PT_EXPLORE_LATE : 0);
    input->step_limit = request->step_limit;
    input->spurious = request->spurious;
    input->spin_limit = SPINS;
    input->clock = UINT64_C(1700000000) * 1000000000; /* any time, the same in every run */
}

static struct pt_explore_tactic *make_tactic(const struct pt_explorer *e)
{
    const char *name = e->request->strategy;
    if (strcmp(name, "random") == 0)
        return pt_explore_random_tactic(&e->base, PT_EXPLORE_RANDOM);
    if (strcmp(name, "pct") == 0)
        return pt_explore_random_tactic(&e->base, PT_EXPLORE_PCT);
    if (strcmp(name, "surw") == 0)
        return pt_explore_random_tactic(&e->base, PT_EXPLORE_SURW);
    if (strcmp(name, "predict") == 0)
        return pt_explore_steer_tactic(&e->base);
    if (strcmp(name, "exhaustive") == 0)
        return pt_explore_exhaustive_tactic(&e->base);
    return pt_explore_auto_tactic(&e->base);
}

/* What schedules decide may have gone wrong in that one run already. */
static void say_ordinary(const struct pt_explore_expected *expected, bool timed_out, int status)
{
    if (timed_out)
        fprintf(stderr, "portent: a run without control did not end in time; 0 is taken for the ordinary status\n");
    else if (expected->killed)
        fprintf(stderr,
                "portent: a run without control was killed by signal %d (%s); 0 is taken for the ordinary status\n",
                WTERMSIG(status), strsignal(WTERMSIG(status)));
    else if (expected->status != 0)
        fprintf(
            stderr,
            "portent: a run without control ended with status %d, which is taken for the ordinary one; if it should "
            "not be: --expect 0\n",
            expected->status);
}

/* How the program ends when nobody interferes. */
static enum pt_status find_ordinary(struct pt_explorer *e, struct pt_err *err)
{
    const struct pt_explore_request *request = e->request;
    struct pt_explore_setup plain = e->setup;
    struct pt_explore_outcome outcome;
    e->expected.checks = request->checks | (request->predicts ? 1u << PT_FOUND_DEADLOCK : 0);
    e->expected.status = request->expected;
    enum pt_file_kind kind = pt_whatis(request->path);
    if (kind != PT_FILE_PROGRAM && kind != PT_FILE_SCRIPT && kind != PT_FILE_OBJECT)
        return pt_err_set(err, PT_EIO, "'%s' cannot be run: it is neither a program nor a script", request->path);
    if (request->expects)
        return PT_OK;
    plain.options = getenv(PT_OPTIONS_ENV);
    enum pt_status done = pt_explore_program_plain(&plain, request->run_timeout, &outcome, err);
    if (done != PT_OK)
        return done;
    int status = (int)outcome.wait_status;
    bool timed_out = outcome.timed_out;
    pt_explore_outcome_release(&outcome);
    if (!timed_out && WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return pt_err_set(err, PT_EIO, "'%s' cannot be run", request->path);
    e->expected.killed = !timed_out && WIFSIGNALED(status);
    e->expected.measured = !timed_out && !e->expected.killed;
    if (e->expected.measured)
        e->expected.status = WEXITSTATUS(status);
    if (!request->quiet && !pt_interrupted())
        say_ordinary(&e->expected, timed_out, status);
    return PT_OK;
}

/* --- runs --- */

static uint64_t hash_schedule(const struct pt_explore_outcome *o)
{
    return pt_fnv(PT_FNV_NOTHING, o->taken, o->taken_count * sizeof *o->taken);
}

static void keep_failure(struct pt_explorer *e, const struct pt_explore_failure *failure,
                         const struct pt_explore_plan *plan, const struct pt_explore_outcome *outcome)
{
    uint32_t *at = pt_map64_at(&e->by_key, failure->key);
    if (*at != PT_NONE) {
        e->seen[*at].count++;
        return;
    }
    *at = e->seen_count;
    struct pt_explore_seen seen = {
        .failure = *failure, .input = plan->input, .by = plan->by, .run = e->runs, .shared = e->shared, .count = 1};
    pt_explore_outcome_copy(outcome, &seen.outcome);
    PT_PUSH(e->seen, e->seen_count, e->seen_cap, seen);
}

/* Each property that it broke is a failure of its own, and, where all failures are asked for, so is whatever its checks
 * found. Otherwise that is told beside the first. */
static uint32_t keep_failures(struct pt_explorer *e, const struct pt_explore_plan *plan,
                              const struct pt_explore_outcome *outcome)
{
    struct pt_explore_failure failures[PT_EXPLORE_FAILURES_MAX];
    uint32_t count = pt_explore_failures(outcome, &e->expected, &e->places, failures);
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || e->request->keep_going || failures[i].kind == PT_EXPLORE_FAILS_PROPERTY)
            keep_failure(e, &failures[i], plan, outcome);
    return count;
}

void pt_explorer_count(struct pt_explorer *e, const struct pt_explore_plan *plan,
                       const struct pt_explore_outcome *outcome)
{
    if (outcome->result.end == PT_EXPLORE_REDUNDANT)
        e->redundant++;
    if (outcome->result.end == PT_EXPLORE_DIVERGED)
        e->diverged++;
    if (outcome->result.losses && !e->losses)
        e->lost_place = outcome->result.lost_place;
    e->losses |= outcome->result.losses;
    e->reads_clock |= (outcome->result.times & PT_EXPLORE_CLOCK_READ) != 0;
    e->escaped += (outcome->result.losses & PT_EXPLORE_ESCAPES) != 0;
    if (!pt_explore_outcome_counts(outcome))
        return;
    uint32_t *at = pt_map64_at(&e->schedules, hash_schedule(outcome));
    e->distinct += *at == PT_NONE && strcmp(plan->by, PT_EXPLORE_WILD) != 0;
    *at = 1;
    e->runs++;
    e->unfinished += outcome->result.end == PT_EXPLORE_LIMIT || outcome->result.end == PT_EXPLORE_FULL ||
                     pt_explore_outcome_is_held(outcome);
    if (outcome->thread_count > e->threads)
        e->threads = outcome->thread_count;
    uint32_t failures = keep_failures(e, plan, outcome);
    e->failing += failures > 0;
    if (!failures && pt_explore_outcome_is_whole(outcome))
        pt_explore_passed_add(&e->passed, outcome);
}

/* Called by jobs: places are not known yet, and only whether it fails matters. */
static bool stops(void *context, const struct pt_explore_outcome *outcome)
{
    const struct pt_explorer *e = context;
    static const struct pt_explore_spot none = {.file = "", .function = "", .variable = ""};
    struct pt_explore_places nowhere = {.spots = (struct pt_explore_spot *)(uintptr_t)&none, .spot_count = 1};
    return pt_explore_failure(outcome, &e->expected, &nowhere).kind != PT_EXPLORE_FAILS_NONE;
}

void pt_explorer_show(struct pt_explorer *e)
{
    char text[200];
    uint64_t time = pt_progress_now();
    double seconds = (double)(time - e->started) / 1e9;
    snprintf(text, sizeof text, "%" PRIu64 " runs, %.0f runs/s, %" PRIu64 " distinct schedules, %" PRIu64 " failed",
             e->runs, seconds > 0 ? (double)e->runs / seconds : 0, e->distinct, e->failing);
    pt_progress_line(&e->progress, text);
}

static enum pt_status complain_uncontrolled(const struct pt_explorer *e, struct pt_err *err)
{
    enum pt_status status = pt_err_set(
        err, PT_EINPUT, "'%s' was not under control: it is not built with this 'portent cc', or ended before main",
        e->request->path);
    pt_err_hint(err, "build it with 'portent cc' or 'portent c++', or use --stress, which needs no control");
    return status;
}

/* Where most runs get out of control, runs without any show as much, and more quickly; and where there is nothing left
 * to try because of that. Properties need control. */
static void look_for_escapes(struct pt_explorer *e, bool over)
{
    enum { MANY = 3 };
    bool most = e->escaped >= MANY && e->escaped * 2 >= e->runs;
    if (e->request->falls_back && !e->properties && (most || (over && e->escaped)))
        e->fell_back = "threads left control";
}

/* A run that was done: learnt from, and counted. */
static enum pt_status take(struct pt_explorer *e, const struct pt_explore_plan *plan, uint32_t index,
                           struct pt_explore_outcome *outcome, struct pt_err *err)
{
    if (outcome->done && !outcome->started && !outcome->timed_out) {
        if (!e->request->falls_back || e->properties || e->runs)
            return complain_uncontrolled(e, err);
        e->fell_back = "it is not built with this 'portent cc', or ended before main";
    }
    if (outcome->done && outcome->started && (e->request->keep_going || !e->seen_count)) {
        e->tactic->learn(e->tactic, plan, outcome);
        pt_explorer_read(e, plan, index, outcome);
    } else if (plan->input.record[0]) {
        pt_explore_recorded_remove(plan->input.record);
    }
    return PT_OK;
}

/* Behind the one that is asked for, which an exhaustive strategy hands out alone: so many as there are other jobs.
 * Recordings are not kept, so where properties need them there is one run at a time. */
static uint32_t run_ahead(struct pt_explorer *e, struct pt_explore_plan *plans)
{
    struct pt_explore_plan more[ROUND];
    uint32_t jobs = pt_explore_crew_jobs(e->crew), count = 1;
    if (jobs < 2 || e->properties || strcmp(plans[0].by, "exhaustive") != 0)
        return 1;
    uint32_t made = pt_explore_plans_ahead(e->tactic, more, ROUND);
    for (uint32_t i = 0; i < made; i++) {
        if (count < jobs && count < ROUND && !pt_explore_ahead_has(&e->ahead, &more[i])) {
            plans[count] = more[i];
            plans[count++].ahead = true;
        } else
            pt_explore_plan_release(&more[i]);
    }
    return count;
}

static enum pt_status do_round(struct pt_explorer *e, struct pt_explore_plan *plans, uint32_t count, struct pt_err *err)
{
    struct pt_explore_outcome outcomes[ROUND];
    uint32_t fresh = 0, runs = count;
    enum pt_status status = PT_OK;
    if (e->shared != e->places.shared_count) {
        pt_explore_passed_release(&e->passed); /* they have other steps than those from now on: nothing to compare */
        pt_explorer_predict_anew(e);
        pt_explore_ahead_clear(&e->ahead);
    }
    e->shared = e->places.shared_count;
    pt_explorer_ask(e, plans, count);
    if (count == 1 && pt_explore_ahead_take(&e->ahead, &plans[0], &outcomes[0])) {
        (void)pt_explore_places_meet(&e->places, &outcomes[0]);
    } else {
        runs = count > 1 ? count : run_ahead(e, plans);
        status = pt_explore_crew_round(e->crew, &e->places, plans, runs, e->request->keep_going ? NULL : stops, e,
                                       outcomes, &fresh, err);
    }
    pt_explore_properties_share(e->properties, &e->places);
    for (uint32_t i = 0; i < runs; i++) {
        if (status == PT_OK && i < count)
            status = take(e, &plans[i], i, &outcomes[i], err);
        else if (status == PT_OK && outcomes[i].done && outcomes[i].started && !outcomes[i].timed_out)
            pt_explore_ahead_put(&e->ahead, &plans[i], &outcomes[i]);
        pt_explore_outcome_release(&outcomes[i]);
        pt_explore_plan_release(&plans[i]);
    }
    return status;
}

/* Without control there is no end by itself. */
static bool is_enough(const struct pt_explorer *e)
{
    enum { WILD = 1000 };
    bool endless = e->request->runs == UINT64_MAX && !e->request->time;
    return e->runs >= e->request->runs || (e->fell_back && endless && e->runs - e->controlled >= WILD);
}

bool pt_explorer_goes_on(struct pt_explorer *e)
{
    e->interrupted = pt_interrupted();
    e->out_of_time = e->request->time && pt_progress_now() - e->started >= e->request->time;
    return !e->interrupted && !e->out_of_time && !is_enough(e) && (e->request->keep_going || !e->seen_count);
}

/* Which places access the variables that properties name is known once the program has run: one run that does not
 * count, so that the step is known in which the first run that does breaks one of them. Recorded as all others: a
 * function that is repeated would go on in that process otherwise. */
static enum pt_status learn_places(struct pt_explorer *e, struct pt_err *err)
{
    struct pt_explore_plan plan = {.input = e->base.input, .by = "first"};
    struct pt_explore_outcome outcome;
    uint32_t fresh;
    if (!e->properties)
        return PT_OK;
    plan.input.strategy = PT_EXPLORE_FIRST;
    pt_explorer_ask(e, &plan, 1);
    enum pt_status status = pt_explore_crew_round(e->crew, &e->places, &plan, 1, NULL, NULL, &outcome, &fresh, err);
    pt_explore_recorded_remove(plan.input.record);
    if (status != PT_OK)
        return status;
    pt_explore_outcome_release(&outcome);
    pt_explore_properties_share(e->properties, &e->places);
    return PT_OK;
}

static enum pt_status do_runs(struct pt_explorer *e, struct pt_err *err)
{
    enum pt_status status = learn_places(e, err);
    while (status == PT_OK && !e->fell_back && pt_explorer_goes_on(e)) {
        struct pt_explore_plan plans[ROUND];
        uint64_t left = e->request->runs - e->runs;
        uint32_t count = e->tactic->next(e->tactic, plans, left < ROUND ? (uint32_t)left : ROUND);
        if (count)
            status = do_round(e, plans, count, err);
        look_for_escapes(e, !count);
        if (!count)
            break;
        pt_explorer_show(e);
    }
    pt_progress_clear(&e->progress);
    e->controlled = e->runs;
    if (status == PT_OK && e->fell_back) {
        if (!e->request->quiet)
            fprintf(stderr, "portent: the other runs are without control, as with --stress, because %s\n",
                    e->fell_back);
        status = pt_explorer_stress(e, err);
    }
    return status;
}

enum pt_status pt_explorer_run(struct pt_explorer *e, const struct pt_explore_request *request, struct pt_err *err)
{
    *e = (struct pt_explorer){.request = request, .properties = request->properties};
    pt_explore_places_init(&e->places);
    pt_map64_init(&e->by_key);
    pt_map64_init(&e->schedules);
    pt_map64_init(&e->tried);
    pt_progress_init(&e->progress, request->progress);
    e->names = pt_program_names_new(request->path);
    make_options(e);
    e->setup = (struct pt_explore_setup){.path = request->path,
                                         .arguments = request->arguments,
                                         .options = e->options.text,
                                         .serves = request->serves,
                                         .interrupted = pt_interrupted};
    make_base(e);
    e->tactic = make_tactic(e);
    pt_interrupt_catch_all(); /* recordings are to be removed */
    if (request->predicts || request->properties)
        pt_explore_sweep_start();
    enum pt_status status = find_ordinary(e, err);
    if (status == PT_OK && !request->stress)
        status = pt_explore_crew_new(&e->setup, request->jobs, request->run_timeout, &e->crew, err);
    e->started = pt_progress_now();
    if (status == PT_OK)
        status = request->stress ? pt_explorer_stress(e, err) : do_runs(e, err);
    if (status == PT_OK)
        pt_explorer_settle(e);
    return status;
}

bool pt_explorer_one(struct pt_explorer *e, const struct pt_explore_plan *plan,
                     const struct pt_explore_failure *failure, struct pt_explore_outcome *ret_outcome)
{
    struct pt_explore_plan own = *plan;
    struct pt_err err;
    uint32_t fresh;
    bool judged = failure->kind == PT_EXPLORE_FAILS_PROPERTY && !own.input.record[0];
    char *path = pt_explore_recorded_name(PT_EXPLORE_JOBS);
    if (judged)
        snprintf(own.input.record, sizeof own.input.record, "%s", path);
    bool done = pt_explore_crew_round(e->crew, &e->places, &own, 1, NULL, NULL, ret_outcome, &fresh, &err) == PT_OK;
    if (!done)
        pt_explore_outcome_release(ret_outcome);
    else if (judged)
        pt_explorer_judge(e, path, false, ret_outcome);
    free(path);
    return done;
}

bool pt_explorer_again(struct pt_explorer *e, const struct pt_explore_seen *seen, const char *record,
                       struct pt_explore_outcome *ret_outcome)
{
    const struct pt_explore_outcome *outcome = &seen->outcome;
    struct pt_explore_plan plan = {.input = seen->input, .by = "replay"};
    plan.input.strategy = PT_EXPLORE_FIRST;
    plan.input.wishes = (e->base.input.wishes | PT_EXPLORE_LOGS | PT_EXPLORE_STRICT) & ~(uint32_t)PT_EXPLORE_SLEEPS;
    plan.input.sleep = (struct pt_explore_set){0};
    plan.input.prefix_count = outcome->taken_count;
    plan.input.weight_count = 0;
    snprintf(plan.input.record, sizeof plan.input.record, "%s", record ? record : "");
    plan.prefix = pt_xmalloc((outcome->taken_count + 1) * sizeof *plan.prefix);
    memcpy(plan.prefix, outcome->taken, outcome->taken_count * sizeof *plan.prefix);
    bool done = pt_explorer_one(e, &plan, &seen->failure, ret_outcome);
    pt_explore_plan_release(&plan);
    return done;
}

void pt_explorer_release(struct pt_explorer *e)
{
    for (uint32_t i = 0; i < e->seen_count; i++) {
        pt_explore_outcome_release(&e->seen[i].outcome);
        pt_explore_founds_release(&e->seen[i].founds);
        free(e->seen[i].schedule_file);
    }
    free(e->seen);
    for (uint32_t i = 0; i < e->recording_count; i++)
        pt_explore_recorded_free(e->recordings[i]);
    free(e->recordings);
    if (e->tactic)
        e->tactic->free(e->tactic);
    pt_explore_ahead_clear(&e->ahead);
    pt_explore_crew_free(e->crew);
    pt_explore_sweep_end();
    pt_explore_passed_release(&e->passed);
    pt_map64_release(&e->by_key);
    pt_map64_release(&e->schedules);
    pt_map64_release(&e->tried);
    pt_explore_places_release(&e->places);
    pt_program_names_free(e->names);
    pt_buf_release(&e->options);
}
