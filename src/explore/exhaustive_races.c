/*
 * Races of a run, and who is to be tried for them (exhaustive.c): of two steps i < j of different threads that are in a
 * race a thread that can begin a run in which j comes before i, unless one is there already. A *race*: dependent, i
 * does not happen before the step that j's thread did last, and nothing else leads from i to j.
 *
 * Steps that wait need more, since what is tried in place of i may be what i made impossible: after i, j cannot be
 * taken at once, but only later, by way of others (who locks, unlocks; then j locks), or never. So of these every
 * dependent i counts; and what threads wait for when a run is over, or was cut short by its sleep set, counts as if it
 * came next.
 *   - A wait for one object (lock, semaphore, barrier): all that lets it go on or keeps it from that writes the object,
 *     so depends on i. If it could not be taken at i it cannot be brought before i; if it could, the initials of what
 *     does not depend on i, and it, are right: of these those that are not needed for j do not depend on it either.
 *   - A wait for a condition needs a signal and the mutex. What signals may not depend on who has the mutex, and need
 *     not be in this run: initials are taken from what j's thread had to do before; if that is nothing, every thread
 *     that can go on is tried (Flanagan, Godefroid, POPL 2005).
 * That these sets are source sets: let w be a run from a node that begins with none of what is tried there, b of those
 * the one that does not depend on the longest part of w, z the first step that depends on b. What comes before z was
 * run behind b, and then z was a race with b, or waited: the initials that were added begin w, or do not depend on a
 * longer part. The last step of a process that ends depends on everything, since nothing comes after it.
 *
 * With a bound on preemptions sleep sets are not used, every dependent i counts, and each point is also tried where the
 * preempted thread began to run (Coons, Musuvathi, McKinley, OOPSLA 2013).
 *
 * Guarantee: the sets that are tried at each node are source sets, or, with a bound, what that needs. Cost: quadratic
 * in the steps of a run.
 */
#include <string.h>

#include "core/explore_depend.h"
#include "explore/exhaustive_impl.h"

static void add_all(struct node *node)
{
    for (unsigned w = 0; w < PT_EXPLORE_WORDS; w++)
        node->trying.words[w] |= node->enabled.words[w];
}

/* `wanted` first. */
static void add_one(struct node *node, const struct pt_explore_set *initials, uint32_t wanted)
{
    for (unsigned w = 0; w < PT_EXPLORE_WORDS; w++)
        if (initials->words[w] & node->trying.words[w])
            return;
    if (pt_explore_has(initials, wanted) && pt_explore_has(&node->enabled, wanted)) {
        pt_explore_add(&node->trying, wanted);
        return;
    }
    for (uint32_t slot = 0; slot < PT_EXPLORE_THREADS; slot++) {
        if (pt_explore_has(initials, slot) && pt_explore_has(&node->enabled, slot)) {
            pt_explore_add(&node->trying, slot);
            return;
        }
    }
    add_all(node);
}

/* With a bound: where the thread of step i began to run. */
static void add_conservatively(struct exhaustive *x, uint32_t i, uint32_t wanted)
{
    uint32_t from = i;
    while (from > 0 && x->nodes[from - 1].step.who == x->nodes[i].step.who)
        from--;
    uint32_t places[] = {i, from};
    for (size_t k = 0; k < 2; k++) {
        struct node *node = &x->nodes[places[k]];
        if (pt_explore_has(&node->enabled, wanted))
            pt_explore_add(&node->trying, wanted);
        else
            add_all(node);
    }
}

/* All races of what `step`, number `j`, is or would be. */
static void find_races(struct exhaustive *x, uint32_t j, const struct pt_explore_step *step, uint32_t previous)
{
    for (uint32_t i = j; i-- > 0;) {
        struct pt_explore_set initials = {0};
        if (exh_bounded(x)) {
            if (pt_explore_causes_clash(&x->causes, i, j, step, previous))
                add_conservatively(x, i, step->who);
        } else if (pt_explore_causes_race(&x->causes, i, j, step, previous)) {
            pt_explore_causes_initials(&x->causes, i, j, step, previous, &initials);
            add_one(&x->nodes[i], &initials, step->who);
        }
    }
}

void exh_find_races(struct exhaustive *x, uint32_t from, bool cut)
{
    uint32_t last[PT_EXPLORE_THREADS];
    memset(last, 0xff, sizeof last);
    for (uint32_t j = 0; j < x->count; j++) {
        if (j >= from)
            find_races(x, j, &x->nodes[j].step, x->causes.before[j]);
        last[x->nodes[j].step.who] = j;
    }
    for (uint32_t slot = 0; slot < PT_EXPLORE_THREADS; slot++)
        if (x->waits[slot] && (!cut || pt_explore_kind_blocks(x->waiting[slot].kind)))
            find_races(x, x->count, &x->waiting[slot], last[slot]);
}
