/*
 * Two accesses that have a lock in common, not both as readers, race in no run of the same events: both sections would
 * have to be open (contract section 3). So a variable has none if there is a lock that each of its accesses has and
 * each of its writes has alone; nor if one thread alone accesses it, or nobody writes. What comes before the first fork
 * is before whatever forked threads do, in every run; it counts only where some thread began without a fork.
 *
 * A race is told once for each pair of places. Of a variable of which all pairs of places at which it was accessed are
 * told already, since the recorded run has races there, nothing more is to be found.
 *
 * Guarantee: what is said to have no race has none that is asked for, in the orders `sync` and `values`; others may
 * have none as well. Memory that is allocated or freed is not judged. Cost: constant time for an access with the locks
 * of the one before it, otherwise that of an intersection. Memory: 32 bytes for each variable.
 */
#include "engine/races_guarded.h"

#include <stdlib.h>
#include <string.h>

enum { NO_SET = 1 }; /* none held */

void pt_guarded_begin(struct pt_guarded *g)
{
    *g = (struct pt_guarded){0};
    pt_strtab_init(&g->sets);
}

void pt_guarded_end(struct pt_guarded *g)
{
    for (size_t i = 0; i < g->thread_cap; i++)
        pt_held_release(&g->threads[i].held);
    free(g->vars);
    free(g->threads);
    free(g->alone);
    pt_strtab_release(&g->sets);
}

size_t pt_guarded_bytes(const struct pt_guarded *g)
{
    return g->var_cap * sizeof *g->vars + g->thread_cap * sizeof *g->threads + pt_strtab_bytes(&g->sets);
}

static uint32_t intern(struct pt_guarded *g, uint32_t *ids, uint32_t count)
{
    count = pt_sort_distinct(ids, count);
    return pt_strtab_intern(&g->sets, (const char *)ids, count * sizeof *ids);
}

/* The set that the thread has, plus 2. */
static uint32_t make_set(struct pt_guarded *g, struct guarded_thread *t)
{
    const struct pt_held *held = &t->held;
    if (!held->count)
        return t->set = NO_SET;
    uint32_t first = held->locks[0].lock << 1 | held->locks[0].shared;
    PT_ROOM(g->alone, g->alone_cap, first);
    if (held->count == 1 && g->alone[first])
        return t->set = g->alone[first] + 1;
    uint32_t *ids = pt_xmalloc(held->count * sizeof *ids);
    for (uint32_t i = 0; i < held->count; i++)
        ids[i] = held->locks[i].lock << 1 | held->locks[i].shared;
    uint32_t set = intern(g, ids, held->count);
    free(ids);
    if (held->count == 1)
        g->alone[first] = set + 1;
    return t->set = set + 2;
}

/* Those of `guards` that the set has too, of a write alone. `guards` are in the form of sets, all as if alone. */
static uint32_t intersect(struct pt_guarded *g, const struct guarded_var *var, uint32_t set, bool writes)
{
    uint32_t len = set == NO_SET ? 0 : pt_strtab_len(&g->sets, set - 2) / (uint32_t)sizeof(uint32_t), kept = 0;
    uint32_t *ids = pt_xmalloc((len + 1) * sizeof *ids);
    for (uint32_t i = 0; i < len; i++) {
        uint32_t id;
        memcpy(&id, pt_strtab_text(&g->sets, set - 2) + i * sizeof id, sizeof id);
        bool had = !var->guards;
        uint32_t guards = had ? 0 : pt_strtab_len(&g->sets, var->guards - 1) / (uint32_t)sizeof(uint32_t);
        for (uint32_t k = 0; k < guards; k++) {
            uint32_t other;
            memcpy(&other, pt_strtab_text(&g->sets, var->guards - 1) + k * sizeof other, sizeof other);
            had |= other >> 1 == id >> 1;
        }
        if (had && !(writes && id & 1))
            ids[kept++] = id & ~1U;
    }
    uint32_t result = intern(g, ids, kept);
    free(ids);
    return result + 1;
}

static void note_place(struct guarded_var *var, const struct pt_event *event)
{
    uint32_t place = (event->loc << 1 | pt_op_writes(event->op)) + 1;
    for (unsigned i = 0; i < GUARDED_PLACES; i++) {
        if (!var->places[i])
            var->places[i] = place;
        if (var->places[i] == place)
            return;
    }
    var->scattered = true;
}

static void on_access(struct pt_guarded *g, struct guarded_thread *t, const struct pt_event *event)
{
    PT_ROOM(g->vars, g->var_cap, event->object);
    struct guarded_var *var = &g->vars[event->object];
    if (!g->forked) {
        var->early = true;
        return;
    }
    note_place(var, event);
    uint32_t set = t->set ? t->set : make_set(g, t);
    unsigned writes = pt_op_writes(event->op) ? 3 : 0;
    var->shared |= var->thread && var->thread != event->thread + 1;
    if (!var->thread)
        var->thread = event->thread + 1;
    if (var->latest == set && (var->written & 2) >= (writes & 2))
        return;
    var->guards = intersect(g, var, set, writes);
    var->latest = set;
    var->written = (uint8_t)((var->written & 1) | writes);
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

/* Whether the variable is NAME or NAME+OFFSET of memory that was allocated or freed. */
static bool is_memory(const struct pt_names *names, uint32_t var)
{
    const struct pt_strtab *vars = &names->space[PT_SPACE_VAR], *blocks = &names->space[PT_SPACE_HEAP];
    const char *name = pt_strtab_text(vars, var);
    size_t len = pt_strtab_len(vars, var), at = len;
    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
        at--;
    bool offset = at > 1 && at < len && name[at - 1] == '+';
    return blocks->count && pt_strtab_find(blocks, name, offset ? at - 1 : len) != PT_NONE;
}

bool *pt_guarded_candidates(const struct pt_guarded *g, const struct pt_names *names, uint32_t roots)
{
    uint32_t count = names->space[PT_SPACE_VAR].count;
    bool *candidates = pt_xcalloc((size_t)count + 1, sizeof *candidates), any = false;
    for (uint32_t i = 0; i < count; i++) {
        const struct guarded_var *var = i < g->var_cap ? &g->vars[i] : NULL;
        bool unguarded = var && var->shared && var->written & 1 && !pt_strtab_len(&g->sets, var->guards - 1);
        candidates[i] = roots > 1 || unguarded || is_memory(names, i);
        any |= candidates[i];
    }
    if (any)
        return candidates;
    free(candidates);
    return NULL;
}

static bool is_open(const struct guarded_var *var, uint32_t id, pt_guarded_asks *asks, void *context)
{
    for (unsigned i = 0; i < GUARDED_PLACES && var->places[i]; i++)
        for (unsigned k = 0; k <= i; k++) {
            uint32_t one = var->places[i] - 1, other = var->places[k] - 1;
            if ((one | other) & 1 && asks(context, id, one >> 1, other >> 1))
                return true;
        }
    return false;
}

bool *pt_guarded_asked(const struct pt_guarded *g, const struct pt_names *names, uint32_t roots, bool *candidates,
                       pt_guarded_asks *asks, void *context)
{
    bool any = false;
    for (uint32_t i = 0; candidates && i < names->space[PT_SPACE_VAR].count; i++) {
        const struct guarded_var *var = i < g->var_cap ? &g->vars[i] : NULL;
        if (var && !var->scattered && !(var->early && roots > 1) && !is_memory(names, i))
            candidates[i] = candidates[i] && is_open(var, i, asks, context);
        any |= candidates[i];
    }
    if (any)
        return candidates;
    free(candidates);
    return NULL;
}
