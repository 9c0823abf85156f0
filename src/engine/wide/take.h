/* One event that happens in a state, and is undone: what the loop of a search does all the time. */
#ifndef PT_ENGINE_WIDE_TAKE_H
#define PT_ENGINE_WIDE_TAKE_H

#include "engine/wide/wide_impl.h"

/* Whatever column has moved. */
#define WIDE_ALL UINT64_MAX

/* The locks that the column has, by how far it is. */
static inline uint32_t wide_held_by(const struct wide_state *s, uint32_t column)
{
    return s->counts[column] ? wide_next(s->p, column, s->counts[column] - 1)->held : 0;
}

/* These locks of the column are marked as had, or as free. */
static inline void wide_mark(struct wide_state *s, uint32_t column, uint32_t held, bool has)
{
    const struct wide_problem *p = s->p;
    for (uint32_t at = held; at; at = p->helds[at - 1].next) {
        const struct wide_held *lock = &p->helds[at - 1];
        if (lock->shared)
            s->readers[lock->lock] += has ? 1 : UINT32_MAX;
        else
            s->owner[lock->lock] = has ? column + 1 : 0;
    }
}

/* Sync: nothing that is recorded later and conflicts has happened. */
static inline bool wide_overtaken(const struct wide_state *s, const struct wide_event *e)
{
    const struct wide_need *pairs = s->p->pairs + e->later;
    for (uint32_t i = 0; i < e->later_count; i++)
        if (s->counts[pairs[i].thread] >= pairs[i].count)
            return true;
    return false;
}

/* May the column's next event, this one, happen? */
static inline bool wide_may_happen(const struct wide_state *s, uint32_t column, const struct wide_event *e)
{
    const struct wide_problem *p = s->p;
    for (uint32_t i = 0; i < e->need_count; i++)
        if (s->counts[e->need[i].thread] < e->need[i].count)
            return false;
    switch (e->kind) {
    case WIDE_READ:
    case WIDE_WRITE:
    case WIDE_UPDATE:
        if (p->order == PT_POSSIBLE_SYNC)
            return !wide_overtaken(s, e);
        if (e->kind == WIDE_WRITE)
            return true;
        return e->wants == (e->tied ? s->classes[e->object] : p->vars[e->object].value[s->classes[e->object]]);
    case WIDE_ACQ:
        return (!s->owner[e->object] || s->owner[e->object] == column + 1) && s->readers[e->object] == e->self_shared &&
               !wide_overtaken(s, e);
    case WIDE_RACQ:
        return (!s->owner[e->object] || s->owner[e->object] == column + 1) && !wide_overtaken(s, e);
    default:
        return true;
    }
}

/* May the column's next event happen? There is one. */
static inline bool wide_enabled(const struct wide_state *s, uint32_t column)
{
    return wide_may_happen(s, column, wide_next(s->p, column, s->counts[column]));
}

static inline void wide_take(struct wide_state *s, uint32_t column)
{
    const struct wide_column *of = &s->p->columns[column];
    uint32_t count = s->counts[column]++;
    const struct wide_event *e = &of->events[count];
    struct wide_taken taken = {.column = column};
    s->total++;
    s->moving += (uint32_t)(of->watches[count + 1] != 0) - (of->watches[count] != 0);
    switch (e->kind) {
    case WIDE_WRITE:
    case WIDE_UPDATE:
        taken.class = s->classes[e->object];
        s->classes[e->object] = e->class;
        break;
    case WIDE_ACQ:
        s->owner[e->object] = column + 1;
        break;
    case WIDE_REL:
        s->owner[e->object] = 0;
        break;
    case WIDE_RACQ:
        s->readers[e->object]++;
        break;
    case WIDE_RREL:
        s->readers[e->object]--;
        break;
    case WIDE_JOIN:
        wide_mark(s, e->object, wide_held_by(s, e->object), false);
        break;
    default:
        break;
    }
    PT_PUSH(s->taken, s->taken_count, s->taken_cap, taken);
}

/* Back to the state in which so many had been taken. */
static inline void wide_undo(struct wide_state *s, uint32_t upto)
{
    while (s->taken_count > upto) {
        struct wide_taken taken = s->taken[--s->taken_count];
        const struct wide_column *of = &s->p->columns[taken.column];
        uint32_t count = --s->counts[taken.column];
        const struct wide_event *e = &of->events[count];
        s->total--;
        s->moving += (uint32_t)(of->watches[count] != 0) - (of->watches[count + 1] != 0);
        switch (e->kind) {
        case WIDE_WRITE:
        case WIDE_UPDATE:
            s->classes[e->object] = taken.class;
            break;
        case WIDE_ACQ:
            s->owner[e->object] = 0;
            break;
        case WIDE_REL:
            s->owner[e->object] = taken.column + 1;
            break;
        case WIDE_RACQ:
            s->readers[e->object]--;
            break;
        case WIDE_RREL:
            s->readers[e->object]++;
            break;
        case WIDE_JOIN:
            wide_mark(s, e->object, wide_held_by(s, e->object), true);
            break;
        default:
            break;
        }
    }
}

/* The columns that an event of this one has an effect on, but for those that watch it: a join gives up the locks of a
 * thread that others may watch. */
static inline uint64_t wide_changed_by(uint32_t column, const struct wide_event *e)
{
    return e->kind == WIDE_JOIN ? WIDE_ALL : UINT64_C(1) << column % 64;
}

static inline void wide_saturate(struct wide_state *s, uint64_t changed)
{
    if (s->moving)
        wide_saturate_moving(s, changed);
}

#endif
