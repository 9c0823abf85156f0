/*
 * The mixture that `auto` is: the ordinary schedule, then rounds of swaps of conflicting steps, priorities, weights and
 * chance; beside them, where runs are short enough to hope for an end, all schedules one by one, for a third of the
 * runs. If these come to their end, there is nothing left to try. Which one a run was made by is in its plan.
 */
#include <stdlib.h>
#include <string.h>

#include "explore/exhaustive.h"
#include "explore/random.h"
#include "explore/steer.h"

enum { PCT, SURW, RANDOM, STEER, EXHAUSTIVE, PARTS };
enum { SHORT = 120 }; /* steps of runs for which all schedules are worth a try */

struct mixture {
    struct pt_explore_tactic tactic; /* first */
    struct pt_explore_tactic *parts[PARTS];
    struct pt_explore_base base;
    uint64_t made, rounds, longest;
    bool exhausted; /* all schedules were explored */
    bool doubtful;  /* ... which cannot be said of a program that was not under control */
};

static void stamp(struct pt_explore_plan *plan, uint32_t part)
{
    plan->tag = part;
}

/* In this order, again and again. */
static const uint8_t turns[] = {STEER, PCT, SURW, STEER, RANDOM, PCT, STEER, SURW, PCT, RANDOM};

static uint32_t one_of(struct mixture *m, uint32_t part, struct pt_explore_plan *ret_plan)
{
    if (part == STEER && !pt_explore_steer_waiting(m->parts[STEER]))
        part = PCT;
    if (part == STEER)
        (void)m->parts[part]->next(m->parts[part], ret_plan, 1);
    else
        pt_explore_random_plan(m->parts[part], ret_plan);
    stamp(ret_plan, part);
    return 1;
}

static uint32_t next(struct pt_explore_tactic *tactic, struct pt_explore_plan *ret_plans, uint32_t most)
{
    struct mixture *m = (struct mixture *)tactic;
    uint32_t count = 0;
    if (!most || m->exhausted)
        return 0;
    if (m->rounds++ < 2) { /* the ordinary schedule: what is shared is known only after the first */
        pt_explore_random_plan(m->parts[RANDOM], &ret_plans[0]);
        ret_plans[0].input.strategy = PT_EXPLORE_FIRST;
        ret_plans[0].by = "first";
        stamp(&ret_plans[0], RANDOM);
        return 1;
    }
    if (m->longest <= SHORT && m->rounds % 8 != 3) {
        count = m->parts[EXHAUSTIVE]->next(m->parts[EXHAUSTIVE], ret_plans, 1);
        struct pt_explore_progress progress;
        (void)pt_explore_exhaustive_progress(m->parts[EXHAUSTIVE], &progress);
        m->exhausted = !count && progress.complete && !m->doubtful;
        if (count)
            stamp(&ret_plans[0], EXHAUSTIVE);
        if (count || m->exhausted)
            return count;
    }
    pt_explore_random_round(m->parts[SURW]);
    while (count < most)
        count += one_of(m, turns[m->made++ % sizeof turns], &ret_plans[count]);
    return count;
}

static void learn(struct pt_explore_tactic *tactic, const struct pt_explore_plan *plan,
                  const struct pt_explore_outcome *outcome)
{
    struct mixture *m = (struct mixture *)tactic;
    m->doubtful |= outcome->result.losses != 0;
    if (outcome->result.step_count > m->longest)
        m->longest = outcome->result.step_count;
    for (uint32_t part = 0; part < EXHAUSTIVE; part++)
        m->parts[part]->learn(m->parts[part], plan, outcome);
    if (plan->tag == EXHAUSTIVE)
        m->parts[EXHAUSTIVE]->learn(m->parts[EXHAUSTIVE], plan, outcome);
}

static void release(struct pt_explore_tactic *tactic)
{
    struct mixture *m = (struct mixture *)tactic;
    for (uint32_t part = 0; part < PARTS; part++)
        m->parts[part]->free(m->parts[part]);
    free(m);
}

struct pt_explore_tactic *pt_explore_auto_tactic(const struct pt_explore_base *base)
{
    struct mixture *m = pt_xcalloc(1, sizeof *m);
    struct pt_explore_base logging = *base;
    logging.input.wishes |= PT_EXPLORE_LOGS;
    m->tactic = (struct pt_explore_tactic){.name = "auto", .next = next, .learn = learn, .free = release};
    m->base = logging;
    m->parts[PCT] = pt_explore_random_tactic(&logging, PT_EXPLORE_PCT);
    m->parts[SURW] = pt_explore_random_tactic(&logging, PT_EXPLORE_SURW);
    m->parts[RANDOM] = pt_explore_random_tactic(&logging, PT_EXPLORE_RANDOM);
    m->parts[STEER] = pt_explore_steer_tactic(&logging);
    m->parts[EXHAUSTIVE] = pt_explore_exhaustive_tactic(&logging);
    return &m->tactic;
}

bool pt_explore_progress(const struct pt_explore_tactic *tactic, struct pt_explore_progress *ret_progress)
{
    if (tactic->next == next)
        tactic = ((const struct mixture *)tactic)->parts[EXHAUSTIVE];
    return pt_explore_exhaustive_progress(tactic, ret_progress);
}

uint32_t pt_explore_plans_ahead(const struct pt_explore_tactic *tactic, struct pt_explore_plan *ret_plans,
                                uint32_t most)
{
    if (tactic->next == next)
        tactic = ((const struct mixture *)tactic)->parts[EXHAUSTIVE];
    return pt_explore_exhaustive_ahead(tactic, ret_plans, most);
}

void pt_explore_steer_add(struct pt_explore_tactic *tactic, const struct pt_explore_stretch *stretches, uint32_t count)
{
    if (tactic->next == next)
        tactic = ((struct mixture *)tactic)->parts[STEER];
    pt_explore_steer_put(tactic, stretches, count);
}
