/*
 * From the kept levels of a search to the run that is shown: a shortest violating one, and among those one with the
 * fewest context switches between its relevant events.
 *
 * For each state from which the violation can be reached, and each pair of a monitor state and the thread of the last
 * relevant event, the fewest switches with which some run gets there: a state's pairs follow from those of the states
 * before it, level by level. Then the run is followed back, every event that was taken on the way is listed, those that
 * the search had left out are put back in, and the judge and the monitor have the last word (report.c).
 *
 * Guarantee: the minimum. Cost: linear in the steps between the states that lead to the violation, times the monitor
 * states and threads with which they are reached.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/wide/take.h"

/* A way to reach a state. */
struct way {
    pt_mstate state;
    uint32_t column; /* of the last relevant event, PT_NONE */
    uint32_t switches;
    uint32_t from, from_way; /* the state before, of this level or (visible) the one before it, and its way */
    uint32_t by;             /* the column whose event led here */
    bool visible;
};

struct ways {
    struct way *list;
    uint32_t count;
    size_t cap;
    bool wanted; /* the violation can be reached from here */
};

struct finder {
    struct wide_search *s;
    struct ways **ways; /* by level and state */
    uint32_t level;     /* of the violation */
};

static void mark(struct finder *f, uint32_t level, uint32_t state)
{
    f->ways[level][state].wanted = true;
}

/* The states that lead to the violation: levels are walked down, and each level's states from the last expanded. */
static void mark_wanted(struct finder *f)
{
    struct wide_search *s = f->s;
    const struct wide_level *last = wide_level_at(s, f->level);
    for (uint32_t i = 0; i < last->count; i++)
        for (uint32_t e = last->nodes[i].set & PT_SET_BAD ? last->nodes[i].edges : 0; e; e = last->list[e - 1].next)
            mark(f, f->level - 1, last->list[e - 1].from);
    for (uint32_t k = f->level; k-- > 0;) {
        const struct wide_level *level = wide_level_at(s, k);
        for (uint32_t i = level->order_count; i-- > 0;) {
            uint32_t state = level->order[i];
            if (!f->ways[k][state].wanted)
                continue;
            for (uint32_t e = level->nodes[state].edges; e; e = level->list[e - 1].next)
                mark(f, k - level->list[e - 1].visible, level->list[e - 1].from);
        }
    }
}

static void add_way(struct ways *ways, struct way way)
{
    for (uint32_t i = 0; i < ways->count; i++) {
        struct way *known = &ways->list[i];
        if (known->state != way.state || known->column != way.column)
            continue;
        if (way.switches < known->switches)
            *known = way;
        return;
    }
    PT_PUSH(ways->list, ways->count, ways->cap, way);
}

/* The letter that a step reads from a state; the search's state is left after the step. */
static pt_letter letter_of(struct wide_search *s, uint32_t level, uint32_t from, uint32_t column)
{
    const struct wide_level *source = wide_level_at(s, level);
    wide_state_unpack(&s->state, source->keys + (size_t)from * s->p->words);
    const struct wide_event *e = wide_next(s->p, column, s->state.counts[column]);
    wide_take(&s->state, column);
    return wide_read_letter(s, wide_letter(s, source->nodes[from].letter, e), e);
}

/* What the ways of a state become by an edge; `ret_bad`: the best that is bad by it, NULL: nobody asks. */
static void follow_edge(struct finder *f, uint32_t level, const struct wide_edge *edge, struct ways *target,
                        struct way *ret_bad)
{
    struct wide_search *s = f->s;
    uint32_t from_level = level - edge->visible;
    const struct ways *source = &f->ways[from_level][edge->from];
    pt_letter read = edge->visible && source->count ? letter_of(s, from_level, edge->from, edge->column) : 0;
    for (uint32_t i = 0; i < source->count; i++) {
        struct way way = source->list[i];
        way.from = edge->from;
        way.from_way = i;
        way.by = edge->column;
        way.visible = edge->visible;
        if (edge->visible) {
            way.state = pt_monitor_step(s->p->monitor, way.state, read);
            way.switches += way.column != PT_NONE && way.column != edge->column;
            way.column = edge->column;
        }
        if (ret_bad) {
            if (way.state == PT_MSTATE_BAD && (ret_bad->column == PT_NONE || way.switches < ret_bad->switches))
                *ret_bad = way;
        } else if (way.state != PT_MSTATE_BAD && way.state != PT_MSTATE_ERROR) {
            add_way(target, way);
        }
    }
}

