/*
 * Fewer states than simulation leaves, with an automaton of the negation at hand to say whether a change is right:
 *
 * - Two states that become one, with the edges of both, keep every accepting run; so the language can only grow, and it
 *   has not when the result shares no word with the negation. This needs no relation between the two states: it finds
 *   what delayed, fair or any other simulation would (Etessami, Wilke and Schuller, "Fair simulation relations, parity
 *   games, and state space reduction for Büchi automata", 2001), and copies that simulation tells apart because one is
 *   on no accepting cycle.
 * - Edges and accepting states are added as long as the same test allows it (they are taken again by reduction where
 *   they are of no use). Then a state is dropped when the rest still accepts every word, which include.c decides: what
 *   it stood for other runs do, even if no single state does.
 *
 * Everything is tried in a fixed order; the first success is kept. Cost: the square of the states for each one that
 * goes, times the product with the negation; pt_outside_meet answers most questions at once. Bounded by *work, past
 * which nothing more is tried.
 */
#include "logic/ltl/small.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { FAR = 1 }; /* states more than asked for are not likely to be dropped */

struct shrinker {
    struct pt_letters letters;
    struct pt_outside *outside;
    uint64_t *work;
    struct pt_small a, changed, whole; /* what there is; what is tried; what was there before edges were added */
    struct pt_meetings meetings;
};

static bool merge_pair(struct shrinker *s)
{
    const struct pt_meetings *m = &s->meetings;
    if (!pt_outside_meet(s->outside, &s->a, &s->meetings, s->work))
        return false;
    for (uint32_t q = s->a.count; q-- > 0;)
        for (uint32_t p = q; p-- > 0;) {
            if ((m->reached[p] & m->live[q]) || (m->reached[q] & m->live[p]))
                continue;
            s->changed = s->a;
            pt_small_merge(&s->changed, p, q);
            if (!pt_outside_avoids(s->outside, &s->changed, s->work))
                continue;
            s->a = s->changed;
            return true;
        }
    return false;
}

/* All of the letters or, where that is too much, one by one. Whether any. */
static bool add_letters(struct shrinker *s, uint32_t p, uint32_t q, uint64_t letters)
{
    uint64_t had = s->a.letters[p][q], next = s->a.next[p];
    bool added = false;
    pt_small_add(&s->a, p, q, letters);
    if (pt_outside_avoids(s->outside, &s->a, s->work))
        return true;
    s->a.letters[p][q] = had;
    s->a.next[p] = next;
    if (letters & (letters - 1))
        for (; letters; letters &= letters - 1)
            added |= add_letters(s, p, q, letters & -letters);
    return added;
}

static void add_all(struct shrinker *s)
{
    uint64_t all = UINT64_MAX >> (PT_SMALL_MOST - s->letters.count);
    for (uint32_t p = 0; p < s->a.count; p++) {
        uint64_t had = s->a.accepting;
        s->a.accepting |= (uint64_t)1 << p;
        if (s->a.accepting != had && !pt_outside_avoids(s->outside, &s->a, s->work))
            s->a.accepting = had;
    }
    bool changed = true;
    for (uint32_t p = 0; p < s->a.count; p++)
        for (uint32_t q = 0; q < s->a.count; q++) {
            if (changed && !pt_outside_meet(s->outside, &s->a, &s->meetings, s->work))
                return;
            uint64_t letters = pt_outside_letters(s->outside, &s->meetings, p, q) & all & ~s->a.letters[p][q];
            changed = letters && add_letters(s, p, q, letters);
        }
}

static bool drop_one(struct shrinker *s)
{
    for (uint32_t q = 0; q < s->a.count; q++) {
        if (q == s->a.initial)
            continue;
        s->changed = s->a;
        pt_small_drop(&s->changed, q);
        if (!pt_small_includes(&s->changed, &s->whole, s->letters.count, s->work))
            continue;
        s->a = s->changed;
        return true;
    }
    return false;
}

/* Edges that are of no use any more, most of them added. */
static void drop_edges(struct shrinker *s)
{
    for (uint32_t p = 0; p < s->a.count; p++)
        for (uint32_t q = 0; q < s->a.count; q++) {
            uint64_t letters = s->a.letters[p][q];
            if (!letters)
                continue;
            s->a.letters[p][q] = 0;
            s->a.next[p] &= ~((uint64_t)1 << q);
            if (!pt_small_includes(&s->a, &s->whole, s->letters.count, s->work))
                pt_small_add(&s->a, p, q, letters);
        }
}

/* NULL when the BDDs overflowed. */
static struct pt_tgba *reduced(struct shrinker *s)
{
    struct pt_tgba *tgba = pt_small_write(&s->a, &s->letters);
    return tgba ? pt_tgba_reduce(tgba) : NULL;
}

/* NULL unless it has fewer than `below` states. Labels of reduced automata are made of the classes of letters, so these
 * need not be split again. */
static struct pt_tgba *shrink(struct shrinker *s, const struct pt_tgba *tgba, uint32_t below)
{
    pt_small_read(&s->a, &s->letters, tgba);
    while (merge_pair(s))
        ;
    struct pt_tgba *merged = reduced(s), *dropped = NULL;
    if (merged && merged->state_count <= PT_INCLUDES_MOST + 1 && merged->state_count < below + FAR) {
        pt_small_read(&s->a, &s->letters, merged);
        s->whole = s->a;
        add_all(s);
        while (drop_one(s))
            ;
        if (s->a.count < merged->state_count && s->a.count < below) {
            drop_edges(s);
            dropped = reduced(s);
        }
    }
    if (dropped || (merged && merged->state_count >= below)) {
        pt_tgba_free(merged);
        return dropped;
    }
    return merged;
}

bool pt_tgba_has_few_letters(const struct pt_tgba *tgba)
{
    struct pt_letters letters;
    pt_letters_init(&letters, tgba->bdds);
    return pt_letters_split(&letters, tgba);
}

struct pt_tgba *pt_tgba_shrink(const struct pt_tgba *tgba, const struct pt_tgba *negation, uint32_t below,
                               uint64_t *work)
{
    if (tgba->state_count > PT_SMALL_MOST || negation->state_count > PT_SMALL_MOST)
        return NULL;
    struct shrinker *s = pt_xcalloc(1, sizeof *s);
    struct pt_tgba *result = NULL;
    s->work = work;
    pt_letters_init(&s->letters, tgba->bdds);
    if (pt_letters_split(&s->letters, tgba) && pt_letters_split(&s->letters, negation)) {
        s->outside = pt_outside_new(negation, &s->letters, tgba->state_count);
        result = shrink(s, tgba, below);
        pt_outside_free(s->outside);
    }
    free(s);
    return result;
}
