/*
 * Steering: schedules in which two steps of an earlier run come the other way round. Of every run that is not too long,
 * all pairs of steps that race (causes.h) are candidates: what came before the first one, then what the second needs
 * that does not need the first, then the second. A pair is known by its places and kinds, and tried a few times, first
 * with the second thread going on, then at random. What somebody else predicts is added with pt_explore_steer_add, and
 * tried first. Guarantee: none but that each plan's prefix keeps the order of steps that depend on each other, but for
 * the pair. Cost: quadratic in the steps of a run.
 */
#include <stdlib.h>
#include <string.h>

#include "core/explore_depend.h"
#include "explore/causes.h"
#include "explore/steer.h"

enum { STEPS_MOST = 2000, PAIRS_MOST = 4096, TRIES = 3 };

struct candidate {
    struct pt_explore_stretch *prefix;
    uint32_t count;
    uint32_t tries; /* of its pair, before this one */
};

struct steer {
    struct pt_explore_tactic tactic; /* first */
    struct pt_explore_base base;
    struct pt_explore_causes causes;
    struct pt_map64 pairs; /* how often each was made a candidate */
    struct candidate *queue;
    uint32_t count, first;
    size_t cap;
    uint64_t made;
    bool begun;
};

static void put_step(struct candidate *candidate, size_t *cap, const struct pt_explore_step *step)
{
    uint32_t who = pt_explore_choice(step);
    if (candidate->count && (candidate->prefix[candidate->count - 1].who & ~PT_EXPLORE_HANDLES) == who) {
        candidate->prefix[candidate->count - 1].steps++;
        return;
    }
    struct pt_explore_stretch stretch = {who, 1};
    PT_PUSH(candidate->prefix, candidate->count, *cap, stretch);
}

/* `j` may be the number of the steps: a thread that was about to do `step` when the run was over. */
static void add_pair(struct steer *s, uint32_t i, uint32_t j, const struct pt_explore_step *step)
{
    const struct pt_explore_causes *c = &s->causes;
    uint64_t key = pt_mix64(pt_explore_spot(s->base.places, c->steps[i].place)->key ^
                            pt_mix64(pt_explore_spot(s->base.places, step->place)->key + step->kind));
    uint32_t *tries = pt_map64_at(&s->pairs, key);
    if (*tries == PT_NONE)
        *tries = 0;
    if (*tries >= TRIES || s->count - s->first >= PAIRS_MOST)
        return;
    struct candidate candidate = {.tries = (*tries)++};
    size_t cap = 0;
    for (uint32_t k = 0; k < i; k++)
        put_step(&candidate, &cap, &c->steps[k]);
    for (uint32_t k = i + 1; k < j && k < c->count; k++)
        if (!pt_explore_causes_before(c, i, k))
            put_step(&candidate, &cap, &c->steps[k]);
    put_step(&candidate, &cap, step);
    PT_PUSH(s->queue, s->count, s->cap, candidate);
}

static void learn(struct pt_explore_tactic *tactic, const struct pt_explore_plan *plan,
                  const struct pt_explore_outcome *o)
{
    struct steer *s = (struct steer *)tactic;
    (void)plan;
    if (!pt_explore_outcome_counts(o) || !o->steps || o->step_count > STEPS_MOST)
        return;
    pt_explore_causes_count(&s->causes, o);
    for (uint32_t j = 0; j < s->causes.count; j++)
        for (uint32_t i = j; i-- > 0;)
            if (pt_explore_causes_race(&s->causes, i, j, &o->steps[j], s->causes.before[j]))
                add_pair(s, i, j, &o->steps[j]);
}

static uint32_t next(struct pt_explore_tactic *tactic, struct pt_explore_plan *ret_plans, uint32_t most)
{
    struct steer *s = (struct steer *)tactic;
    uint32_t count = 0;
    while (count < most) {
        struct pt_explore_plan plan = {.input = s->base.input, .by = tactic->name};
        plan.input.wishes |= PT_EXPLORE_LOGS;
        plan.input.seed = pt_mix64(s->base.seed ^ pt_mix64(++s->made << 8 | 0xff));
        plan.input.strategy = PT_EXPLORE_FIRST;
        if (s->first < s->count) {
            struct candidate *candidate = &s->queue[s->first++];
            plan.prefix = candidate->prefix;
            plan.input.prefix_count = candidate->count;
            if (candidate->tries)
                plan.input.strategy = PT_EXPLORE_RANDOM;
        } else if (s->begun) { /* runs of other kinds give new pairs */
            plan.input.strategy = PT_EXPLORE_RANDOM;
        }
        ret_plans[count++] = plan;
        if (!s->begun)
            break;
    }
    s->begun = true;
    return count;
}

uint32_t pt_explore_steer_waiting(const struct pt_explore_tactic *tactic)
{
    const struct steer *s = (const struct steer *)tactic;
    return s->count - s->first;
}

void pt_explore_steer_put(struct pt_explore_tactic *tactic, const struct pt_explore_stretch *stretches, uint32_t count)
{
    struct steer *s = (struct steer *)tactic;
    struct candidate candidate = {.prefix = pt_xmalloc((count + 1) * sizeof *stretches), .count = count};
    memcpy(candidate.prefix, stretches, count * sizeof *stretches);
    if (s->first) {
        s->queue[--s->first] = candidate;
        return;
    }
    PT_PUSH(s->queue, s->count, s->cap, candidate);
    memmove(s->queue + 1, s->queue, (s->count - 1) * sizeof *s->queue);
    s->queue[0] = candidate;
}

static void release(struct pt_explore_tactic *tactic)
{
    struct steer *s = (struct steer *)tactic;
    for (uint32_t i = s->first; i < s->count; i++)
        free(s->queue[i].prefix);
    free(s->queue);
    pt_map64_release(&s->pairs);
    pt_explore_causes_release(&s->causes);
    free(s);
}

struct pt_explore_tactic *pt_explore_steer_tactic(const struct pt_explore_base *base)
{
    struct steer *s = pt_xcalloc(1, sizeof *s);
    s->tactic = (struct pt_explore_tactic){.name = "predict", .next = next, .learn = learn, .free = release};
    s->base = *base;
    pt_map64_init(&s->pairs);
    return &s->tactic;
}
