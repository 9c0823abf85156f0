/*
 * until[i] belongs to the i-th state of the current set: the first time at which the best run there is too late, 0 when
 * every run there is already. It is D after the start for a run without a pass ("before start + D") and D + 1 after its
 * last pass ("at most D apart", in whole nanoseconds); so a run is in time at t exactly when t < until. Following a
 * move, a state gets the maximum over its predecessors that are in time, and if it accepts, a fresh bound. Before the
 * first time stamp all this happens at time 0 and is shifted when the stamp comes.
 *
 * After a gap the current set is the closure of the one before, with a pass at the end of the gap granted to every
 * state (so that windows which overlap the gap are not judged). Beside it run, each alone, the states of that closure.
 * The true set at the end of the gap was one of the non-empty subsets, and a set leads to the union of what its members
 * lead to: so when all of those that are neither dead nor late are in the same states with the same bounds, the true
 * runs, unless the lost part ended them, are there too.
 *
 * Guarantee: dead and late exactly as contract section 2 defines them, in the actual run; after a gap unknown until it
 * is certain again. Cost: a look-up per event and O(states of the set) for their bounds; moves are remembered up to a
 * limit and then made again.
 */
#include "engine/within.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/moves.h"

enum {
    MAX_ALONE = 256,         /* states that are followed alone after a gap; with more of them unknown stays unknown */
    WRITE_CACHE = 256,       /* a power of two */
    FORGET_BYTES = 64 << 20, /* moves past this are forgotten, and made again where they are needed */
};

/* A set of automaton states, and the bound of each. */
struct runs {
    uint32_t set;
    uint64_t *until, *next; /* `next` is where the next step's bounds are put */
    size_t until_cap, next_cap;
    uint64_t best; /* the largest bound; 0: dead or late */
};

/* What a write does to a letter, remembered. */
struct write {
    pt_letter before, after;
    uint32_t var; /* PT_NONE: empty */
    struct pt_value value;
};

struct pt_within {
    struct pt_monitor *monitor;
    const struct pt_property *property;
    struct pt_moves moves;
    uint64_t bound, after_pass; /* D, D + 1 */
    bool by_events;

    /* Letters. */
    struct pt_value *values;
    bool *is_joint;
    pt_letter letter;        /* of the variables, without a user event; PT_NONE before the first event */
    pt_letter *event_letter; /* [letter * event_count + event]; PT_NONE: not made yet */
    size_t event_letter_cap;
    uint32_t event_count, var_count;
    struct write writes[WRITE_CACHE];
    bool *blurred;          /* variables whose value a gap has hidden */
    uint64_t blurred_atoms; /* atoms that read such variables */

    struct runs runs;
    uint32_t before; /* the states before the last event */

    /* Time. */
    uint64_t number; /* of events */
    uint64_t now;    /* latest time stamp, or number */
    uint64_t start;
    uint64_t stamp; /* latest time stamp */
    bool stamped, started;

    /* After a gap. */
    bool unsure;
    bool in_gap; /* its end is not known yet: the next time stamp */
    struct runs *alone;
    uint32_t alone_count;

    enum pt_within_verdict verdict;
    struct pt_within_place place;
};

/* ---- construction ---- */

static uint64_t add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* No word is accepted: what pruning leaves is the initial state without edges. */
static bool is_hopeless(const struct pt_within *w)
{
    const struct pt_automaton *aut = w->moves.automaton;
    return aut->first[aut->initial] == aut->first[aut->initial + 1];
}

static void begin(struct pt_within *w)
{
    const struct pt_automaton *aut = w->moves.automaton;
    uint32_t initial = aut->initial;
    w->runs.set = w->before = pt_moves_set(&w->moves, &initial, 1);
    w->start = w->now = w->by_events ? 1 : 0;
    w->started = w->by_events;
    PT_GROW(w->runs.until, w->runs.until_cap, 1);
    w->runs.best = add(add(w->start, w->bound), aut->accepting[initial] ? 1 : 0);
    if (is_hopeless(w)) /* dead with its first letter, not late before it */
        w->runs.best = UINT64_MAX;
    w->runs.until[0] = w->runs.best;
}

