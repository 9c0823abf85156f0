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
 * a state that has none left stands for all states on the way to it. After a step from such a state, only columns whose
 * next event depends on what has moved are looked at.
 *
 * Cost: an event is taken and undone in constant time, apart from the threads that share its object.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/wide/take.h"

/* Of wide_state.marked: not marked yet. There are fewer locks that are had. */
#define WIDE_UNMARKED (UINT32_C(1) << 31)

void wide_state_init(struct wide_state *s, const struct wide_problem *p)
{
    *s = (struct wide_state){.p = p};
    s->counts = pt_xcalloc((size_t)p->column_count + 1, sizeof *s->counts);
    s->classes = pt_xcalloc((size_t)p->var_count + 1, sizeof *s->classes);
    s->marked = pt_xcalloc((size_t)p->column_count + 1, sizeof *s->marked);
    s->owner = pt_xcalloc((size_t)p->lock_count + 1, sizeof *s->owner);
    s->readers = pt_xcalloc((size_t)p->lock_count + 1, sizeof *s->readers);
    for (uint32_t v = 0; v < p->var_count; v++)
        s->classes[v] = p->vars[v].first;
    for (uint32_t i = 0; i < p->active_count; i++)
        s->moving += p->columns[p->active[i]].watches[0] != 0;
}

