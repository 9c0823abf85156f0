/*
 * All schedules of a program, up to the order of independent steps: dynamic partial-order reduction with source sets
 * and sleep sets (Abdulla, Aronis, Jonsson, Sagonas, POPL 2014, algorithm 1), by running the program again for each
 * schedule.
 *
 * The runs form a tree, of which the last one is a path: a node is the state before a step. After a run, for every two
 * steps i < j of different threads that are in a race, a thread is added to those to be tried at node i that can begin
 * a run in which j comes before i (exhaustive_races.c). What would make the answer wrong is in exhaustive_doubts.c.
 *
 * A thread to which a signal is on its way can be taken in two ways, to handle it or not. Whoever is tried at a node is
 * tried in both; sending depends on all that the receiver does. Memory that a thread and its handler use is not known
 * to be shared, so that the handler does not come between all of its accesses: no exploration with signals is whole.
 *
 * Guarantee: when it ends, every schedule is equivalent to one that was run, or has more preemptions than allowed; if
 * what is shared has grown meanwhile, all begins again. Classes are counted by a hash of the partial order of steps.
 * Cost: a run each; quadratic in its steps.
 */
#include <stdlib.h>
#include <string.h>

#include "core/explore_depend.h"
#include "explore/exhaustive_impl.h"

/* --- the tree --- */

static void clear_node(struct node *node)
{
    struct pt_explore_step *asleep = node->asleep, *tried = node->tried;
    size_t asleep_cap = node->asleep_cap, tried_cap = node->tried_cap;
    *node = (struct node){.asleep = asleep, .tried = tried, .asleep_cap = asleep_cap, .tried_cap = tried_cap};
}

static struct node *push_node(struct exhaustive *x)
{
    PT_GROW(x->nodes, x->cap, (size_t)x->count + 1);
    if (x->count == x->made)
        x->nodes[x->made++] = (struct node){0};
    struct node *node = &x->nodes[x->count++];
    clear_node(node);
    return node;
}

static bool sleeps(const struct node *node, uint32_t slot)
{
    for (uint32_t i = 0; i < node->asleep_count; i++)
        if (node->asleep[i].who == slot)
            return true;
    return false;
}

static struct pt_explore_set awake(const struct pt_explore_step *step)
{
    struct pt_explore_set left = step->enabled;
    for (unsigned i = 0; i < PT_EXPLORE_WORDS; i++)
        left.words[i] &= ~step->yields.words[i];
    return pt_explore_is_empty(&left) ? step->enabled : left;
}

static void fall_asleep(struct node *node, const struct pt_explore_step *step)
{
    PT_PUSH(node->asleep, node->asleep_count, node->asleep_cap, *step);
}

/* Whether something that a thread could do there depends on a step. */
static bool is_woken(const struct node *node, uint32_t slot, const struct pt_explore_step *step)
{
    for (uint32_t i = 0; i < node->asleep_count; i++)
        if (node->asleep[i].who == slot && pt_explore_depends(&node->asleep[i], step))
            return true;
    for (uint32_t i = 0; i < node->tried_count; i++)
        if (node->tried[i].who == slot && pt_explore_depends(&node->tried[i], step))
            return true;
    return false;
}

/* Who sleeps behind a step of `node`: those that slept or were tried there, and do not depend on it. A thread that can
 * handle a signal or not has two things to do, and sleeps only if neither does. */
static void pass_sleep(const struct node *node, const struct pt_explore_step *step, struct node *ret_next)
{
    for (uint32_t i = 0; i < node->asleep_count; i++)
        if (node->asleep[i].who != step->who && !is_woken(node, node->asleep[i].who, step))
            fall_asleep(ret_next, &node->asleep[i]);
    for (uint32_t i = 0; i < node->tried_count; i++)
        if (node->tried[i].who != step->who && !sleeps(node, node->tried[i].who) &&
            !is_woken(node, node->tried[i].who, step))
            fall_asleep(ret_next, &node->tried[i]);
}

/* Whether taking `slot` at a node preempts who ran before. */
static bool preempts(const struct exhaustive *x, uint32_t at, uint32_t slot)
{
    uint32_t last = at ? x->nodes[at - 1].step.who : slot;
    return last != slot && pt_explore_has(&x->nodes[at].enabled, last);
}