struct pt_within *pt_within_new(struct pt_monitor *monitor)
{
    struct pt_within *w = pt_xcalloc(1, sizeof *w);
    w->monitor = monitor;
    w->property = pt_monitor_property(monitor);
    w->bound = w->property->within_bound;
    w->after_pass = add(w->bound, 1);
    w->by_events = w->property->within_events;
    pt_moves_init(&w->moves, monitor);
    pt_monitor_vars(monitor, &w->var_count);
    pt_monitor_events(monitor, &w->event_count);
    w->values = pt_xcalloc(w->var_count, sizeof *w->values);
    w->is_joint = pt_xcalloc(w->var_count, sizeof *w->is_joint);
    w->blurred = pt_xcalloc(w->var_count, sizeof *w->blurred);
    for (uint32_t v = 0; v < w->var_count; v++)
        w->values[v] = pt_value_int(0);
    uint32_t joint_count;
    const uint32_t *joint = pt_monitor_joint_vars(monitor, &joint_count);
    for (uint32_t i = 0; i < joint_count; i++)
        w->is_joint[joint[i]] = true;
    for (uint32_t i = 0; i < WRITE_CACHE; i++)
        w->writes[i].var = PT_NONE;
    w->letter = PT_NONE;
    begin(w);
    return w;
}

static void runs_release(struct runs *runs)
{
    free(runs->until);
    free(runs->next);
}

static void drop_alone(struct pt_within *w)
{
    for (uint32_t i = 0; i < w->alone_count; i++)
        runs_release(&w->alone[i]);
    free(w->alone);
    w->alone = NULL;
    w->alone_count = 0;
}

void pt_within_free(struct pt_within *w)
{
    if (!w)
        return;
    drop_alone(w);
    runs_release(&w->runs);
    pt_moves_release(&w->moves);
    free(w->values);
    free(w->is_joint);
    free(w->event_letter);
    free(w->blurred);
    free(w);
}

void pt_within_initial(struct pt_within *w, uint32_t var, struct pt_value value)
{
    w->values[var] = value;
}

/* ---- letters ---- */

static void blur_atoms(struct pt_within *w)
{
    w->blurred_atoms = 0;
    for (uint32_t i = 0; i < w->property->atom_count; i++) {
        const struct pt_atom *atom = &w->property->atoms[i];
        for (uint32_t k = 0; k < atom->var_count; k++)
            if (w->blurred[atom->vars[k]])
                w->blurred_atoms |= (uint64_t)1 << i;
    }
}

/* The letter of the variables after a write; values[var] is new already. */
static pt_letter after_write(struct pt_within *w, uint32_t var, struct pt_value value)
{
    uint32_t effect;
    if (w->is_joint[var]) {
        effect = pt_monitor_effect(w->monitor, var, value);
        return pt_monitor_apply_joint(w->monitor, w->letter, effect, w->values);
    }
    uint64_t key = pt_mix64(value.u ^ (uint64_t)w->letter << 32 ^ (uint64_t)var << 16 ^ value.kind);
    struct write *known = &w->writes[key & (WRITE_CACHE - 1)];
    if (known->var != var || known->before != w->letter || !pt_value_same(known->value, value)) {
        effect = pt_monitor_effect(w->monitor, var, value);
        *known = (struct write){w->letter, pt_monitor_apply(w->monitor, w->letter, effect), var, value};
    }
    return known->after;
}

static void write_var(struct pt_within *w, uint32_t var, struct pt_value value)
{
    w->values[var] = value;
    w->letter = after_write(w, var, value);
    if (w->blurred_atoms && w->blurred[var]) {
        w->blurred[var] = false;
        blur_atoms(w);
    }
}

static pt_letter with_event(struct pt_within *w, uint32_t event)
{
    size_t place = (size_t)w->letter * w->event_count + event;
    if (place >= w->event_letter_cap) {
        size_t old = w->event_letter_cap;
        PT_GROW(w->event_letter, w->event_letter_cap, place + 1);
        memset(w->event_letter + old, 0xff, (w->event_letter_cap - old) * sizeof *w->event_letter);
    }
    if (w->event_letter[place] == PT_NONE) {
        pt_letter made = pt_monitor_with_event(w->monitor, w->letter, event);
        w->event_letter[place] = made;
    }
    return w->event_letter[place];
}

/* ---- steps ---- */

/* Carries the bounds over a move. */
static inline void follow(struct runs *runs, const struct pt_set_move *move, uint64_t now, uint64_t fresh)
{
    const uint32_t *code = move->code;
    const uint64_t *from = runs->until;
    uint64_t best = 0;
    PT_GROW(runs->next, runs->next_cap, move->count);
    uint64_t *to = runs->next;
    for (uint32_t i = 0; i < move->count; i++) {
        uint32_t head = *code++;
        uint64_t until = 0;
        for (uint32_t p = head >> 1; p > 0; p--, code++)
            if (from[*code] > until)
                until = from[*code];
        until = until > now ? head & 1 ? fresh : until : 0;
        to[i] = until;
        best = until > best ? until : best;
    }
    runs->next = runs->until;
    runs->until = to;
    size_t cap = runs->next_cap;
    runs->next_cap = runs->until_cap;
    runs->until_cap = cap;
    runs->set = move->set;
    runs->best = best;
}

