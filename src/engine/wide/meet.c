/*
 * Whether some events can come next, each in its thread, at the end of a possible run of the order `values` that has
 * some others: a search from the beginning for a state in which none of the former has happened, all that their threads
 * did before them has, and so have the latter. What the events need in every run is looked at first (must.c).
 *
 * The events are those that a search calls relevant (problem.c), so that steps.c never takes them on its own: what it
 * takes at once takes no possibility away, and events that it adds to a run are of other threads, or come before the
 * targets in theirs. What a run has to have it keeps when more is added. So a state of this kind is found iff some
 * possible run has it. Where the store that a target would see is given, the state has to have its class (problem.c
 * gives it one of its own): the target is a read still to come, so no other thread's store of the variable is taken at
 * once, and its own thread's is where no other one accesses the variable any more, and so decides what it is.
 *
 * Guarantee: as above, and order/possible.h has played what is returned. Cost: as that of a search in `values`, each
 * state once, the latest first; 8 bytes for a state beside its words.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/wide/take.h"

enum { STRIDE = 256 }; /* states between two looks at the clock */

struct meeting {
    struct wide_problem p;
    struct wide_state state;
    uint32_t *target; /* per column: the number of the event that has to be next, from 1; 0: none */
    uint32_t *taken;  /* ... of the one that has to have happened */
    uint32_t target_count;
    uint32_t var, class; /* what a variable has to be in the end; PT_NONE: whatever it is */
    uint64_t *keys;      /* of the states found so far */
    uint32_t *from, *by; /* per state: the one before, and the column whose event led here */
    uint32_t *slots;     /* number plus 1 */
    uint32_t count, mask;
    size_t key_cap, from_cap, by_cap;
    uint32_t *open; /* states that are still to be expanded */
    uint32_t open_count;
    size_t open_cap;
};

static bool is_target(const struct meeting *m, uint32_t column)
{
    return m->target[column] && m->state.counts[column] + 1 == m->target[column];
}

/* Is the column's target next, and its thread there? */
static bool is_ready(const struct meeting *m, uint32_t column)
{
    if (!is_target(m, column))
        return false;
    const struct wide_event *e = wide_next(&m->p, column, m->state.counts[column]);
    for (uint32_t i = 0; i < e->need_count; i++)
        if (m->state.counts[e->need[i].thread] < e->need[i].count)
            return false;
    return true;
}

static bool is_reached(const struct meeting *m)
{
    uint32_t reached = 0;
    for (uint32_t i = 0; i < m->p.active_count; i++) {
        uint32_t column = m->p.active[i];
        if (m->state.counts[column] < m->taken[column])
            return false;
        reached += is_ready(m, column);
    }
    return reached == m->target_count && (m->var == PT_NONE || m->state.classes[m->var] == m->class);
}

static uint32_t slot_of(const struct meeting *m, const uint64_t *key)
{
    uint64_t hash = 0;
    for (uint32_t k = 0; k < m->p.words; k++)
        hash = pt_mix64(hash ^ key[k]);
    uint32_t at = (uint32_t)hash & m->mask;
    while (m->slots[at] &&
           memcmp(m->keys + (size_t)(m->slots[at] - 1) * m->p.words, key, m->p.words * sizeof *key) != 0)
        at = (at + 1) & m->mask;
    return at;
}

static void rehash(struct meeting *m)
{
    uint32_t size = m->slots ? 2 * (m->mask + 1) : 256;
    free(m->slots);
    m->slots = pt_xcalloc(size, sizeof *m->slots);
    m->mask = size - 1;
    for (uint32_t i = 0; i < m->count; i++)
        m->slots[slot_of(m, m->keys + (size_t)i * m->p.words)] = i + 1;
}

/* m->state, in which these columns have moved, if it is new, waits to be expanded. True: it is what is looked for, and
 * is the last state. */
static bool arrive(struct meeting *m, uint32_t from, uint32_t by, uint64_t changed)
{
    wide_saturate(&m->state, changed);
    if (!m->slots || m->count > m->mask / 2)
        rehash(m);
    PT_GROW(m->keys, m->key_cap, ((size_t)m->count + 1) * m->p.words);
    uint64_t *key = m->keys + (size_t)m->count * m->p.words;
    wide_state_pack(&m->state, key);
    uint32_t at = slot_of(m, key);
    if (m->slots[at])
        return false;
    PT_GROW(m->from, m->from_cap, (size_t)m->count + 1);
    PT_GROW(m->by, m->by_cap, (size_t)m->count + 1);
    m->from[m->count] = from;
    m->by[m->count] = by;
    m->slots[at] = ++m->count;
    PT_PUSH(m->open, m->open_count, m->open_cap, m->count - 1);
    return is_reached(m);
}

/* Columns are tried from the last to the first of those whose next event is recorded earliest, so that the search,
 * which goes on with the latest state, follows the recording as long as it can. */
