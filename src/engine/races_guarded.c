/*
 * Two accesses that have a lock in common, not both as readers, race in no run of the same events: both sections would
 * have to be open (contract section 3). So two places at which a variable is accessed have no race if there is a lock
 * that each access there has had, and at one of the two as no reader; nor if one thread alone accesses it there, nobody
 * writes, or all are atomic. What comes before the first fork is before whatever forked threads do, in every run; it
 * counts only where some thread began without a fork.
 *
 * A race is told once for each pair of places: where the recorded run has one, or one was found, there is nothing more
 * to be found. Of a variable the first GUARDED_PLACES places are told apart; all others are one, of which nothing is
 * told.
 *
 * Guarantee: what is said to have no race has none that is asked for, in the orders `sync` and `values`; others may
 * have none as well. Memory that is allocated or freed is not judged. Cost: constant time for an access with the locks
 * of those before it at its place, otherwise that of an intersection, of which some are remembered. Memory: 64 bytes
 * for each variable.
 */
#include "engine/races_guarded.h"

#include <stdlib.h>
#include <string.h>

#include "core/hash.h"

enum { NOTHING = 1 }; /* the empty set, plus 1 */
_Static_assert(sizeof(struct guarded_var) == 64, "a cache line");

void pt_guarded_begin(struct pt_guarded *g)
{
    *g = (struct pt_guarded){0};
    g->met = pt_xcalloc(GUARDED_MET, sizeof *g->met);
    pt_strtab_init(&g->sets);
    pt_strtab_intern(&g->sets, "", 0);
}

void pt_guarded_end(struct pt_guarded *g)
{
    for (size_t i = 0; i < g->thread_cap; i++)
        pt_held_release(&g->threads[i].held);
    free(g->vars);
    free(g->threads);
    free(g->alone);
    free(g->met);
    pt_strtab_release(&g->sets);
}

size_t pt_guarded_bytes(const struct pt_guarded *g)
{
    return g->var_cap * sizeof *g->vars + g->thread_cap * sizeof *g->threads + pt_strtab_bytes(&g->sets);
}

/* ---- sets of locks ---- */

static uint32_t count_of(const struct pt_guarded *g, uint32_t set)
{
    return pt_strtab_len(&g->sets, set - 1) / (uint32_t)sizeof(uint32_t);
}

static uint32_t lock_at(const struct pt_guarded *g, uint32_t set, uint32_t index)
{
    uint32_t id;
    memcpy(&id, pt_strtab_text(&g->sets, set - 1) + index * sizeof id, sizeof id);
    return id;
}

/* The set that the thread has, plus 1. */
static uint32_t make_set(struct pt_guarded *g, struct guarded_thread *t)
{
    const struct pt_held *held = &t->held;
    if (!held->count)
        return t->set = NOTHING;
    uint32_t first = held->locks[0].lock << 1 | held->locks[0].shared;
    PT_ROOM(g->alone, g->alone_cap, first);
    if (held->count == 1 && g->alone[first])
        return t->set = g->alone[first];
    uint32_t *ids = pt_xmalloc(held->count * sizeof *ids);
    for (uint32_t i = 0; i < held->count; i++)
        ids[i] = held->locks[i].lock << 1 | held->locks[i].shared;
    uint32_t count = pt_sort_distinct(ids, held->count);
    t->set = pt_strtab_intern(&g->sets, (const char *)ids, count * sizeof *ids) + 1;
    free(ids);
    if (held->count == 1)
        g->alone[first] = t->set;
    return t->set;
}

/* The locks that both have, as readers where one has it so. */
static uint32_t intersect(struct pt_guarded *g, uint32_t one, uint32_t other)
{
    uint32_t kept = 0, *ids = pt_xmalloc((count_of(g, one) + 1) * sizeof *ids);
    for (uint32_t i = 0, k = 0; i < count_of(g, one) && k < count_of(g, other);) {
        uint32_t a = lock_at(g, one, i), b = lock_at(g, other, k);
        if (a >> 1 == b >> 1)
            ids[kept++] = a | b;
        i += a >> 1 <= b >> 1;
        k += b >> 1 <= a >> 1;
    }
    uint32_t both = pt_strtab_intern(&g->sets, (const char *)ids, kept * sizeof *ids) + 1;
    free(ids);
    return both;
}

static uint32_t meet(struct pt_guarded *g, uint32_t one, uint32_t other)
{
    struct guarded_met *met = &g->met[pt_mix64((uint64_t)one << 32 | other) % GUARDED_MET];
    if (met->one != one || met->other != other)
        *met = (struct guarded_met){one, other, intersect(g, one, other)};
    return met->both;
}

/* ---- accesses ---- */

static unsigned find_place(struct guarded_var *var, const struct pt_event *event)
{
    uint32_t place = (event->loc << 1 | pt_op_writes(event->op)) + 1;
    unsigned i = 0;
    while (i < GUARDED_PLACES && var->places[i].place && var->places[i].place != place)
        i++;
    var->places[i].place = place;
    var->rest_written |= i == GUARDED_PLACES && pt_op_writes(event->op);
    return i;
}