void wide_state_release(struct wide_state *s)
{
    free(s->counts);
    free(s->classes);
    free(s->marked);
    free(s->owner);
    free(s->readers);
    free(s->taken);
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

/* The locks of all threads, which are a function of the counts; most threads have what they had in the state before. */
static void mark_all(struct wide_state *s)
{
    const struct wide_problem *p = s->p;
    bool changed = false;
    for (uint32_t i = 0; i < p->active_count; i++) {
        uint32_t c = p->active[i], held = is_joined(s, c) ? 0 : wide_held_by(s, c);
        if (s->marked[c] == held)
            continue;
        wide_mark(s, c, s->marked[c], false);
        s->marked[c] = held | WIDE_UNMARKED;
        changed = true;
    }
    for (uint32_t i = 0; i < p->active_count && changed; i++) {
        uint32_t c = p->active[i];
        if (!(s->marked[c] & WIDE_UNMARKED))
            continue;
        s->marked[c] &= ~WIDE_UNMARKED;
        wide_mark(s, c, s->marked[c], true);
    }
}

void wide_state_unpack(struct wide_state *s, const uint64_t *key)
{
    const struct wide_problem *p = s->p;
    wide_undo(s, 0);
    s->total = 0;
    s->moving = 0;
    for (uint32_t i = 0; i < p->active_count; i++) {
        const struct wide_column *column = &p->columns[p->active[i]];
        uint32_t count = (uint32_t)(key[column->word] >> column->shift & column->mask);
        s->counts[p->active[i]] = count;
        s->total += count;
        s->moving += column->watches[count] != 0;
    }
    if (p->held_count)
        mark_all(s);
    for (uint32_t i = 0; i < p->classed_count; i++) {
        const struct wide_object *var = &p->vars[p->classed[i]];
        s->classes[p->classed[i]] = (uint32_t)(key[var->word] >> var->shift & var->mask);
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
        if (have < pairs[i].count && !wide_overtaken(s, first_after(s, object, pairs[i].thread, have)))
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

/* The locks that a section has taken and not released. */
struct section {
    uint32_t open[DEEPEST], depth;
};

/* The event is the next of the section; false: it has too many locks. */
static bool follow_section(struct section *section, const struct wide_event *e)
{
    bool shared = e->kind == WIDE_RACQ || e->kind == WIDE_RREL;
    uint32_t lock = 2 * e->object + shared;
    if (is_acquisition(e)) {
        if (section->depth == DEEPEST)
            return false;
        section->open[section->depth++] = lock;
    }
    for (uint32_t i = 0; i < section->depth && (e->kind == WIDE_REL || e->kind == WIDE_RREL); i++)
        if (section->open[i] == lock) {
            section->open[i] = section->open[--section->depth];
            break;
        }
    return true;
}

/* Takes a whole section that is safe as one; false: there is none, and nothing was taken. */
static bool take_section(struct wide_state *s, uint32_t column)
{
    const struct wide_problem *p = s->p;
    struct section section = {.depth = 0};
    uint32_t before = s->taken_count;
    while (s->counts[column] < p->columns[column].count) {
        const struct wide_event *e = wide_next(p, column, s->counts[column]);
        if (e->visible || !wide_may_happen(s, column, e))
            break;
        bool safe = is_acquisition(e) ? excludes_nothing(s, e, &p->locks[e->object]) : is_safe(s, column, e);
        if (!safe || !follow_section(&section, e))
            break;
        wide_take(s, column);
        if (!section.depth)
            return true;
    }
    wide_undo(s, before);
    return false;
}

/* The columns that it has an effect on; 0: it could not move. */
static uint64_t advance(struct wide_state *s, uint32_t column)
{
    const struct wide_problem *p = s->p;
    uint64_t moved = 0;
    while (s->counts[column] < p->columns[column].count) {
        const struct wide_event *e = wide_next(p, column, s->counts[column]);
        if (e->visible || !wide_may_happen(s, column, e))
            break;
        if (is_safe(s, column, e)) {
            wide_take(s, column);
            moved |= wide_changed_by(column, e);
        } else if (e->begins && take_section(s, column)) {
            moved = WIDE_ALL;
        } else {
            break;
        }
    }
    return moved;
}

void wide_saturate_moving(struct wide_state *s, uint64_t changed)
{
    const struct wide_problem *p = s->p;
    for (uint64_t before = changed; before; before = changed) {
        changed = 0;
        for (uint32_t i = 0; i < p->active_count; i++) {
            uint32_t c = p->active[i];
            if (p->columns[c].watches[s->counts[c]] & (before | changed))
                changed |= advance(s, c);
        }
    }
}

/* ---- who has to look ---- */

enum { LONG = 256 }; /* events of a section */

/* The columns on whose events it depends whether the event can happen and is safe: those it needs, and all that use its
 * object (for who has a lock, what a variable is, and what has happened to either). */
static uint64_t watched_by(const struct wide_problem *p, uint32_t column, const struct wide_event *e)
{
    uint64_t columns = UINT64_C(1) << column % 64;
    const struct wide_object *object = wide_object_of(p, e);
    for (uint32_t i = 0; i < e->need_count; i++)
        columns |= UINT64_C(1) << e->need[i].thread % 64;
    for (uint32_t u = 0; object && u < object->user_count; u++)
        columns |= UINT64_C(1) << object->users[u].thread % 64;
    return columns;
}

/* The same of a section, which begins with event `from` of its column. 0: it is never taken as a whole. */
static uint64_t section_watched_by(const struct wide_problem *p, uint32_t c, uint32_t from)
{
    const struct wide_column *column = &p->columns[c];
    struct section section = {.depth = 0};
    uint64_t columns = 0;
    for (uint32_t k = from; k < column->count && !column->events[k].visible; k++) {
        columns |= watched_by(p, c, &column->events[k]);
        if (k - from == LONG)
            return WIDE_ALL;
        if (!follow_section(&section, &column->events[k]))
            return 0;
        if (!section.depth)
            return columns;
    }
    return 0;
}

void wide_watches_make(struct wide_problem *p)
{
    for (uint32_t i = 0; i < p->active_count; i++) {
        struct wide_column *column = &p->columns[p->active[i]];
        column->watches = pt_xcalloc((size_t)column->count + 1, sizeof *column->watches);
        for (uint32_t k = 0; k < column->count; k++) {
            struct wide_event *e = &column->events[k];
            if (e->visible)
                continue;
            uint64_t whole = is_acquisition(e) ? section_watched_by(p, p->active[i], k) : 0;
            e->begins = whole != 0;
            column->watches[k] = watched_by(p, p->active[i], e) | whole;
        }
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
