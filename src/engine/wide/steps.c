/*
 * One state of a search in a wider order, and what can happen in it.
 *
 * Which invisible events are taken at once. Let e be enabled in a state and not relevant to the property. e is *safe*
 * if for every possible continuation s from there, with e in it or not, e followed by s without e is a possible
 * continuation too: a persistent set of one invisible event. Then no sequence of relevant events is lost by taking e
 * now and nothing else, and by induction none is lost by taking safe events until there are none. Safe are:
 * - reads, in both orders. Sync: the writes that conflict with a read and are recorded before it are in the run or can
 *   never be, since the one it saw is; those recorded after it would exclude it, so they are not in s before it, and
 *   may follow it. Values: a read changes nothing but its thread.
 * - releases, forks, joins, wait, notify, sync: they exclude nothing. (An operation on an object follows all before
 * it.)
 * - in sync, a write if every event of another thread that conflicts with it and is recorded before it is in the run,
 * or can never be because something is that conflicts with that event and comes after it.
 * - in values, a write if no other thread accesses the variable any more, or nobody reads it any more.
 * - an acquisition under that condition of sync on the lock's operations, if no other thread will want the lock.
 * A *section* is safe as a whole: an acquisition under that condition and the following events of its thread up to the
 * release of all locks it takes, each of which can happen now and is safe at its place. For then all locks are as
 * before it, and s cannot tell whether the section has happened. All other invisible events are choices: the search
 * takes them one at a time, and also leaves them.
 *
 * Taking safe events in any order ends in the same state: a safe event stays safe and enabled when another is taken. So
 * a state that has none left stands for all states on the way to it.
 *
 * Cost: an event is taken and undone in constant time, apart from the threads that share its object.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/wide/wide_impl.h"

void wide_state_init(struct wide_state *s, const struct wide_problem *p)
{
    *s = (struct wide_state){.p = p};
    s->counts = pt_xcalloc((size_t)p->column_count + 1, sizeof *s->counts);
    s->classes = pt_xcalloc((size_t)p->var_count + 1, sizeof *s->classes);
    s->owner = pt_xcalloc((size_t)p->lock_count + 1, sizeof *s->owner);
    s->readers = pt_xcalloc((size_t)p->lock_count + 1, sizeof *s->readers);
    for (uint32_t v = 0; v < p->var_count; v++)
        s->classes[v] = p->vars[v].first;
}

void wide_state_release(struct wide_state *s)
{
    free(s->counts);
    free(s->classes);
    free(s->owner);
    free(s->readers);
    free(s->taken);
}

/* The column's locks are marked as had, or as free. */
static void mark_held(struct wide_state *s, uint32_t column, bool has)
{
    const struct wide_problem *p = s->p;
    if (!s->counts[column])
        return;
    for (uint32_t at = wide_next(p, column, s->counts[column] - 1)->held; at; at = p->helds[at - 1].next) {
        const struct wide_held *held = &p->helds[at - 1];
        if (held->shared)
            s->readers[held->lock] += has ? 1 : UINT32_MAX;
        else
            s->owner[held->lock] = has ? column + 1 : 0;
    }
}

/* A thread that was joined has no locks any more. */
static bool is_joined(const struct wide_state *s, uint32_t column)
{
    struct wide_need join = s->p->columns[column].join;
    return join.count && s->counts[join.thread] >= join.count;
}

static bool is_read_again(const struct wide_state *s, const struct wide_object *var)
{
    for (uint32_t u = 0; u < var->user_count; u++)
        if (s->counts[var->users[u].thread] < var->users[u].last_read)
            return true;
    return false;
}

void wide_state_pack(const struct wide_state *s, uint64_t *key)
{
    const struct wide_problem *p = s->p;
    memset(key, 0, p->words * sizeof *key);
    for (uint32_t i = 0; i < p->active_count; i++) {
        const struct wide_column *column = &p->columns[p->active[i]];
        key[column->word] |= (uint64_t)s->counts[p->active[i]] << column->shift;
    }
    for (uint32_t i = 0; i < p->classed_count; i++) {
        const struct wide_object *var = &p->vars[p->classed[i]];
        if (var->var != PT_NONE || is_read_again(s, var))
            key[var->word] |= (uint64_t)s->classes[p->classed[i]] << var->shift;
    }
}