static void on_access(struct pt_guarded *g, struct guarded_thread *t, const struct pt_event *event)
{
    PT_ROOM(g->vars, g->var_cap, event->object);
    struct guarded_var *var = &g->vars[event->object];
    if (!g->forked) {
        var->early = true;
        return;
    }
    unsigned index = find_place(var, event);
    struct guarded_place *place = &var->places[index];
    uint32_t set = t->set ? t->set : make_set(g, t);
    if (!event->order && event->op != PT_OP_UPDATE)
        var->plain |= (uint8_t)(1U << index);
    if (!place->thread) {
        place->thread = event->thread + 1;
        place->guards = set;
    }
    if (place->thread != event->thread + 1)
        place->thread = GUARDED_MANY;
    if (place->guards != set && place->guards != NOTHING)
        place->guards = meet(g, place->guards, set);
}

void pt_guarded_event(struct pt_guarded *g, const struct pt_event *event)
{
    bool shared;
    PT_ROOM(g->threads, g->thread_cap, event->thread);
    struct guarded_thread *t = &g->threads[event->thread];
    if (pt_op_space(event->op) == PT_SPACE_VAR) {
        on_access(g, t, event);
    } else if (event->op == PT_OP_FORK) {
        g->forked = true;
    } else if (pt_op_locks(event->op)) {
        if (pt_held_take(&t->held, event))
            t->set = 0;
    } else if (pt_op_space(event->op) == PT_SPACE_LOCK && event->op != PT_OP_CONTENDED) {
        if (pt_held_give(&t->held, event, &shared))
            t->set = 0;
    }
}

/* ---- what is left ---- */

/* Whether the variable is NAME or NAME+OFFSET of memory that was allocated or freed. */
static bool is_memory(const struct pt_names *names, uint32_t var)
{
    const struct pt_strtab *vars = &names->space[PT_SPACE_VAR], *blocks = &names->space[PT_SPACE_HEAP];
    if (!blocks->count)
        return false;
    const char *name = pt_strtab_text(vars, var);
    size_t len = pt_strtab_len(vars, var), at = len;
    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
        at--;
    bool offset = at > 1 && at < len && name[at - 1] == '+';
    return pt_strtab_find(blocks, name, offset ? at - 1 : len) != PT_NONE;
}

/* Whether both have one lock, and one of them not as a reader. */
static bool have_common(const struct pt_guarded *g, uint32_t one, uint32_t other)
{
    for (uint32_t i = 0; i < count_of(g, one); i++)
        for (uint32_t k = 0; k < count_of(g, other); k++) {
            uint32_t a = lock_at(g, one, i), b = lock_at(g, other, k);
            if (a >> 1 == b >> 1 && !(a & b & 1))
                return true;
        }
    return false;
}

static bool may_race(const struct pt_guarded *g, const struct guarded_var *var, unsigned i, unsigned k)
{
    const struct guarded_place *one = &var->places[i], *other = &var->places[k];
    bool writes = i == GUARDED_PLACES ? var->rest_written : (one->place - 1) & 1;
    writes |= k == GUARDED_PLACES ? var->rest_written : (other->place - 1) & 1;
    return writes && (one->thread != other->thread || one->thread == GUARDED_MANY) &&
           (var->plain >> i & 1 || var->plain >> k & 1) && !have_common(g, one->guards, other->guards);
}

bool pt_guarded_is_open(const struct pt_guarded *g, const struct pt_names *names, uint32_t roots, uint32_t id,
                        pt_guarded_asks *asks, void *context)
{
    const struct guarded_var *var = id < g->var_cap ? &g->vars[id] : NULL;
    if (is_memory(names, id) || (roots > 1 && (!var || var->early)))
        return true;
    for (unsigned i = 0; var && i <= GUARDED_PLACES && var->places[i].place; i++)
        for (unsigned k = 0; k <= i; k++) {
            uint32_t one = (var->places[i].place - 1) >> 1, other = (var->places[k].place - 1) >> 1;
            if (may_race(g, var, i, k) && (!asks || i == GUARDED_PLACES || asks(context, id, one, other)))
                return true;
        }
    return false;
}

bool *pt_guarded_candidates(const struct pt_guarded *g, const struct pt_names *names, uint32_t roots,
                            pt_guarded_asks *asks, void *context)
{
    uint32_t count = names->space[PT_SPACE_VAR].count;
    bool *candidates = pt_xcalloc((size_t)count + 1, sizeof *candidates), any = false;
    for (uint32_t i = 0; i < count; i++)
        any |= candidates[i] = pt_guarded_is_open(g, names, roots, i, asks, context);
    if (any)
        return candidates;
    free(candidates);
    return NULL;
}