/* --- a run --- */

/* What threads were about to do when it was over, if it did not just stop being looked at. */
static void keep_waiting(struct exhaustive *x, const struct pt_explore_outcome *outcome)
{
    bool over = outcome->result.end == PT_EXPLORE_REDUNDANT || outcome->result.end == PT_EXPLORE_RUNNING ||
                outcome->result.end == PT_EXPLORE_STUCK || outcome->result.end == PT_EXPLORE_LIVELOCK;
    memset(x->waits, 0, PT_EXPLORE_THREADS * sizeof *x->waits);
    for (uint32_t slot = 0; slot < outcome->thread_count && over; slot++) {
        const struct pt_explore_thread *thread = &outcome->threads[slot];
        if (thread->state != PT_EXPLORE_READY && thread->state != PT_EXPLORE_BLOCKED)
            continue;
        bool memory = pt_explore_space(thread->kind) == PT_EXPLORE_MEMORY && !pt_explore_kind_blocks(thread->kind);
        x->waits[slot] = true;
        x->waiting[slot] = (struct pt_explore_step){.who = slot,
                                                    .kind = (uint16_t)thread->kind,
                                                    .object = thread->object,
                                                    .other = thread->other,
                                                    .size = memory && !thread->other ? 16 : 0,
                                                    .place = thread->place};
    }
}

/* The steps of the run become the path, from the branch on. False: it did not do the same as before. */
static bool take_path(struct exhaustive *x, const struct pt_explore_outcome *outcome)
{
    uint32_t from = x->branch;
    if (x->begun && outcome->step_count <= from && x->count)
        return false;
    for (uint32_t i = 0; i < from; i++)
        if (outcome->steps[i].who != x->nodes[i].step.who || outcome->steps[i].kind != x->nodes[i].step.kind)
            return false;
    x->count = x->count ? from + 1 : 0;
    for (uint32_t i = from; i < outcome->step_count; i++) {
        const struct pt_explore_step *step = &outcome->steps[i];
        if (i == x->count) {
            struct node *node = push_node(x);
            node->enabled = awake(step);
            node->signals = step->signals;
            node->bound = step->bound;
            if (i > 0 && !exh_bounded(x))
                pass_sleep(&x->nodes[i - 1], &x->nodes[i - 1].step, node);
            pt_explore_add(&node->trying, step->who);
        }
        struct node *node = &x->nodes[i];
        node->step = *step;
        node->preemptions = i ? x->nodes[i - 1].preemptions + preempts(x, i - 1, x->nodes[i - 1].step.who) : 0;
        pt_explore_add(step->flags & PT_EXPLORE_HANDLED ? &node->handled : &node->done, step->who);
        if (!x->causes.ends || i + 1 < outcome->step_count) /* what ends the process depends on all: it never sleeps */
            PT_PUSH(node->tried, node->tried_count, node->tried_cap, *step);
    }
    return true;
}

/* Equal for runs that differ in the order of independent steps alone. */
static uint64_t hash_class(struct exhaustive *x, const struct pt_explore_outcome *outcome)
{
    uint64_t sum = 0;
    for (uint32_t j = 0; j < x->count; j++) {
        const struct pt_explore_step *step = &x->nodes[j].step;
        uint64_t line = step->who < outcome->thread_count ? outcome->threads[step->who].line : step->who, causes = 0;
        for (uint32_t i = 0; i < j; i++)
            if (pt_explore_causes_before(&x->causes, i, j))
                causes += pt_mix64(x->hashes[i]);
        x->hashes[j] = pt_mix64(causes ^ pt_mix64(line ^ pt_mix64((uint64_t)x->causes.own[j] << 16 | step->kind)));
        sum += pt_mix64(x->hashes[j] + 1);
    }
    return sum;
}

