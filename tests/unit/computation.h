/*
 * Random multithreaded computations, and their causal order by the letter of contract section 3: every pair of events
 * is looked at, and the relation closed. Slow and without clocks, so that it can judge what is fast and uses them.
 */
#ifndef PT_TEST_COMPUTATION_H
#define PT_TEST_COMPUTATION_H

#include <stdio.h>

#include "trace/event.h"
#include "trace_util.h"

enum { COMP_MAX = 1024, COMP_WORDS = COMP_MAX / 64 };

struct bits {
    uint64_t word[COMP_WORDS];
};

static inline void bits_add(struct bits *set, uint32_t i)
{
    set->word[i / 64] |= (uint64_t)1 << (i % 64);
}
static inline bool bits_has(const struct bits *set, uint32_t i)
{
    return set->word[i / 64] >> (i % 64) & 1;
}
static inline bool bits_within(const struct bits *a, const struct bits *b)
{
    for (uint32_t w = 0; w < COMP_WORDS; w++)
        if (a->word[w] & ~b->word[w])
            return false;
    return true;
}

struct computation {
    struct pt_names names;
    struct pt_event *events;
    bool *relevant;
    struct bits *before; /* per event: the events that strictly precede it */
    uint32_t count;
};

static inline void comp_init(struct computation *c)
{
    pt_names_init(&c->names);
    c->events = pt_xcalloc(COMP_MAX, sizeof *c->events);
    c->relevant = pt_xcalloc(COMP_MAX, sizeof *c->relevant);
    c->before = pt_xcalloc(COMP_MAX, sizeof *c->before);
    c->count = 0;
}

static inline void comp_release(struct computation *c)
{
    pt_names_release(&c->names);
    free(c->events);
    free(c->relevant);
    free(c->before);
}

static inline uint32_t comp_name(struct computation *c, enum pt_space space, const char *prefix, uint32_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%s%u", prefix, number);
    return pt_strtab_intern(&c->names.space[space], text, strlen(text));
}

/* Events with the object's number: x0, x1, ... for variables, and so on by kind; threads are T0, T1, ... */
static inline void comp_add(struct computation *c, uint32_t thread, enum pt_op op, uint32_t object, int64_t value)
{
    static const char *const prefix[PT_SPACE_COUNT] = {"T", "x", "l", "o", "b", "e", "i", "s", "", ""};
    assert_true(c->count < COMP_MAX);
    enum pt_space space = pt_op_space(op);
    struct pt_event *e = &c->events[c->count];
    *e = (struct pt_event){.line = c->count + 1, .op = (uint8_t)op};
    e->thread = comp_name(c, PT_SPACE_THREAD, "T", thread);
    e->object = comp_name(c, space, prefix[space], object);
    e->loc = comp_name(c, PT_SPACE_LOC, "at", c->count + 1);
    if (op == PT_OP_WRITE || op == PT_OP_UPDATE)
        e->value = pt_value_int(value);
    c->count++;
}

static inline bool comp_writes(enum pt_op op)
{
    return op == PT_OP_WRITE || op == PT_OP_UPDATE || op == PT_OP_ACQ || op == PT_OP_REL || op == PT_OP_WAIT ||
           op == PT_OP_NOTIFY || op == PT_OP_SYNC;
}

static inline bool comp_accesses(enum pt_op op)
{
    return comp_writes(op) || op == PT_OP_READ || op == PT_OP_RACQ || op == PT_OP_RREL;
}

/* Does an earlier event d directly precede e? */
static inline bool comp_direct(const struct pt_event *d, const struct pt_event *e)
{
    if (d->thread == e->thread)
        return true;
    if (comp_accesses(d->op) && comp_accesses(e->op) && pt_op_space(d->op) == pt_op_space(e->op) &&
        d->object == e->object && (comp_writes(d->op) || comp_writes(e->op)))
        return true;
    if (d->op == PT_OP_FORK && (d->object == e->thread || (e->op == PT_OP_JOIN && e->object == d->object)))
        return true;
    return e->op == PT_OP_JOIN && e->object == d->thread;
}

/* Closes a relation between events and later ones. */
static inline void comp_close_under(struct computation *c,
                                    bool (*direct)(const struct pt_event *d, const struct pt_event *e))
{
    for (uint32_t e = 0; e < c->count; e++) {
        c->before[e] = (struct bits){{0}};
        for (uint32_t d = 0; d < e; d++) {
            if (!direct(&c->events[d], &c->events[e]))
                continue;
            bits_add(&c->before[e], d);
            for (uint32_t w = 0; w < COMP_WORDS; w++)
                c->before[e].word[w] |= c->before[d].word[w];
        }
    }
}

static inline void comp_close(struct computation *c)
{
    comp_close_under(c, comp_direct);
}

/*
 * A random computation: threads 0 .. threads - 1, of which the odd ones are forked by their left neighbour before they
 * act and, some of them, joined at the end. `calm`: one in `calm` events is a plain write or user event, the others
 * order threads with each other.
 */
static inline void comp_random(struct computation *c, uint64_t *seed, uint32_t threads, uint32_t count, uint32_t calm)
{
    static const enum pt_op ordering[] = {PT_OP_READ, PT_OP_ACQ,  PT_OP_REL,    PT_OP_RACQ,
                                          PT_OP_RREL, PT_OP_WAIT, PT_OP_NOTIFY, PT_OP_SYNC};
    bool *forked = pt_xcalloc(threads, sizeof *forked), *joined = pt_xcalloc(threads, sizeof *joined);
    while (c->count < count) {
        uint32_t t = below(seed, threads);
        if (joined[t])
            continue;
        if (t % 2 && !forked[t]) {
            forked[t] = true;
            comp_add(c, t - 1, PT_OP_FORK, t, 0);
        } else if (t % 2 && below(seed, 40) == 0 && !joined[t - 1]) {
            joined[t] = true;
            comp_add(c, t - 1, PT_OP_JOIN, t, 0);
        } else if (below(seed, calm) == 0) {
            uint32_t kind = below(seed, 10);
            comp_add(c, t,
                     kind < 6   ? PT_OP_WRITE
                     : kind < 7 ? PT_OP_UPDATE
                                : PT_OP_EVENT,
                     below(seed, 4), below(seed, 6));
        } else {
            comp_add(c, t, ordering[below(seed, 8)], below(seed, 3), 0);
        }
    }
    free(forked);
    free(joined);
}

#endif
