/*
 * Contract section 3, "Window", by its letter: levels of cuts that are sets of event numbers, sorted and merged, with
 * the order taken from the closed relation. The monitor is written by hand for one property that needs everything at
 * once: an atom over two variables, a user event, and memory of the past.
 */
#ifndef PT_TEST_WINDOW_REFERENCE_H
#define PT_TEST_WINDOW_REFERENCE_H

#include "computation.h"

static const char PROPERTY[] = "property p: x0 > 3 -> once (x1 > x2 && event(e0));";
/* The same without the event, so that whoever comes to a cut reads the same letter. */
static const char EVENTLESS[] = "property p: x0 > 3 -> once x1 > x2;";
static const char *asked = PROPERTY; /* or the other one */

/* The relevant events, numbered from 0 here. */
struct relevant {
    const struct computation *c;
    uint32_t event[COMP_MAX];
    struct bits before[COMP_MAX];
    uint32_t count;
    /* Orders in which events exclude each other: may k follow the cut, which has all before it? NULL: always. */
    bool (*allowed)(const struct relevant *r, const struct bits *cut, uint32_t k);
};

struct cut {
    struct bits in;
    uint64_t runs;
    unsigned memory; /* bit m: some run comes here with once(...) == m and was never bad before */
    bool bad;
};

struct explored {
    uint64_t levels, states, width, runs;
    uint32_t bad_level; /* PT_NONE: none */
    bool complete, observed_bad, too_large;
    bool complete_before_bad; /* of the levels before the bad one */
};

static bool names_it(const struct pt_names *names, const struct pt_event *e)
{
    if (e->op == PT_OP_EVENT)
        return strcmp(pt_name(names, PT_SPACE_EVENT, e->object), "e0") == 0;
    return (e->op == PT_OP_WRITE || e->op == PT_OP_UPDATE) &&
           strcmp(pt_name(names, PT_SPACE_VAR, e->object), "x3") != 0;
}

/* Of a computation whose relation is closed. */
static struct relevant *relevant_of_closed(struct computation *c)
{
    struct relevant *r = pt_xcalloc(1, sizeof *r);
    r->c = c;
    for (uint32_t e = 0; e < c->count; e++) {
        if (!names_it(&c->names, &c->events[e]))
            continue;
        for (uint32_t k = 0; k < r->count; k++)
            if (bits_has(&c->before[e], r->event[k]))
                bits_add(&r->before[r->count], k);
        r->event[r->count++] = e;
    }
    return r;
}

static inline struct relevant *relevant_of(struct computation *c)
{
    comp_close(c);
    return relevant_of_closed(c);
}

static bool is_enabled(const struct relevant *r, const struct bits *cut, uint32_t k)
{
    return !bits_has(cut, k) && bits_within(&r->before[k], cut) && (!r->allowed || r->allowed(r, cut, k));
}

static void values_in(const struct relevant *r, const struct bits *cut, int64_t *x)
{
    x[0] = x[1] = x[2] = 0;
    for (uint32_t k = 0; k < r->count; k++) { /* writes of one variable are ordered as in the trace */
        const struct pt_event *e = &r->c->events[r->event[k]];
        if (bits_has(cut, k) && e->op != PT_OP_EVENT)
            x[pt_name(&r->c->names, PT_SPACE_VAR, e->object)[1] - '0'] = e->value.i;
    }
}

/* One state, made by relevant event `made_by`: the memories that are left, and whether some run is bad here. */
static unsigned step(const struct relevant *r, const struct bits *cut, uint32_t made_by, unsigned memory, bool *bad)
{
    int64_t x[3];
    values_in(r, cut, x);
    bool go = made_by != PT_NONE && r->c->events[r->event[made_by]].op == PT_OP_EVENT;
    bool now = x[1] > x[2] && (go || asked == EVENTLESS);
    unsigned next = 0;
    for (unsigned m = 0; m < 2; m++)
        if (memory >> m & 1) {
            bool once = m || now;
            if (x[0] > 3 && !once)
                *bad = true;
            else
                next |= 1u << once;
        }
    return next;
}