static bool expand(struct meeting *m, uint32_t state)
{
    const struct wide_problem *p = &m->p;
    wide_state_unpack(&m->state, m->keys + (size_t)state * p->words);
    uint32_t earliest = PT_NONE, place = UINT32_MAX;
    for (uint32_t i = 0; i < p->active_count; i++) {
        uint32_t c = p->active[i];
        if (m->state.counts[c] < p->columns[c].count && wide_next(p, c, m->state.counts[c])->place < place &&
            !is_target(m, c)) {
            place = wide_next(p, c, m->state.counts[c])->place;
            earliest = c;
        }
    }
    for (uint32_t i = 0; i <= p->active_count && earliest != PT_NONE; i++) {
        uint32_t c = i < p->active_count ? p->active[i] : earliest;
        if ((i < p->active_count && c == earliest) || m->state.counts[c] >= p->columns[c].count || is_target(m, c) ||
            !wide_enabled(&m->state, c))
            continue;
        uint64_t changed = wide_changed_by(c, wide_next(p, c, m->state.counts[c]));
        wide_take(&m->state, c);
        if (arrive(m, state, c, changed))
            return true;
        wide_undo(&m->state, 0);
    }
    return false;
}

static bool is_cut(const struct meeting *m, const struct pt_wide_limit *limit)
{
    size_t bytes = (size_t)m->count * (m->p.words * sizeof *m->keys + 5 * sizeof(uint32_t));
    return bytes > limit->bytes || (m->count % STRIDE == 0 && limit->now && limit->now() >= limit->deadline);
}

static enum pt_wide_end search(struct meeting *m, const struct pt_wide_limit *limit)
{
    uint64_t *first = pt_xcalloc(m->p.words, sizeof *first);
    for (uint32_t i = 0; i < m->p.classed_count; i++) {
        const struct wide_object *var = &m->p.vars[m->p.classed[i]];
        first[var->word] |= (uint64_t)var->first << var->shift;
    }
    wide_state_unpack(&m->state, first);
    free(first);
    if (arrive(m, PT_NONE, PT_NONE, WIDE_ALL))
        return PT_WIDE_VIOLATED;
    while (m->open_count) {
        if (is_cut(m, limit))
            return PT_WIDE_CUT;
        if (expand(m, m->open[--m->open_count]))
            return PT_WIDE_VIOLATED;
    }
    return PT_WIDE_HOLDS;
}

/* ---- the run ---- */

/* The columns that the search chose, from the beginning to the last state. */
static uint32_t *choices(const struct meeting *m, uint32_t *ret_count)
{
    uint32_t count = 0;
    for (uint32_t state = m->count - 1; m->from[state] != PT_NONE; state = m->from[state])
        count++;
    uint32_t *chosen = pt_xmalloc(((size_t)count + 1) * sizeof *chosen), at = count;
    for (uint32_t state = m->count - 1; m->from[state] != PT_NONE; state = m->from[state])
        chosen[--at] = m->by[state];
    *ret_count = count;
    return chosen;
}

struct run {
    uint64_t *places, count;
    size_t cap;
    uint32_t *done; /* events of each thread */
};

/* All that a thread does up to so many events. */
static void run_to(struct run *run, const struct pt_wide_log *log, uint32_t thread, uint32_t count)
{
    while (run->done[thread] < count)
        PT_PUSH(run->places, run->count, run->cap, log->threads[thread].places[run->done[thread]++]);
}

/* The events of the run, with those that the search had left out. */
static struct run whole_run(struct meeting *m, const struct pt_wide_question *q)
{
    const struct pt_wide_log *log = m->p.log;
    uint32_t chosen_count, *chosen = choices(m, &chosen_count);
    struct wide_state state;
    struct run run = {.done = pt_xcalloc((size_t)m->p.column_count + 1, sizeof *run.done)};
    wide_state_init(&state, &m->p);
    wide_saturate(&state, WIDE_ALL);
    for (uint32_t i = 0; i < chosen_count; i++) {
        wide_take(&state, chosen[i]);
        wide_saturate(&state, WIDE_ALL);
    }
    uint32_t *at = pt_xcalloc((size_t)m->p.column_count + 1, sizeof *at);
    for (uint32_t i = 0; i < state.taken_count; i++) {
        uint32_t c = state.taken[i].column;
        run_to(&run, log, c, log->index[wide_next(&m->p, c, at[c]++)->place]);
    }
    for (uint32_t i = 0; i < q->next_count; i++)
        run_to(&run, log, log->events[q->next[i]].thread, log->index[q->next[i]] - 1);
    wide_state_release(&state);
    free(chosen);
    free(at);
    return run;
}

/* Is that event in what the threads have done? */
static bool has(const struct pt_wide_log *log, const uint32_t *done, uint32_t place)
{
    return done[log->events[place].thread] >= log->index[place];
}