/* The locks of all threads, which are a function of the counts. */
static void mark_all(struct wide_state *s, bool has)
{
    const struct wide_problem *p = s->p;
    for (uint32_t i = 0; i < p->active_count && p->held_count; i++)
        if (!is_joined(s, p->active[i]))
            mark_held(s, p->active[i], has);
}

void wide_state_unpack(struct wide_state *s, const uint64_t *key)
{
    const struct wide_problem *p = s->p;
    mark_all(s, false);
    s->total = 0;
    s->taken_count = 0;
    for (uint32_t i = 0; i < p->active_count; i++) {
        const struct wide_column *column = &p->columns[p->active[i]];
        uint32_t count = (uint32_t)(key[column->word] >> column->shift & column->mask);
        s->counts[p->active[i]] = count;
        s->total += count;
    }
    mark_all(s, true);
    for (uint32_t i = 0; i < p->classed_count; i++) {
        const struct wide_object *var = &p->vars[p->classed[i]];
        s->classes[p->classed[i]] = (uint32_t)(key[var->word] >> var->shift & var->mask);
    }
}

/* Sync: nothing that is recorded later and conflicts has happened. */
static bool is_overtaken(const struct wide_state *s, const struct wide_event *e)
{
    const struct wide_need *pairs = s->p->pairs + e->later;
    for (uint32_t i = 0; i < e->later_count; i++)
        if (s->counts[pairs[i].thread] >= pairs[i].count)
            return true;
    return false;
}

bool wide_enabled(const struct wide_state *s, uint32_t column)
{
    const struct wide_problem *p = s->p;
    const struct wide_event *e = wide_next(p, column, s->counts[column]);
    for (uint32_t i = 0; i < e->need_count; i++)
        if (s->counts[e->need[i].thread] < e->need[i].count)
            return false;
    switch (e->kind) {
    case WIDE_READ:
    case WIDE_WRITE:
    case WIDE_UPDATE:
        if (p->order == PT_POSSIBLE_SYNC)
            return !is_overtaken(s, e);
        if (e->kind == WIDE_WRITE)
            return true;
        return e->wants == (e->tied ? s->classes[e->object] : p->vars[e->object].value[s->classes[e->object]]);
    case WIDE_ACQ:
        return (!s->owner[e->object] || s->owner[e->object] == column + 1) && s->readers[e->object] == e->self_shared &&
               !is_overtaken(s, e);
    case WIDE_RACQ:
        return (!s->owner[e->object] || s->owner[e->object] == column + 1) && !is_overtaken(s, e);
    default:
        return true;
    }
}

void wide_take(struct wide_state *s, uint32_t column)
{
    const struct wide_event *e = wide_next(s->p, column, s->counts[column]);
    struct wide_taken taken = {.column = column};
    s->counts[column]++;
    s->total++;
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
        mark_held(s, e->object, false);
        break;
    default:
        break;
    }
    PT_PUSH(s->taken, s->taken_count, s->taken_cap, taken);
}

void wide_undo(struct wide_state *s, uint32_t upto)
{
    while (s->taken_count > upto) {
        struct wide_taken taken = s->taken[--s->taken_count];
        const struct wide_event *e = wide_next(s->p, taken.column, --s->counts[taken.column]);
        s->total--;
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
            mark_held(s, e->object, true);
            break;
        default:
            break;
        }
    }
}

/* The column's first operation on the object after so many events. */
static const struct wide_event *first_after(const struct wide_state *s, const struct wide_object *object,
                                            uint32_t column, uint32_t count)
{
    const struct wide_user *user = object->users;
    while (user->thread != column)
        user++;
    uint32_t low = 0, high = user->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (user->at[middle] > count)
            high = middle;
        else
            low = middle + 1;
    }
    return wide_next(s->p, column, user->at[low] - 1);
}

/* Sync: all that is recorded earlier and conflicts has happened, or cannot happen any more. Of a thread's operations
 * that have not happened the first one is asked: when it cannot, those after it cannot either. */
static bool excludes_nothing(const struct wide_state *s, const struct wide_event *e, const struct wide_object *object)
{
    const struct wide_need *pairs = s->p->pairs + e->earlier;
    for (uint32_t i = 0; i < e->earlier_count; i++) {
        uint32_t have = s->counts[pairs[i].thread];
        if (have < pairs[i].count && !is_overtaken(s, first_after(s, object, pairs[i].thread, have)))
            return false;
    }
    return true;
}

