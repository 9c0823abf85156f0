/*
 * What a search looks up in its loop, made once per problem: in sync, for each event the nearest conflicting events of
 * the other threads; where counts and classes lie in a packed state; and bounds of all counts at once.
 *
 * Guarantee: two states of a problem are the same iff their words are. Cost: one pass forwards and one backwards over
 * the recording, and per event the threads that share its object.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/wide/wide_impl.h"

struct wide_object *wide_object_of(const struct wide_problem *p, const struct wide_event *e)
{
    switch (e->kind) {
    case WIDE_READ:
    case WIDE_WRITE:
    case WIDE_UPDATE:
        return &p->vars[e->object];
    case WIDE_ACQ:
    case WIDE_REL:
    case WIDE_RACQ:
    case WIDE_RREL:
        return &p->locks[e->object];
    default:
        return NULL;
    }
}

static bool is_strong(const struct wide_event *e)
{
    return e->kind == WIDE_WRITE || e->kind == WIDE_UPDATE || e->kind == WIDE_ACQ || e->kind == WIDE_REL;
}

/* One event in a pass over all of them, forwards or backwards: the nearest event of each other thread that conflicts.
 * `any` and `strong` have it per user of each object. */
static void pair_event(struct wide_problem *p, struct wide_event *e, uint32_t thread, uint32_t number, uint32_t *any,
                       uint32_t *strong, bool wanted, uint32_t *ret_first, uint32_t *ret_count)
{
    const struct wide_object *object = wide_object_of(p, e);
    *ret_first = p->pair_count;
    for (uint32_t u = 0; u < object->user_count; u++) {
        uint32_t at = object->first_user + u;
        if (object->users[u].thread == thread) {
            any[at] = number;
            if (is_strong(e))
                strong[at] = number;
        } else if (wanted && (is_strong(e) ? any : strong)[at]) {
            struct wide_need pair = {object->users[u].thread, (is_strong(e) ? any : strong)[at]};
            PT_PUSH(p->pairs, p->pair_count, p->pair_cap, pair);
        }
    }
    *ret_count = p->pair_count - *ret_first;
}

void wide_pairs_make(struct wide_problem *p, const uint32_t *kept)
{
    const struct pt_wide_log *log = p->log;
    uint32_t users = 0;
    for (uint32_t v = 0; v < p->var_count + p->lock_count; v++) {
        struct wide_object *o = v < p->var_count ? &p->vars[v] : &p->locks[v - p->var_count];
        o->first_user = users;
        users += o->user_count;
    }
    uint32_t *any = pt_xcalloc((size_t)users + 1, sizeof *any), *strong = pt_xcalloc((size_t)users + 1, sizeof *strong);
    for (uint32_t i = 0; i < log->count; i++) {
        uint32_t thread = log->events[i].thread;
        struct wide_event *e = kept[i] ? wide_next(p, thread, kept[i] - 1) : NULL;
        if (!e || !wide_object_of(p, e))
            continue;
        struct wide_user *user = wide_user_of(wide_object_of(p, e), thread);
        PT_PUSH(user->at, user->count, user->cap, kept[i]);
        pair_event(p, e, thread, kept[i], any, strong,
                   !e->visible && e->kind != WIDE_READ && e->kind != WIDE_REL && e->kind != WIDE_RREL, &e->earlier,
                   &e->earlier_count);
    }
    memset(any, 0, users * sizeof *any);
    memset(strong, 0, users * sizeof *strong);
    for (uint32_t i = (uint32_t)log->count; i-- > 0;) {
        uint32_t thread = log->events[i].thread;
        struct wide_event *e = kept[i] ? wide_next(p, thread, kept[i] - 1) : NULL;
        if (e && wide_object_of(p, e))
            pair_event(p, e, thread, kept[i], any, strong, e->kind != WIDE_REL && e->kind != WIDE_RREL, &e->later,
                       &e->later_count);
    }
    free(any);
    free(strong);
    p->bytes += p->pair_cap * sizeof *p->pairs;
}

/* ---- packing ---- */

static void place_field(struct wide_problem *p, uint32_t *used, uint64_t greatest, uint32_t *ret_word,
                        uint32_t *ret_shift, uint64_t *ret_mask)
{
    uint32_t bits = greatest ? 64 - (uint32_t)__builtin_clzll(greatest) : 0;
    if (*used + bits > 64) {
        p->words++;
        *used = 0;
    }
    *ret_word = p->words - 1;
    *ret_shift = *used & 63; /* a field of no bits may stand behind the last one */
    *ret_mask = bits ? ((uint64_t)1 << bits) - 1 : 0;
    *used += bits;
}