static void learn(struct pt_explore_tactic *tactic, const struct pt_explore_plan *plan,
                  const struct pt_explore_outcome *outcome)
{
    struct exhaustive *x = (struct exhaustive *)tactic;
    (void)plan;
    x->out = false;
    exh_look_for_doubts(x, outcome);
    if (!outcome->started || !outcome->steps || outcome->step_count > STEPS_MOST) {
        x->over = true;
        return;
    }
    pt_explore_causes_count(&x->causes, outcome);
    if (outcome->result.end == PT_EXPLORE_DIVERGED || outcome->result.diverged_at || !take_path(x, outcome)) {
        exh_miss(x, "the program did not do the same again under the same schedule");
        if (x->count) /* what was tried there is not tried again */
            x->count = x->branch + 1 < x->count ? x->branch + 1 : x->count;
        return;
    }
    keep_waiting(x, outcome);
    x->hashes = pt_xrealloc(x->hashes, ((size_t)x->count + 1) * sizeof *x->hashes);
    exh_find_races(x, x->branch, outcome->result.end == PT_EXPLORE_REDUNDANT);
    if (outcome->result.end != PT_EXPLORE_REDUNDANT && x->count) {
        uint32_t *at = pt_map64_at(&x->classes, hash_class(x, outcome));
        x->progress.classes += *at == PT_NONE;
        *at = 1;
    } else if (outcome->result.end != PT_EXPLORE_REDUNDANT) {
        x->progress.classes = 1; /* no thread but one: no steps */
    }
}

/* --- the next one --- */

static void restart(struct exhaustive *x)
{
    x->count = 0;
    x->branch = 0;
    x->begun = false;
    x->over = false;
    x->shared = x->base.places->shared_count;
    pt_map64_release(&x->classes);
    pt_map64_init(&x->classes);
    x->progress = (struct pt_explore_progress){.passes = x->progress.passes + 1};
}

static void add_choice(struct pt_explore_plan *plan, uint32_t who, size_t *cap)
{
    uint32_t count = plan->input.prefix_count;
    if (count && (plan->prefix[count - 1].who & ~PT_EXPLORE_HANDLES) == who) {
        plan->prefix[count - 1].steps++;
        return;
    }
    struct pt_explore_stretch stretch = {who, 1};
    PT_PUSH(plan->prefix, plan->input.prefix_count, *cap, stretch);
}

/* What a thread is about to do at a node of the last run; NULL: not known, since it handled a signal first. */
static const struct pt_explore_step *pending(const struct exhaustive *x, uint32_t at, uint32_t slot)
{
    for (uint32_t i = at; i < x->count; i++)
        if (x->nodes[i].step.who == slot)
            return x->nodes[i].step.flags & PT_EXPLORE_HANDLED ? NULL : &x->nodes[i].step;
    return slot < PT_EXPLORE_THREADS && x->waits[slot] ? &x->waiting[slot] : NULL;
}

/* How a thread is still to be taken at a node, PT_EXPLORE_NO_SLOT: not at all. */
static uint32_t choice_left(const struct node *node, uint32_t slot)
{
    if (!pt_explore_has(&node->trying, slot) || sleeps(node, slot))
        return PT_EXPLORE_NO_SLOT;
    if (!pt_explore_has(&node->done, slot) && !pt_explore_has(&node->bound, slot))
        return slot;
    bool handles = pt_explore_has(&node->signals, slot) && !pt_explore_has(&node->handled, slot);
    return handles ? slot | PT_EXPLORE_HANDLES : PT_EXPLORE_NO_SLOT;
}

/* The lowest node above `from` at which something is left to be tried. */
static bool find_branch(const struct exhaustive *x, uint32_t from, uint32_t *ret_at, uint32_t *ret_who)
{
    for (uint32_t at = from; at-- > 0;) {
        const struct node *node = &x->nodes[at];
        for (uint32_t slot = 0; slot < PT_EXPLORE_THREADS; slot++) {
            uint32_t who = choice_left(node, slot);
            if (who == PT_EXPLORE_NO_SLOT ||
                (exh_bounded(x) && node->preemptions + preempts(x, at, slot) > x->base.preemptions))
                continue;
            *ret_at = at;
            *ret_who = who;
            return true;
        }
    }
    return false;
}

static struct pt_explore_plan new_plan(const struct exhaustive *x)
{
    struct pt_explore_plan plan = {.input = x->base.input, .by = "exhaustive"};
    plan.input.strategy = PT_EXPLORE_FIRST;
    plan.input.wishes |= PT_EXPLORE_LOGS | PT_EXPLORE_STRICT | PT_EXPLORE_EXACT;
    return plan;
}