static bool has_needed(const struct pt_wide_log *log, const uint32_t *done, uint32_t place)
{
    return !log->needed || !log->needed[place] || has(log, done, log->needed[place] - 1);
}

/* Has each event of the run what pt_wide_log_need says, which is not in the definition of a possible run? */
static bool has_all_needed(const struct pt_wide_log *log, const struct run *run)
{
    uint32_t *done = pt_xcalloc((size_t)log->thread_count + 1, sizeof *done);
    bool all = true;
    for (uint64_t i = 0; i < run->count && all; i++) {
        uint32_t place = (uint32_t)run->places[i];
        all = has_needed(log, done, place);
        done[log->events[place].thread]++;
    }
    free(done);
    return all;
}

/* Is that store the latest of its variable? */
static bool is_latest(const struct pt_wide_log *log, const struct run *run, const struct pt_wide_sees *sees)
{
    uint64_t latest = 0;
    for (uint64_t i = 0; i < run->count; i++) {
        const struct pt_recorded *e = &log->events[run->places[i]];
        if (pt_op_writes_var(e->op) && e->object == sees->var)
            latest = run->places[i] + 1;
    }
    return latest == sees->store;
}

/* Does it have what it has to, and end where all that has to come next does, in threads that were begun? */
static bool is_possible(const struct pt_wide_log *log, const struct run *run, const struct pt_wide_question *q)
{
    const struct pt_recording recording = {log->events, log->count, log->initial, (uint32_t)log->initial_cap};
    for (uint32_t i = 0; i < q->next_count; i++) {
        uint32_t thread = log->events[q->next[i]].thread, fork = log->threads[thread].fork;
        if (run->done[thread] != log->index[q->next[i]] - 1 || (fork && !has(log, run->done, fork - 1)) ||
            !has_needed(log, run->done, q->next[i]))
            return false;
    }
    for (uint32_t i = 0; i < q->taken_count; i++)
        if (!has(log, run->done, q->taken[i]))
            return false;
    return has_all_needed(log, run) && (!q->sees || is_latest(log, run, q->sees)) &&
           pt_possible_play(&recording, PT_POSSIBLE_VALUES, run->places, run->count, NULL) == run->count;
}

static void release(struct meeting *m)
{
    wide_state_release(&m->state);
    wide_problem_release(&m->p);
    free(m->target);
    free(m->taken);
    free(m->keys);
    free(m->from);
    free(m->by);
    free(m->slots);
    free(m->open);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void init(struct meeting *m, struct pt_wide_log *log, const struct pt_wide_question *q)
{
    uint32_t count = q->next_count + q->taken_count, *places = pt_xcalloc((size_t)count + 1, sizeof *places);
    for (uint32_t i = 0; i < count; i++)
        places[i] = i < q->next_count ? q->next[i] : q->taken[i - q->next_count];
    qsort(places, count, sizeof *places, by_number);
    *m = (struct meeting){.target_count = q->next_count, .var = q->sees ? q->sees->var : PT_NONE};
    wide_problem_init_meeting(&m->p, log, places, count, q->sees);
    wide_state_init(&m->state, &m->p);
    free(places);
}

/* Where the visible events, which are those of the question, are in their columns. */
static void place_targets(struct meeting *m, const struct pt_wide_question *q)
{
    m->target = pt_xcalloc((size_t)m->p.column_count + 1, sizeof *m->target);
    m->taken = pt_xcalloc((size_t)m->p.column_count + 1, sizeof *m->taken);
    for (uint32_t c = 0; c < m->p.column_count; c++)
        for (uint32_t k = 0; k < m->p.columns[c].count; k++) {
            const struct wide_event *e = wide_next(&m->p, c, k);
            bool next = false;
            for (uint32_t i = 0; i < q->next_count && e->visible; i++)
                next |= q->next[i] == e->place;
            if (e->visible)
                *(next ? &m->target[c] : &m->taken[c]) = k + 1;
            if (q->sees && q->sees->store == e->place + 1)
                m->class = e->class;
        }
    if (q->sees && !q->sees->store)
        m->class = m->p.vars[m->var].first;
}

enum pt_wide_end pt_wide_meet(struct pt_wide_log *log, const struct pt_wide_question *question,
                              const struct pt_wide_limit *limit, uint64_t **ret_run, uint64_t *ret_count)
{
    struct meeting m;
    wide_log_link(log);
    if (!wide_must_allow(log, question))
        return PT_WIDE_HOLDS;
    init(&m, log, question);
    place_targets(&m, question);
    enum pt_wide_end end = search(&m, limit);
    if (end == PT_WIDE_VIOLATED) {
        struct run run = whole_run(&m, question);
        if (!is_possible(log, &run, question))
            end = PT_WIDE_ERROR;
        *ret_run = run.places;
        *ret_count = run.count;
        free(run.done);
    }
    release(&m);
    return end;
}
