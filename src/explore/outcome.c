/*
 * Whether a run failed, and how. Failures are the same if what happened is the same: the signal and the place where the
 * thread was, the exit status, the set of places where threads wait, the finding of a check, the property. A run may
 * have several: what its process did comes before what its checks found, and that before the properties that it broke.
 * Cost: linear in the threads and reports.
 */
#include "explore/outcome.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "core/found.h"
#include "explore/places.h"

#define PT_EXPLORE_FAILURE_WORD(name, word) word,
const char *const pt_explore_failure_words[PT_EXPLORE_FAILURE_COUNT] = {PT_EXPLORE_FAILURES(PT_EXPLORE_FAILURE_WORD)};
#undef PT_EXPLORE_FAILURE_WORD

void pt_explore_plan_release(struct pt_explore_plan *plan)
{
    free(plan->prefix);
    plan->prefix = NULL;
    plan->input.prefix_count = 0;
}

void pt_explore_outcome_release(struct pt_explore_outcome *outcome)
{
    free(outcome->taken);
    free(outcome->steps);
    free(outcome->threads);
    free(outcome->output);
    free(outcome->met);
    for (uint32_t i = 0; i < outcome->report_count; i++)
        free(outcome->reports[i].text);
    free(outcome->reports);
    *outcome = (struct pt_explore_outcome){0};
}

static void *copy(const void *from, size_t count, size_t size)
{
    if (!from)
        return NULL;
    void *to = pt_xmalloc(count * size + 1);
    if (count)
        memcpy(to, from, count * size);
    return to;
}

void pt_explore_outcome_copy(const struct pt_explore_outcome *o, struct pt_explore_outcome *ret_copy)
{
    *ret_copy = *o;
    ret_copy->taken = copy(o->taken, o->taken_count, sizeof *o->taken);
    ret_copy->steps = copy(o->steps, o->step_count, sizeof *o->steps);
    ret_copy->threads = copy(o->threads, o->thread_count, sizeof *o->threads);
    ret_copy->met = copy(o->met, o->met_count, sizeof *o->met);
    ret_copy->output = o->output ? pt_xstrdup(o->output) : NULL;
    ret_copy->reports = copy(o->reports, o->report_count, sizeof *o->reports);
    for (uint32_t i = 0; i < o->report_count; i++)
        ret_copy->reports[i].text = copy(o->reports[i].text, o->reports[i].bytes, 1);
}

/* While libc ends a thread, the one that is next waits for that: what happens then is the first one's. */
static uint32_t who_runs(const struct pt_explore_outcome *outcome)
{
    if (outcome->result.leaving && outcome->result.leaving <= outcome->thread_count)
        return outcome->result.leaving - 1;
    for (uint32_t i = 0; i < outcome->thread_count; i++)
        if (outcome->threads[i].state == PT_EXPLORE_RUNS)
            return i;
    return PT_EXPLORE_NO_SLOT;
}

uint32_t pt_explore_circle(const struct pt_explore_outcome *outcome, uint32_t ret_slots[PT_EXPLORE_THREADS])
{
    for (uint32_t from = 0; from < outcome->thread_count; from++) {
        uint32_t count = 0, at = from;
        while (at < outcome->thread_count && outcome->threads[at].state == PT_EXPLORE_BLOCKED &&
               count < PT_EXPLORE_THREADS) {
            ret_slots[count++] = at;
            at = outcome->threads[at].owner;
            if (at == from)
                return count;
        }
    }
    return 0;
}

/* Of all who wait, whatever their order. */
static uint64_t key_of_waits(const struct pt_explore_outcome *outcome, const struct pt_explore_places *places)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < outcome->thread_count; i++) {
        const struct pt_explore_thread *thread = &outcome->threads[i];
        if (thread->state == PT_EXPLORE_BLOCKED || thread->state == PT_EXPLORE_READY)
            sum += pt_mix64(pt_explore_spot(places, thread->place)->key ^ pt_mix64(thread->kind + 1));
    }
    return sum;
}

static struct pt_explore_failure make(enum pt_explore_failure_kind kind, int number, uint32_t thread, uint64_t more)
{
    return (struct pt_explore_failure){.kind = kind,
                                       .number = number,
                                       .thread = thread,
                                       .key = pt_mix64(more ^ pt_mix64((uint64_t)kind << 32 | (uint32_t)number))};
}

