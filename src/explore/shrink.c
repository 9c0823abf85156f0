/*
 * Shrinking by running again: what is left of a failing schedule when whatever can be left out is. A candidate is a
 * list of stretches that the program follows as far as it can, and then goes on without preemptions; it is taken if it
 * fails in the same way with fewer switches, or as many and fewer preemptions, or as many of both and fewer steps.
 * Candidates: a beginning of the schedule alone; a stretch left out; two of a thread made one by taking the later one
 * first, or the earlier one later; a switch some steps later. Guarantee: what is left was run and failed. Cost: at most
 * `runs` runs; in the end no single candidate improves it, unless they were used up.
 */
#include "explore/shrink.h"

#include <stdlib.h>
#include <string.h>

struct search {
    struct pt_explore_shrink *shrink;
    struct pt_explore_outcome *best;
    uint64_t key;
    struct pt_map64 tried;
};

static uint64_t hash_of(const struct pt_explore_stretch *list, uint32_t count)
{
    return pt_fnv(PT_FNV_NOTHING, list, count * sizeof *list);
}

static bool is_better(const struct pt_explore_outcome *a, const struct pt_explore_outcome *b)
{
    if (a->taken_count != b->taken_count)
        return a->taken_count < b->taken_count;
    if (a->result.preemptions != b->result.preemptions)
        return a->result.preemptions < b->result.preemptions;
    return a->result.step_count < b->result.step_count;
}

/* The list is given up. */
static bool try_list(struct search *s, struct pt_explore_stretch *list, uint32_t count)
{
    struct pt_explore_shrink *shrink = s->shrink;
    struct pt_explore_plan plan = {.input = shrink->base->input, .prefix = list, .by = "shrink"};
    struct pt_explore_outcome outcome;
    uint32_t *at = pt_map64_at(&s->tried, hash_of(list, count));
    bool known = *at != PT_NONE, taken = false;
    *at = 1;
    plan.input.strategy = PT_EXPLORE_FIRST;
    plan.input.prefix_count = count;
    plan.input.wishes |= PT_EXPLORE_LOGS;
    plan.input.wishes &= ~(uint32_t)PT_EXPLORE_STRICT;
    if (!known && shrink->runs && shrink->run(shrink->context, &plan, &outcome)) {
        shrink->runs--;
        struct pt_explore_failure failure = pt_explore_failure(&outcome, shrink->base->expected, shrink->base->places);
        bool same = shrink->same ? shrink->same(shrink->context, &outcome)
                                 : failure.kind != PT_EXPLORE_FAILS_NONE && failure.key == s->key;
        taken = same && is_better(&outcome, s->best);
        if (taken) {
            pt_explore_outcome_release(s->best);
            *s->best = outcome;
        } else {
            if (failure.kind == PT_EXPLORE_FAILS_NONE && shrink->passed)
                shrink->passed(shrink->context, &outcome);
            pt_explore_outcome_release(&outcome);
        }
    }
    pt_explore_plan_release(&plan);
    return taken;
}

static void put(struct pt_explore_stretch *list, uint32_t *count, struct pt_explore_stretch stretch)
{
    if (!stretch.steps)
        return;
    if (*count && list[*count - 1].who == stretch.who && !(stretch.who & PT_EXPLORE_HANDLES))
        list[*count - 1].steps += stretch.steps;
    else
        list[(*count)++] = stretch;
}

static struct pt_explore_stretch *new_list(const struct search *s)
{
    return pt_xcalloc((size_t)s->best->taken_count + 2, sizeof(struct pt_explore_stretch));
}

static bool try_beginning(struct search *s, uint32_t length)
{
    struct pt_explore_stretch *list = new_list(s);
    memcpy(list, s->best->taken, length * sizeof *list);
    return try_list(s, list, length);
}

static bool try_beginnings(struct search *s)
{
    for (uint32_t length = 0; length < s->best->taken_count; length = length < 8 ? length + 1 : length + length / 4)
        if (try_beginning(s, length))
            return true;
    return false;
}

/* Without stretches [from, from + width). */
static bool try_without(struct search *s, uint32_t from, uint32_t width)
{
    struct pt_explore_stretch *list = new_list(s);
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->best->taken_count; i++)
        if (i < from || i >= from + width)
            put(list, &count, s->best->taken[i]);
    return try_list(s, list, count);
}

/* Stretch `from` comes right before stretch `to`, or `to` right behind `from`. */
static bool try_together(struct search *s, uint32_t from, uint32_t to, bool later)
{
    struct pt_explore_stretch *list = new_list(s);
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->best->taken_count; i++) {
        if (i == from && later)
            continue;
        if (i == to && !later)
            continue;
        if (i == to)
            put(list, &count, s->best->taken[from]);
        put(list, &count, s->best->taken[i]);
        if (i == from && !later)
            put(list, &count, s->best->taken[to]);
    }
    return try_list(s, list, count);
}

/* A stretch goes on for some steps that its thread did in its next one. */
static bool try_longer(struct search *s, uint32_t from, uint32_t to, uint32_t steps)
{
    struct pt_explore_stretch *list = new_list(s);
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->best->taken_count; i++) {
        struct pt_explore_stretch stretch = s->best->taken[i];
        if (i == from)
            stretch.steps += steps;
        if (i == to)
            stretch.steps -= steps;
        put(list, &count, stretch);
    }
    return try_list(s, list, count);
}

static uint32_t next_of(const struct search *s, uint32_t from)
{
    for (uint32_t i = from + 1; i < s->best->taken_count; i++)
        if (s->best->taken[i].who == s->best->taken[from].who)
            return i;
    return s->best->taken_count;
}

/* Halves, quarters, ... single ones: delta debugging. */
static bool try_parts(struct search *s)
{
    for (uint32_t width = s->best->taken_count / 2; width > 0; width /= 2)
        for (uint32_t from = 0; from + width <= s->best->taken_count; from += width)
            if (try_without(s, from, width))
                return true;
    return false;
}

static bool try_pairs(struct search *s)
{
    for (uint32_t i = s->best->taken_count; i-- > 0;) {
        uint32_t to = next_of(s, i);
        if (to == s->best->taken_count)
            continue;
        if (try_together(s, i, to, false) || try_together(s, i, to, true))
            return true;
    }
    for (uint32_t i = 0; i < s->best->taken_count; i++) {
        uint32_t to = next_of(s, i);
        for (uint32_t steps = 1; to < s->best->taken_count && steps < s->best->taken[to].steps; steps *= 2)
            if (try_longer(s, i, to, steps))
                return true;
    }
    return false;
}

void pt_explore_shrink(struct pt_explore_shrink *shrink, struct pt_explore_outcome *outcome)
{
    struct search s = {.shrink = shrink, .best = outcome};
    s.key = pt_explore_failure(outcome, shrink->base->expected, shrink->base->places).key;
    pt_map64_init(&s.tried);
    while (shrink->runs && (try_beginnings(&s) || try_parts(&s) || try_pairs(&s)))
        ;
    pt_map64_release(&s.tried);
}