static enum pt_within_verdict conclude(struct pt_within *w, enum pt_within_verdict verdict, bool silent)
{
    uint64_t best = w->runs.best, first = add(w->start, w->bound);
    w->verdict = verdict;
    w->place = (struct pt_within_place){.event = w->number, .silent = silent, .timed = w->stamped, .time = w->stamp};
    if (silent) /* the window's end: `best` itself without a pass, the nanosecond before it after one */
        w->place.time = best > first ? best - 1 : best;
    w->place.passed = best > first;
    w->place.last_pass = best > first ? best - 1 - w->bound : w->start;
    return verdict;
}

static void forget_moves(struct pt_within *w)
{
    uint32_t *sets = pt_xmalloc(((size_t)w->alone_count + 2) * sizeof *sets);
    sets[0] = w->runs.set;
    sets[1] = w->before;
    for (uint32_t i = 0; i < w->alone_count; i++)
        sets[i + 2] = w->alone[i].set;
    pt_moves_forget(&w->moves, sets, w->alone_count + 2);
    w->runs.set = sets[0];
    w->before = sets[1];
    for (uint32_t i = 0; i < w->alone_count; i++)
        w->alone[i].set = sets[i + 2];
    free(sets);
}

/* ---- after a gap ---- */

/* Every state may have been passed now, and may be the only one that is really there. */
static void become_unsure(struct pt_within *w)
{
    uint32_t count;
    const uint32_t *states = pt_moves_states(&w->moves, w->runs.set, &count);
    PT_GROW(w->runs.until, w->runs.until_cap, count);
    w->runs.best = add(w->now, w->after_pass);
    for (uint32_t i = 0; i < count; i++)
        w->runs.until[i] = w->runs.best;
    w->unsure = true;
    w->verdict = PT_WITHIN_UNKNOWN;
    drop_alone(w);
    if (count > MAX_ALONE)
        return;
    w->alone = pt_xcalloc(count, sizeof *w->alone);
    w->alone_count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct runs *one = &w->alone[i];
        uint32_t state = states[i];
        one->set = pt_moves_set(&w->moves, &state, 1);
        PT_GROW(one->until, one->until_cap, 1);
        one->best = one->until[0] = w->runs.best;
    }
}

/* Bounds that have passed are all the same. */
static bool same_bounds(const struct pt_within *w, const struct runs *a, const struct runs *b)
{
    uint32_t count;
    pt_moves_states(&w->moves, a->set, &count);
    for (uint32_t i = 0; i < count; i++)
        if (a->until[i] != b->until[i] && (a->until[i] > w->now || b->until[i] > w->now))
            return false;
    return true;
}

/* The states that run alone take the letter, unless it is PT_NONE; those that are dead or late by now are dropped. True
 * when the others agree with the current runs. */
static bool alone_agree(struct pt_within *w, pt_letter letter)
{
    uint64_t fresh = add(w->now, w->after_pass), over = w->by_events ? w->now + 1 : w->now;
    uint32_t kept = 0;
    bool agree = w->alone != NULL;
    for (uint32_t i = 0; i < w->alone_count; i++) {
        struct runs *one = &w->alone[i];
        if (letter != PT_NONE)
            follow(one, pt_moves_get(&w->moves, one->set, letter), w->now, fresh);
        if (one->best <= over) {
            runs_release(one);
            continue;
        }
        agree = agree && one->set == w->runs.set && same_bounds(w, one, &w->runs);
        w->alone[kept++] = *one;
    }
    w->alone_count = kept;
    return agree;
}

static void try_to_know(struct pt_within *w, pt_letter letter)
{
    if (w->in_gap || !alone_agree(w, letter))
        return;
    w->unsure = false;
    w->verdict = PT_WITHIN_GOOD;
    drop_alone(w);
}

/* ---- what happens ---- */

static enum pt_within_verdict step(struct pt_within *w, pt_letter letter)
{
    if (__builtin_expect(w->moves.bytes > FORGET_BYTES, 0))
        forget_moves(w);
    const struct pt_set_move *move = pt_moves_get(&w->moves, w->runs.set, letter);
    uint64_t best = w->runs.best;
    w->before = w->runs.set;
    if (__builtin_expect(move->open && !(move->open & w->blurred_atoms), 0))
        return conclude(w, PT_WITHIN_ERROR, false);
    follow(&w->runs, move, w->now, add(w->now, w->after_pass));
    if (__builtin_expect(w->runs.best <= (w->by_events ? w->now + 1 : 0), 0)) {
        /* What the report says of the last pass is about the runs that were in time before. */
        w->runs.best = w->runs.best ? w->runs.best : best;
        return conclude(w, move->count ? PT_WITHIN_LATE : PT_WITHIN_DEAD, false);
    }
    if (__builtin_expect(move->open != 0, 0))
        become_unsure(w);
    else if (__builtin_expect(w->unsure, 0))
        try_to_know(w, letter);
    return w->verdict;
}