static bool is_safe_write(const struct wide_state *s, uint32_t column, const struct wide_event *e)
{
    const struct wide_object *var = &s->p->vars[e->object];
    if (s->p->order == PT_POSSIBLE_SYNC)
        return excludes_nothing(s, e, var);
    bool others = false, read = false;
    for (uint32_t u = 0; u < var->user_count; u++) {
        const struct wide_user *user = &var->users[u];
        uint32_t have = s->counts[user->thread] + (user->thread == column);
        others |= user->thread != column && have < user->last;
        read |= have < user->last_read;
    }
    return !others || !read;
}

static bool is_safe_lock(const struct wide_state *s, uint32_t column, const struct wide_event *e)
{
    const struct wide_object *lock = &s->p->locks[e->object];
    for (uint32_t u = 0; u < lock->user_count; u++)
        if (lock->users[u].thread != column && s->counts[lock->users[u].thread] < lock->users[u].last)
            return false;
    return excludes_nothing(s, e, lock);
}

static bool is_safe(const struct wide_state *s, uint32_t column, const struct wide_event *e)
{
    switch (e->kind) {
    case WIDE_WRITE:
    case WIDE_UPDATE:
        return is_safe_write(s, column, e);
    case WIDE_ACQ:
    case WIDE_RACQ:
        return is_safe_lock(s, column, e);
    default:
        return true;
    }
}

static bool is_acquisition(const struct wide_event *e)
{
    return e->kind == WIDE_ACQ || e->kind == WIDE_RACQ;
}

enum { DEEPEST = 16 };

/* Takes a whole section that is safe as one; false: there is none, and nothing was taken. */
static bool take_section(struct wide_state *s, uint32_t column)
{
    const struct wide_problem *p = s->p;
    uint32_t before = s->taken_count, open[DEEPEST], depth = 0;
    while (s->counts[column] < p->columns[column].count) {
        const struct wide_event *e = wide_next(p, column, s->counts[column]);
        if (e->visible || !wide_enabled(s, column))
            break;
        if (is_acquisition(e)) {
            if (depth == DEEPEST || !excludes_nothing(s, e, &p->locks[e->object]))
                break;
            open[depth++] = 2 * e->object + (e->kind == WIDE_RACQ);
        } else if (!is_safe(s, column, e)) {
            break;
        }
        for (uint32_t i = 0; i < depth && (e->kind == WIDE_REL || e->kind == WIDE_RREL); i++)
            if (open[i] == 2 * e->object + (e->kind == WIDE_RREL)) {
                open[i] = open[--depth];
                break;
            }
        wide_take(s, column);
        if (!depth)
            return true;
    }
    wide_undo(s, before);
    return false;
}

static bool advance(struct wide_state *s, uint32_t column)
{
    const struct wide_problem *p = s->p;
    bool moved = false;
    while (s->counts[column] < p->columns[column].count) {
        const struct wide_event *e = wide_next(p, column, s->counts[column]);
        if (e->visible || !wide_enabled(s, column))
            break;
        if (is_safe(s, column, e))
            wide_take(s, column);
        else if (!is_acquisition(e) || !take_section(s, column))
            break;
        moved = true;
    }
    return moved;
}

void wide_saturate(struct wide_state *s)
{
    bool moved = true;
    while (moved) {
        moved = false;
        for (uint32_t i = 0; i < s->p->active_count; i++)
            moved |= advance(s, s->p->active[i]);
    }
}

void wide_values(const struct wide_state *s, struct pt_value *values)
{
    const struct wide_problem *p = s->p;
    for (uint32_t v = 0; v < p->monitor_var_count; v++) {
        uint32_t best = 0, object = p->object_of_var[v];
        if (p->order == PT_POSSIBLE_VALUES && object != PT_NONE)
            best = p->vars[object].writer[s->classes[object]];
        for (uint32_t c = 0; c < p->column_count && p->order == PT_POSSIBLE_SYNC; c++) {
            const struct wide_writes *writes = &p->writes[(size_t)v * p->column_count + c];
            uint32_t low = 0, high = writes->count;
            while (low < high) {
                uint32_t middle = low + (high - low) / 2;
                if (writes->at[middle] > s->counts[c])
                    high = middle;
                else
                    low = middle + 1;
            }
            uint32_t place = low ? wide_next(p, c, writes->at[low - 1] - 1)->place + 1 : 0;
            best = place > best ? place : best;
        }
        values[v] = best ? p->log->events[best - 1].value : p->initial[v];
    }
}
