/*
 * Runs that the program schedules by itself: at random, by priorities (PCT: Burckhardt et al., ASPLOS 2010), or weighed
 * by the steps that threads have left (SURW: Zhao et al., ASPLOS 2025). What the latter two need is learnt from earlier
 * runs: how many steps there are, and how many of them each thread has at the places of one variable, which is chosen
 * anew for each round. Guarantee: the k-th plan follows from the seed and from what was learnt before its round.
 */
#include <stdlib.h>
#include <string.h>

#include "explore/random.h"

enum { LENGTHS = 32, DEPTHS = 5, STEPS_KEPT = 1 << 16 };

struct seen_step {
    uint64_t line; /* whose */
    uint32_t place;
};

struct random_tactic {
    struct pt_explore_tactic tactic; /* first */
    struct pt_explore_base base;
    enum pt_explore_strategy_kind strategy;
    uint64_t made, rounds;
    uint64_t lengths[LENGTHS];
    uint32_t length_count;
    struct seen_step *steps; /* of the last run */
    uint32_t step_count;
    size_t step_cap;
    uint64_t lines[PT_EXPLORE_THREADS];
    uint32_t totals[PT_EXPLORE_THREADS], line_count;
    struct pt_explore_weight weights[PT_EXPLORE_THREADS];
    uint32_t weight_count;
};

static const char *const names[] = {
#define NAME(name, word) [PT_EXPLORE_##name] = word,
    PT_EXPLORE_STRATEGIES(NAME)
#undef NAME
};

static int compare(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

static uint64_t median(const struct random_tactic *r)
{
    uint64_t sorted[LENGTHS];
    uint32_t count = r->length_count < LENGTHS ? r->length_count : LENGTHS;
    if (!count)
        return 100;
    memcpy(sorted, r->lengths, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare);
    return sorted[count / 2] ? sorted[count / 2] : 1;
}

/* One of the variables of the last run; each as likely, however often it is used. Every fourth time all of them. */
static void choose_places(struct random_tactic *r)
{
    const struct pt_explore_places *places = r->base.places;
    struct pt_strtab variables;
    uint64_t chance = pt_mix64(r->base.seed ^ pt_mix64(r->rounds * 2 + 1));
    pt_strtab_init(&variables);
    pt_explore_places_choose_none(r->base.places);
    for (uint32_t i = 0; i < r->step_count; i++) {
        const char *variable = pt_explore_spot(places, r->steps[i].place)->variable;
        (void)pt_strtab_intern(&variables, variable, strlen(variable));
    }
    uint32_t chosen = variables.count ? (uint32_t)(chance % variables.count) : 0;
    bool all = r->rounds % 4 == 0;
    for (uint32_t i = 0; i < r->step_count; i++) {
        const struct pt_explore_spot *spot = pt_explore_spot(places, r->steps[i].place);
        if (all || pt_strtab_find(&variables, spot->variable, strlen(spot->variable)) == chosen)
            pt_explore_places_choose(r->base.places, spot->key);
    }
    pt_strtab_release(&variables);
}

static void weigh(struct random_tactic *r)
{
    r->weight_count = r->line_count;
    for (uint32_t i = 0; i < r->line_count; i++)
        r->weights[i] = (struct pt_explore_weight){.line = r->lines[i], .steps = r->totals[i]};
    for (uint32_t k = 0; k < r->step_count; k++) {
        uint64_t key = pt_explore_spot(r->base.places, r->steps[k].place)->key;
        if (pt_map64_get(&r->base.places->chosen, key) == PT_NONE)
            continue;
        for (uint32_t i = 0; i < r->weight_count; i++)
            r->weights[i].chosen += r->weights[i].line == r->steps[k].line;
    }
}

void pt_explore_random_plan(struct pt_explore_tactic *tactic, struct pt_explore_plan *ret_plan)
{
    struct random_tactic *r = (struct random_tactic *)tactic;
    struct pt_explore_plan plan = {.input = r->base.input, .by = tactic->name};
    plan.input.strategy = r->strategy;
    plan.input.seed = pt_mix64(r->base.seed ^ pt_mix64(++r->made << 8 | r->strategy));
    plan.input.depth = 1 + (uint32_t)(r->made % DEPTHS);
    plan.input.length = median(r);
    if (r->strategy == PT_EXPLORE_SURW) {
        plan.weights = r->weights;
        plan.input.weight_count = r->weight_count;
    }
    *ret_plan = plan;
}

void pt_explore_random_round(struct pt_explore_tactic *tactic)
{
    struct random_tactic *r = (struct random_tactic *)tactic;
    r->rounds++;
    if (r->strategy == PT_EXPLORE_SURW) {
        choose_places(r);
        weigh(r);
    }
}

static uint32_t next(struct pt_explore_tactic *tactic, struct pt_explore_plan *ret_plans, uint32_t most)
{
    struct random_tactic *r = (struct random_tactic *)tactic;
    if (!r->length_count && most) { /* the ordinary run, which also finds out what is shared */
        pt_explore_random_plan(tactic, &ret_plans[0]);
        ret_plans[0].input.strategy = PT_EXPLORE_FIRST;
        return 1;
    }
    pt_explore_random_round(tactic);
    for (uint32_t i = 0; i < most; i++)
        pt_explore_random_plan(tactic, &ret_plans[i]);
    return most;
}

static void keep_steps(struct random_tactic *r, const struct pt_explore_outcome *o)
{
    r->step_count = 0;
    for (uint32_t i = 0; i < o->step_count && i < STEPS_KEPT; i++) {
        uint32_t who = o->steps[i].who;
        struct seen_step step = {who < o->thread_count ? o->threads[who].line : 0, o->steps[i].place};
        PT_PUSH(r->steps, r->step_count, r->step_cap, step);
    }
}

static void learn(struct pt_explore_tactic *tactic, const struct pt_explore_plan *plan,
                  const struct pt_explore_outcome *o)
{
    struct random_tactic *r = (struct random_tactic *)tactic;
    (void)plan;
    if (!pt_explore_outcome_counts(o))
        return;
    r->lengths[r->length_count++ % LENGTHS] = o->result.step_count;
    if (r->strategy != PT_EXPLORE_SURW || !o->steps)
        return;
    keep_steps(r, o);
    r->line_count = 0;
    for (uint32_t i = 0; i < o->thread_count; i++) {
        r->lines[r->line_count] = o->threads[i].line;
        r->totals[r->line_count++] = o->threads[i].steps;
    }
}

static void release(struct pt_explore_tactic *tactic)
{
    free(((struct random_tactic *)tactic)->steps);
    free(tactic);
}

struct pt_explore_tactic *pt_explore_random_tactic(const struct pt_explore_base *base,
                                                   enum pt_explore_strategy_kind strategy)
{
    struct random_tactic *r = pt_xcalloc(1, sizeof *r);
    r->tactic = (struct pt_explore_tactic){.name = names[strategy], .next = next, .learn = learn, .free = release};
    r->base = *base;
    r->strategy = strategy;
    return &r->tactic;
}