static struct pt_explore_failure of_process(const struct pt_explore_outcome *outcome,
                                            const struct pt_explore_expected *expected,
                                            const struct pt_explore_places *places)
{
    int status = (int)outcome->wait_status;
    uint32_t thread = who_runs(outcome);
    if (outcome->result.end == PT_EXPLORE_BODY || outcome->wait_status == PT_EXPLORE_RETURNED)
        return (struct pt_explore_failure){0};
    if (WIFSIGNALED(status)) {
        uint32_t place = thread < outcome->thread_count ? outcome->threads[thread].place : 0;
        return make(PT_EXPLORE_FAILS_SIGNAL, WTERMSIG(status), thread, pt_explore_spot(places, place)->key);
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) == expected->status)
        return (struct pt_explore_failure){0};
    struct pt_explore_failure failure = make(PT_EXPLORE_FAILS_STATUS, WEXITSTATUS(status), thread, 0);
    failure.ordinary = expected->status;
    failure.measured = expected->measured;
    return failure;
}

struct pt_explore_failure pt_explore_broken(uint32_t property)
{
    return make(PT_EXPLORE_FAILS_PROPERTY, (int)property, PT_EXPLORE_NO_SLOT, 0);
}

bool pt_explore_outcome_is_held(const struct pt_explore_outcome *outcome)
{
    const uint32_t strangers = PT_EXPLORE_ESCAPES | 1u << PT_EXPLORE_LOST_EARLY;
    return outcome->timed_out && (outcome->result.losses & strangers || outcome->result.timers);
}

/* How it ended. */
static struct pt_explore_failure of_end(const struct pt_explore_outcome *outcome,
                                        const struct pt_explore_expected *expected,
                                        const struct pt_explore_places *places)
{
    uint32_t circle[PT_EXPLORE_THREADS];
    if (outcome->timed_out)
        return make(PT_EXPLORE_FAILS_TIMEOUT, 0, who_runs(outcome), 0);
    switch (outcome->result.end) {
    case PT_EXPLORE_STUCK:
        return make(pt_explore_circle(outcome, circle) ? PT_EXPLORE_FAILS_DEADLOCK : PT_EXPLORE_FAILS_STUCK, 0,
                    PT_EXPLORE_NO_SLOT, key_of_waits(outcome, places));
    case PT_EXPLORE_LIVELOCK:
        return make(PT_EXPLORE_FAILS_LIVELOCK, 0, PT_EXPLORE_NO_SLOT, key_of_waits(outcome, places));
    case PT_EXPLORE_RUNNING:
    case PT_EXPLORE_BODY:
        return of_process(outcome, expected, places);
    default: /* LIMIT and FULL say nothing */
        return (struct pt_explore_failure){0};
    }
}

/* What a check of this kind has found. */
static uint32_t add_found(const struct pt_explore_outcome *outcome, enum pt_found_check check,
                          struct pt_explore_failure *ret_failures)
{
    static const enum pt_explore_failure_kind kinds[] = {[PT_FOUND_RACE] = PT_EXPLORE_FAILS_RACE,
                                                         [PT_FOUND_DEADLOCK] = PT_EXPLORE_FAILS_DEADLOCK,
                                                         [PT_FOUND_LIFETIME] = PT_EXPLORE_FAILS_LIFETIME};
    uint32_t count = 0;
    for (uint32_t i = 0; i < outcome->report_count && i < PT_EXPLORE_REPORTS; i++) {
        if (outcome->reports[i].check != check)
            continue;
        ret_failures[count] = make(kinds[check], 0, PT_EXPLORE_NO_SLOT, outcome->reports[i].key);
        ret_failures[count++].report = i + 1;
    }
    return count;
}

uint32_t pt_explore_failures(const struct pt_explore_outcome *outcome, const struct pt_explore_expected *expected,
                             const struct pt_explore_places *places,
                             struct pt_explore_failure ret_failures[PT_EXPLORE_FAILURES_MAX])
{
    static const enum pt_found_check order[] = {PT_FOUND_DEADLOCK, PT_FOUND_LIFETIME, PT_FOUND_RACE};
    uint32_t count = 0;
    if (!pt_explore_outcome_counts(outcome))
        return 0;
    bool held = pt_explore_outcome_is_held(outcome);
    struct pt_explore_failure end = of_end(outcome, expected, places);
    if (!held && end.kind != PT_EXPLORE_FAILS_NONE)
        ret_failures[count++] = end;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (expected->checks >> order[i] & 1)
            count += add_found(outcome, order[i], ret_failures + count);
    for (uint32_t i = 0; i < 64; i++)
        if (outcome->broken >> i & 1)
            ret_failures[count++] = pt_explore_broken(i);
    return count;
}

struct pt_explore_failure pt_explore_failure(const struct pt_explore_outcome *outcome,
                                             const struct pt_explore_expected *expected,
                                             const struct pt_explore_places *places)
{
    struct pt_explore_failure failures[PT_EXPLORE_FAILURES_MAX];
    if (pt_explore_failures(outcome, expected, places, failures))
        return failures[0];
    return (struct pt_explore_failure){0};
}