/* The latest time known becomes `time`, unless it was later already. */
static enum pt_within_verdict pass_time(struct pt_within *w, uint64_t time)
{
    if (time == UINT64_MAX)
        time--; /* so that a bound which does not fit never comes */
    if (w->stamped && time <= w->stamp)
        return w->verdict;
    w->stamp = time;
    w->stamped = true;
    if (w->by_events)
        return w->verdict;
    w->now = time;
    bool again = w->in_gap || (w->unsure && !w->started); /* bounds of states alone are not shifted, but made again */
    if (!w->started) {
        uint32_t count;
        pt_moves_states(&w->moves, w->runs.set, &count);
        for (uint32_t i = 0; i < count; i++)
            w->runs.until[i] = add(w->runs.until[i], time);
        w->runs.best = add(w->runs.best, time);
        w->start = time;
        w->started = true;
    }
    w->in_gap = false;
    if (again)
        become_unsure(w);
    if (w->runs.best <= time)
        return conclude(w, PT_WITHIN_LATE, true);
    if (__builtin_expect(w->unsure, 0))
        try_to_know(w, PT_NONE);
    return w->verdict;
}

enum pt_within_verdict pt_within_advance(struct pt_within *w, uint64_t time)
{
    return w->verdict >= PT_WITHIN_DEAD ? w->verdict : pass_time(w, time);
}

enum pt_within_verdict pt_within_event(struct pt_within *w, const struct pt_within_event *event)
{
    if (w->verdict >= PT_WITHIN_DEAD || (event->has_time && pass_time(w, event->time) >= PT_WITHIN_DEAD))
        return w->verdict;
    w->number++;
    if (w->by_events)
        w->now = w->number;
    if (w->letter == PT_NONE)
        w->letter = pt_monitor_letter(w->monitor, w->values, PT_NONE);
    if (event->var != PT_NONE)
        write_var(w, event->var, event->value);
    return step(w, event->user_event == PT_NONE ? w->letter : with_event(w, event->user_event));
}

enum pt_within_verdict pt_within_gap(struct pt_within *w, uint64_t lost)
{
    if (w->verdict >= PT_WITHIN_DEAD || lost == 0)
        return w->verdict;
    w->number += lost;
    if (w->by_events)
        w->now = w->number;
    for (uint32_t v = 0; v < w->var_count; v++) {
        w->blurred[v] = true;
        w->values[v] = (struct pt_value){.kind = PT_VALUE_UNKNOWN};
    }
    blur_atoms(w);
    w->letter = pt_monitor_letter(w->monitor, w->values, PT_NONE);
    w->runs.set = w->before = pt_moves_closure(&w->moves, w->runs.set);
    w->in_gap = !w->by_events;
    become_unsure(w);
    return w->verdict;
}

enum pt_within_verdict pt_within_end(struct pt_within *w)
{
    return w->verdict < PT_WITHIN_DEAD && is_hopeless(w) ? conclude(w, PT_WITHIN_DEAD, false) : w->verdict;
}

/* ---- what others want to know ---- */

enum pt_within_verdict pt_within_verdict(const struct pt_within *w)
{
    return w->verdict;
}

const uint32_t *pt_within_states(const struct pt_within *w, uint32_t *ret_count, bool *ret_final)
{
    const uint32_t *states = pt_moves_states(&w->moves, w->runs.set, ret_count);
    *ret_final = false;
    for (uint32_t i = 0; i < *ret_count; i++)
        *ret_final = *ret_final || w->moves.automaton->accepting[states[i]];
    return states;
}

const uint32_t *pt_within_states_before(const struct pt_within *w, uint32_t *ret_count)
{
    return pt_moves_states(&w->moves, w->before, ret_count);
}

bool pt_within_deadline(const struct pt_within *w, uint64_t *ret_time)
{
    if (w->by_events || !w->started || w->verdict >= PT_WITHIN_DEAD || w->runs.best == UINT64_MAX)
        return false;
    *ret_time = w->runs.best;
    return true;
}

struct pt_within_place pt_within_place(const struct pt_within *w)
{
    return w->place;
}

void pt_within_error(struct pt_within *w, struct pt_err *err)
{
    pt_monitor_error(w->monitor, w->values, err);
}

size_t pt_within_bytes(const struct pt_within *w)
{
    return sizeof *w + w->moves.bytes + pt_monitor_bytes(w->monitor) + w->event_letter_cap * sizeof *w->event_letter +
           (w->runs.until_cap + w->runs.next_cap) * sizeof *w->runs.until;
}