/* The best way into a violation. */
static struct way find_best(struct finder *f)
{
    struct wide_search *s = f->s;
    struct way first = {.column = PT_NONE, .from = PT_NONE}, best = {.column = PT_NONE};
    const struct wide_level *level = wide_level_at(s, 0);
    first.state = pt_monitor_step(s->p->monitor, pt_monitor_start(s->p->monitor), level->nodes[0].letter);
    add_way(&f->ways[0][0], first);
    for (uint32_t k = 0; k < f->level; k++) {
        level = wide_level_at(s, k);
        for (uint32_t i = 0; i < level->order_count; i++) {
            uint32_t state = level->order[i];
            for (uint32_t e = f->ways[k][state].wanted ? level->nodes[state].edges : 0; e; e = level->list[e - 1].next)
                follow_edge(f, k, &level->list[e - 1], &f->ways[k][state], NULL);
        }
    }
    level = wide_level_at(s, f->level);
    for (uint32_t i = 0; i < level->count; i++)
        for (uint32_t e = level->nodes[i].set & PT_SET_BAD ? level->nodes[i].edges : 0; e; e = level->list[e - 1].next)
            if (level->list[e - 1].visible)
                follow_edge(f, f->level, &level->list[e - 1], NULL, &best);
    return best;
}

/* The columns whose events the search chose, from the beginning. */
static uint32_t *choices(struct finder *f, struct way way, uint32_t *ret_count)
{
    uint32_t *list = NULL, count = 0, level = f->level;
    size_t cap = 0;
    while (way.from != PT_NONE) {
        PT_PUSH(list, count, cap, way.by);
        level -= way.visible;
        way = f->ways[level][way.from].list[way.from_way];
    }
    for (uint32_t i = 0; i < count / 2; i++) {
        uint32_t other = list[i];
        list[i] = list[count - 1 - i];
        list[count - 1 - i] = other;
    }
    *ret_count = count;
    return list;
}

/* All events of a run, as places of the recording: what was taken, and before each of them what its thread did that the
 * search had left out. */
static uint64_t *whole_run(struct wide_search *s, const uint32_t *chosen, uint32_t chosen_count, uint64_t *ret_count)
{
    const struct wide_problem *p = s->p;
    const struct pt_wide_log *log = p->log;
    struct wide_state state;
    uint64_t *run = NULL, count = 0;
    size_t cap = 0;
    wide_state_init(&state, p);
    wide_saturate(&state, WIDE_ALL);
    for (uint32_t i = 0; i < chosen_count; i++) {
        wide_take(&state, chosen[i]);
        if (i + 1 < chosen_count)
            wide_saturate(&state, WIDE_ALL);
    }
    uint32_t *done = pt_xcalloc((size_t)p->column_count + 1, sizeof *done),
             *at = pt_xcalloc((size_t)p->column_count + 1, sizeof *at);
    for (uint32_t i = 0; i < state.taken_count; i++) {
        uint32_t c = state.taken[i].column, place = wide_next(p, c, at[c]++)->place;
        while (done[c] < log->index[place])
            PT_PUSH(run, count, cap, log->threads[c].places[done[c]++]);
    }
    free(done);
    free(at);
    wide_state_release(&state);
    *ret_count = count;
    return run;
}

bool wide_witness(struct wide_search *s, uint32_t level)
{
    struct finder f = {.s = s, .level = level};
    if (!level)
        return wide_report(s, NULL, 0);
    f.ways = pt_xcalloc(level, sizeof *f.ways);
    for (uint32_t k = 0; k < level; k++)
        f.ways[k] = pt_xcalloc(wide_level_at(s, k)->count, sizeof **f.ways);
    mark_wanted(&f);
    struct way best = find_best(&f);
    bool good = best.column != PT_NONE;
    if (good) {
        uint32_t count;
        uint64_t length;
        uint32_t *chosen = choices(&f, best, &count);
        uint64_t *run = whole_run(s, chosen, count, &length);
        good = wide_report(s, run, length);
        free(run);
        free(chosen);
    }
    for (uint32_t k = 0; k < level; k++) {
        for (uint32_t i = 0; i < wide_level_at(s, k)->count; i++)
            free(f.ways[k][i].list);
        free(f.ways[k]);
    }
    free(f.ways);
    return good;
}