/* Whether counts get a bit to spare: struct wide_packed. */
static bool has_room(const struct wide_problem *p)
{
    uint32_t bits = 0;
    bool locks = false;
    for (uint32_t c = 0; c < p->column_count; c++) {
        const struct wide_column *column = &p->columns[c];
        for (uint32_t k = 0; k < column->count && !locks; k++)
            locks = column->events[k].kind == WIDE_ACQ || column->events[k].kind == WIDE_RACQ;
        bits += column->count ? 65 - (uint32_t)__builtin_clzll(column->count) : 0;
    }
    return p->order == PT_POSSIBLE_SYNC && !locks && bits <= 64;
}

void wide_layout_make(struct wide_problem *p)
{
    uint32_t used = 0, spare = has_room(p);
    p->words = 1;
    for (uint32_t c = 0; c < p->column_count; c++) {
        struct wide_column *column = &p->columns[c];
        if (!column->count)
            continue;
        place_field(p, &used, (uint64_t)column->count << spare, &column->word, &column->shift, &column->mask);
        if (spare)
            p->guards |= (column->mask ^ column->mask >> 1) << column->shift;
        PT_PUSH(p->active, p->active_count, p->active_cap, c);
    }
    for (uint32_t v = 0; v < p->var_count && p->order == PT_POSSIBLE_VALUES; v++) {
        struct wide_object *var = &p->vars[v];
        if (!var->tracked)
            continue;
        place_field(p, &used, var->class_count - 1, &var->word, &var->shift, &var->mask);
        PT_PUSH(p->classed, p->classed_count, p->classed_cap, v);
    }
}

/* The count of a thread in a word of bounds. */
static void set_bound(const struct wide_problem *p, uint64_t *bounds, struct wide_need need)
{
    const struct wide_column *column = &p->columns[need.thread];
    *bounds &= ~(column->mask << column->shift);
    *bounds |= (uint64_t)need.count << column->shift;
}

static uint64_t bound_of(const struct wide_problem *p, uint64_t bounds, uint32_t thread)
{
    return bounds >> p->columns[thread].shift & p->columns[thread].mask;
}

/* Columns as bits by their numbers modulo 64, as bits by those of `active`. */
static uint32_t active_bits(const struct wide_problem *p, uint64_t columns)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < p->active_count; i++)
        bits |= (uint32_t)(columns >> p->active[i] % 64 & 1) << i;
    return bits;
}

/* False: it needs more than a column has. */
static bool pack_event(const struct wide_problem *p, const struct wide_column *column, uint32_t number)
{
    const struct wide_event *e = &column->events[number];
    struct wide_packed *packed = &column->packed[number];
    bool access = e->kind == WIDE_READ || e->kind == WIDE_WRITE || e->kind == WIDE_UPDATE, good = true;
    packed->most = p->guards;
    packed->watches = active_bits(p, column->watches[number]);
    packed->effect = e->effect;
    packed->visible = e->visible;
    packed->safe = !e->visible && !e->earlier_count; /* there are no locks, and nothing that it could exclude */
    packed->plain = e->visible && !column->watches[number + 1];
    for (uint32_t i = 0; i < e->need_count; i++) {
        good &= e->need[i].count <= p->columns[e->need[i].thread].count;
        if (good && e->need[i].count > bound_of(p, packed->least, e->need[i].thread))
            set_bound(p, &packed->least, e->need[i]);
    }
    for (uint32_t i = 0; access && i < e->later_count; i++)
        set_bound(p, &packed->most, p->pairs[e->later + i]);
    return good;
}

void wide_packed_make(struct wide_problem *p)
{
    for (uint32_t i = 0; i < p->active_count && p->guards; i++) {
        struct wide_column *column = &p->columns[p->active[i]];
        column->packed = pt_xcalloc((size_t)column->count + 1, sizeof *column->packed);
        p->bytes += ((size_t)column->count + 1) * sizeof *column->packed;
        for (uint32_t k = 0; k < column->count && p->guards; k++) {
            if (!pack_event(p, column, k))
                p->guards = 0;
        }
        /* behind the last: bounds of 0 are all reached, so it is overtaken, and never happens */
    }
}