/* `who` instead of what the last run did at a node. */
static struct pt_explore_plan plan_for(const struct exhaustive *x, uint32_t at, uint32_t who)
{
    struct pt_explore_plan plan = new_plan(x);
    uint32_t slot = who & ~PT_EXPLORE_HANDLES;
    struct pt_explore_step handle = {.who = slot, .kind = PT_EXPLORE_HANDLE, .object = slot};
    size_t cap = 0;
    for (uint32_t i = 0; i < at; i++)
        add_choice(&plan, pt_explore_choice(&x->nodes[i].step), &cap);
    add_choice(&plan, who, &cap);
    const struct pt_explore_step *step = who & PT_EXPLORE_HANDLES ? &handle : pending(x, at, slot);
    struct node behind = {0};
    if (step && !exh_bounded(x)) { /* else nobody sleeps, and something may be done twice */
        pass_sleep(&x->nodes[at], step, &behind);
        plan.input.wishes |= PT_EXPLORE_SLEEPS;
    }
    for (uint32_t i = 0; i < behind.asleep_count; i++)
        pt_explore_add(&plan.input.sleep, behind.asleep[i].who);
    free(behind.asleep);
    return plan;
}

static uint32_t next(struct pt_explore_tactic *tactic, struct pt_explore_plan *ret_plans, uint32_t most)
{
    struct exhaustive *x = (struct exhaustive *)tactic;
    uint32_t at, who;
    if (!most || x->out)
        return 0;
    if (x->shared != x->base.places->shared_count)
        restart(x);
    if (x->over)
        return 0;
    if (!x->begun) {
        ret_plans[0] = new_plan(x);
        x->begun = true;
        x->branch = 0;
    } else if (find_branch(x, x->count, &at, &who)) {
        ret_plans[0] = plan_for(x, at, who);
        pt_explore_add(who & PT_EXPLORE_HANDLES ? &x->nodes[at].handled : &x->nodes[at].done,
                       who & ~PT_EXPLORE_HANDLES);
        x->branch = at;
    } else {
        x->over = true;
        x->progress.complete = !x->progress.missing;
        return 0;
    }
    x->out = true;
    return 1;
}

/* What is left to be tried at nodes above the branch that is under way, one for each: what is found below it comes
 * first, and may add to them, so that some of these are never asked for. */
uint32_t pt_explore_exhaustive_ahead(const struct pt_explore_tactic *tactic, struct pt_explore_plan *ret_plans,
                                     uint32_t most)
{
    const struct exhaustive *x = (const struct exhaustive *)tactic;
    if (tactic->next != next)
        return 0;
    uint32_t count = 0, at = x->branch < x->count ? x->branch : x->count, who;
    while (x->out && count < most && find_branch(x, at, &at, &who))
        ret_plans[count++] = plan_for(x, at, who);
    return count;
}

static void release(struct pt_explore_tactic *tactic)
{
    struct exhaustive *x = (struct exhaustive *)tactic;
    for (uint32_t i = 0; i < x->made; i++) {
        free(x->nodes[i].asleep);
        free(x->nodes[i].tried);
    }
    free(x->nodes);
    free(x->waiting);
    free(x->waits);
    free(x->hashes);
    pt_explore_causes_release(&x->causes);
    pt_map64_release(&x->classes);
    free(x);
}

struct pt_explore_tactic *pt_explore_exhaustive_tactic(const struct pt_explore_base *base)
{
    struct exhaustive *x = pt_xcalloc(1, sizeof *x);
    x->tactic = (struct pt_explore_tactic){.name = "exhaustive", .next = next, .learn = learn, .free = release};
    x->base = *base;
    x->waiting = pt_xcalloc(PT_EXPLORE_THREADS, sizeof *x->waiting);
    x->waits = pt_xcalloc(PT_EXPLORE_THREADS, sizeof *x->waits);
    pt_map64_init(&x->classes);
    restart(x);
    return &x->tactic;
}

bool pt_explore_exhaustive_progress(const struct pt_explore_tactic *tactic, struct pt_explore_progress *ret_progress)
{
    if (tactic->next != next)
        return false;
    *ret_progress = ((const struct exhaustive *)tactic)->progress;
    return true;
}