static int compare_cuts(const void *a, const void *b)
{
    const struct cut *x = a, *y = b; /* largest number first: the highest difference decides */
    for (uint32_t w = COMP_WORDS; w-- > 0;)
        if (x->in.word[w] != y->in.word[w])
            return x->in.word[w] < y->in.word[w] ? -1 : 1;
    return 0;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

static uint32_t merge_equal(struct cut *list, uint32_t count)
{
    uint32_t kept = 0;
    qsort(list, count, sizeof *list, compare_cuts);
    for (uint32_t i = 0; i < count; i++) {
        if (kept && compare_cuts(&list[kept - 1], &list[i]) == 0) {
            list[kept - 1].runs = plus(list[kept - 1].runs, list[i].runs);
            list[kept - 1].memory |= list[i].memory;
            list[kept - 1].bad |= list[i].bad;
        } else {
            list[kept++] = list[i];
        }
    }
    return kept;
}

/* Marks Q: the first `lookahead` events that are not in every cut. */
static void mark_q(const struct relevant *r, const struct cut *level, uint32_t count, uint64_t lookahead,
                   struct bits *q)
{
    *q = (struct bits){{0}};
    for (uint32_t k = 0; k < r->count && lookahead; k++) {
        bool everywhere = true;
        for (uint32_t i = 0; i < count && everywhere; i++)
            everywhere = bits_has(&level[i].in, k);
        if (everywhere)
            continue;
        bits_add(q, k);
        lookahead--;
    }
}

static void observe_reference(const struct relevant *r, struct explored *x)
{
    struct bits cut = {{0}};
    bool bad = false;
    unsigned memory = step(r, &cut, PT_NONE, 1, &bad);
    for (uint32_t k = 0; k < r->count; k++) {
        bits_add(&cut, k);
        memory = step(r, &cut, k, memory, &bad);
    }
    x->observed_bad = bad;
}

/* Candidates of the next level, all of them and not merged; tells about enabled events outside Q. */
static uint32_t candidates_of(const struct relevant *r, const struct cut *level, uint32_t count, const struct bits *q,
                              struct cut **list, size_t *cap, bool *complete)
{
    uint32_t len = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < r->count; k++) {
            if (!is_enabled(r, &level[i].in, k))
                continue;
            if (!bits_has(q, k)) {
                *complete = false;
                continue;
            }
            struct cut next = {.in = level[i].in, .runs = level[i].runs};
            bits_add(&next.in, k);
            next.memory = step(r, &next.in, k, level[i].memory, &next.bad);
            PT_PUSH(*list, len, *cap, next);
        }
    return len;
}

static struct explored explore(const struct relevant *r, uint64_t window, uint64_t lookahead)
{
    struct explored x = {.bad_level = PT_NONE, .complete = true};
    struct cut *level = NULL, *next = NULL;
    size_t level_cap = 0, next_cap = 0;
    uint32_t count = 0;
    struct cut first = {.runs = 1};
    first.memory = step(r, &first.in, PT_NONE, 1, &first.bad);
    observe_reference(r, &x);
    PT_PUSH(level, count, level_cap, first);
    while (count && !x.too_large) {
        x.width = count > x.width ? count : x.width;
        x.states += count;
        x.runs = 0;
        for (uint32_t i = 0; i < count; i++) {
            x.runs = plus(x.runs, level[i].runs);
            if (level[i].bad && x.bad_level == PT_NONE) {
                x.bad_level = (uint32_t)x.levels;
                x.complete_before_bad = x.complete;
            }
        }
        x.levels++;
        struct bits q;
        mark_q(r, level, count, lookahead, &q);
        uint32_t found = candidates_of(r, level, count, &q, &next, &next_cap, &x.complete);
        found = merge_equal(next, found);
        if (found > window) {
            x.complete = false;
            found = (uint32_t)window;
        }
        struct cut *swap = level;
        level = next;
        next = swap;
        size_t swap_cap = level_cap;
        level_cap = next_cap;
        next_cap = swap_cap;
        count = found;
        x.too_large = count > 1500;
    }
    free(level);
    free(next);
    return x;
}

#endif
