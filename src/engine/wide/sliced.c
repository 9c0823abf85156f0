/*
 * The order `slices=K`: runs that are made of at most K+1 subsequences of the recording, one after the other, in which
 * every thread keeps its order, every read sees the write that it saw, and locks exclude; whatever is needed by nothing
 * may be left out. (After Farzan and Mathur, "k-sliced reads-from equivalence"; the automaton is our own.)
 *
 * The recording is read once, from the first event to the last, with a set of states: where each event goes is guessed,
 * slice or left out, and a state is what the guesses so far have to remember (sliced_step.c), with the monitor's
 * configuration at the end of each slice. Where a slice after the first begins is guessed, too, among the
 * configurations in which the slices before it can end, and compared with where they did end when a violation is
 * claimed. Those are the answer of the same search with a slice less, so there are K+1 passes: of 0, 1, ..., K.
 *
 * Guarantee. Sound: as wide.h says, each violation is judged as a possible run of the order `values`, which contains
 * this one. Complete, if it comes to its end: every such run is read by the monitor. What slices=0 finds,
 * `sync` finds; larger K find more, and none finds more than `values`. The witness is not a shortest one.
 *
 * Cost: linear in the recording, times the states, whose number does not grow with its length but with the
 * threads, locks and variables that are in use at once, exponentially. Where the log of the recording is not kept, it
 * is given event by event, as often as there are passes and once before (sliced_stream.c), or only once
 * (sliced_live.c). A violation's pass is done once more with the guesses kept, 4 bytes per state and event, on the log
 * up to there.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "engine/wide/sliced_impl.h"

enum { STRIDE = 16 };                      /* events between two looks at the clock and at the memory, ... */
enum { LOOK_STATES = 4096 };               /* ... and states */
enum { PARENT_SHIFT = 2, SLICE_MASK = 3 }; /* of a guess: the state before, and the slice */

/* ---- states ---- */

/* The monitor's configuration at the end of a slice, PT_NONE: no relevant event is in it yet. */
static uint32_t get(const struct sliced *x, const uint8_t *state, uint32_t slice, bool start)
{
    uint32_t config;
    memcpy(&config, state + x->ends + (slice + (start ? x->last : 0)) * sizeof config, sizeof config);
    return config;
}

static void set(const struct sliced *x, uint8_t *state, uint32_t slice, bool start, uint32_t config)
{
    memcpy(state + x->ends + (slice + (start ? x->last : 0)) * sizeof config, &config, sizeof config);
}

uint32_t sliced_end_at(const struct sliced *x, const uint8_t *state, uint32_t slice)
{
    return get(x, state, slice, false);
}

/* Where the run stands at the end of a slice, as far as it is known what the slices began with; PT_NONE: one of them
 * did not begin where the one before it has ended. */
static uint32_t end_of(const struct sliced *x, const uint8_t *state, uint32_t slice)
{
    uint32_t config = get(x, state, 0, false);
    for (uint32_t k = 1; x->maps && k <= slice; k++)
        config = sliced_maps_image(x->maps, get(x, state, k, false), config);
    if (x->maps)
        return config;
    for (uint32_t k = 1; k <= slice; k++) {
        uint32_t start = get(x, state, k, true);
        if (start == PT_NONE)
            continue;
        if (start != config)
            return PT_NONE;
        config = get(x, state, k, false);
    }
    return config;
}

/* Whether the run that a state stands for, if nothing is added to it, ends in a violation, or where the property has no
 * value. */
static bool is_found(const struct sliced *x, const uint8_t *state)
{
    bool over = x->maps;
    for (uint32_t k = 0; k <= x->last && !over; k++) {
        uint32_t config = get(x, state, k, false);
        over |= config != PT_NONE && sliced_is_over(&x->monitor, config);
    }
    if (!over)
        return false;
    uint32_t config = end_of(x, state, x->last);
    return config != PT_NONE && sliced_is_over(&x->monitor, config) && sliced_may_end(&x->layout, state, x->last);
}

/* x->state is a state after event `number`, made from `parent` by putting the event into the slice. */
static void add(struct sliced *x, uint32_t number, uint32_t parent, uint32_t slice)
{
    if (x->next.count >= x->most) {
        x->full = true;
        return;
    }
    uint32_t before = x->next.count, state = sliced_table_add(&x->next, x->state);
    if (state == PT_NONE)
        return;
    x->made += x->next.count - before;
    if (x->keep) {
        if (state == before && !(state & (state - 1))) { /* a power of two, or none yet: room for as many again */
            uint32_t room = state ? 2 * state : 1;
            x->guesses[number] = pt_xrealloc(x->guesses[number], room * sizeof **x->guesses);
            x->guess_bytes += (room - state) * sizeof **x->guesses;
        }
        x->guesses[number][state] = parent << PARENT_SHIFT | slice;
    }
    if (!x->found && is_found(x, x->state)) {
        x->found = true;
        x->found_event = number;
        x->found_state = state;
        x->found_config = end_of(x, x->state, x->last);
    }
}

/* The fields of x->state have the event in the slice: the monitor follows, from each beginning that there may be. */
static void add_relevant(struct sliced *x, uint32_t number, uint32_t parent, uint32_t letter, uint32_t slice)
{
    uint32_t config = get(x, x->state, slice, false);
    if (x->maps && slice) {
        uint32_t map = sliced_maps_step(x->maps, config, letter);
        x->full |= map == PT_NONE;
        set(x, x->state, slice, false, map);
        if (map != PT_NONE)
            add(x, number, parent, slice);
        return;
    }
    if (config != PT_NONE) {
        if (sliced_is_over(&x->monitor, config))
            return; /* what comes after a violation is another run's */
        set(x, x->state, slice, false, sliced_monitor_step(&x->monitor, config, letter));
        add(x, number, parent, slice);
        return;
    }
    for (uint32_t i = 0; i < x->start_count[slice]; i++) {
        uint32_t start = x->starts[slice][i];
        set(x, x->state, slice, true, start);
        set(x, x->state, slice, false, sliced_monitor_step(&x->monitor, start, letter));
        add(x, number, parent, slice);
    }
}

/* What an event makes of one state. */
static void expand(struct sliced *x, const struct sliced_event *event, uint32_t number, uint32_t parent)
{
    const uint8_t *from = sliced_table_state(&x->now, parent);
    for (uint32_t slice = sliced_decode(from[event->thread]); slice <= x->last; slice++) {
        memcpy(x->state, from, x->length);
        if (!sliced_take(&x->layout, x->state, event, slice, x->last))
            continue;
        if (event->letter == PT_NONE)
            add(x, number, parent, slice);
        else
            add_relevant(x, number, parent, event->letter, slice);
    }
    memcpy(x->state, from, x->length);
    if (sliced_take(&x->layout, x->state, event, SLICED_DROPPED, x->last))
        add(x, number, parent, SLICED_DROPPED);
}

/* ---- passes ---- */

static bool is_cut(struct sliced *x)
{
    struct wide_search *s = x->s;
    const struct pt_analysis_options *o = s->options;
    uint64_t bytes = s->p->bytes + sliced_table_bytes(&x->now) + sliced_table_bytes(&x->next) + x->guess_bytes +
                     sliced_monitor_bytes(&x->monitor) + (x->maps ? sliced_maps_bytes(x->maps) : 0) +
                     x->count * sizeof *x->events + sliced_layout_bytes(&x->layout) + pt_sets_bytes(&s->sets);
    if (bytes > s->figures->peak_bytes)
        s->figures->peak_bytes = bytes;
    uint64_t allowed = pt_memory_share(o, &s->announced, bytes);
    if (o->progress)
        o->progress(o->context, s->finding->property, s->figures->levels, s->figures->states + x->made);
    if (o->memory_limit && bytes > allowed)
        s->figures->cut = "the memory limit was reached";
    else if (o->interrupted && o->interrupted(o->context))
        s->figures->cut = "interrupted";
    else if (s->deadline && !x->keep && o->now() >= s->deadline)
        s->figures->cut = "the time of --effort is over";
    return s->figures->cut != NULL;
}

void sliced_set_length(struct sliced *x)
{
    x->ends = (x->layout.bytes + 7) & ~7u;
    x->length = (x->ends + (2 * x->last + 1) * (uint32_t)sizeof(uint32_t) + 7) & ~7u;
    free(x->state);
    x->state = pt_xcalloc(1, x->length);
}

void sliced_begin_pass(struct sliced *x, uint32_t last)
{
    x->last = last;
    sliced_set_length(x);
    sliced_table_release(&x->now);
    sliced_table_release(&x->next);
    sliced_table_init(&x->now, x->length, x->layout.bits);
    sliced_table_init(&x->next, x->length, x->layout.bits);
    for (uint32_t k = 0; k <= last; k++) {
        set(x, x->state, k, false, !k ? SLICED_FIRST : x->maps ? SLICED_UNREAD : PT_NONE);
        if (k)
            set(x, x->state, k, true, PT_NONE);
    }
    (void)sliced_table_add(&x->now, x->state);
    x->made = 1;
    x->found = false;
}

bool sliced_read(struct sliced *x, const struct sliced_event *event, uint32_t number)
{
    sliced_table_clear(&x->next);
    for (uint32_t state = 0; state < x->now.count; state++) {
        if ((state + 1) % LOOK_STATES == 0 && is_cut(x))
            return false;
        expand(x, event, number, state);
    }
    struct sliced_table other = x->now;
    x->now = x->next;
    x->next = other;
    if (x->now.count > x->s->figures->width)
        x->s->figures->width = x->now.count;
    return (++x->looked % STRIDE != 0 && !x->keep) || !is_cut(x);
}

/* All events, or up to the first violation. False: it was cut off. */
static bool read_events(struct sliced *x)
{
    for (uint32_t i = 0; i < x->count && !x->found; i++) {
        if (x->keep) {
            PT_GROW(x->guesses, x->guess_cap, (size_t)i + 1);
            x->guesses[i] = NULL;
            x->guess_count = i + 1;
        }
        if (!sliced_read(x, &x->events[i], i))
            return false;
    }
    return true;
}

/* Where the run can stand when this pass' slices are over: there the next one begins. */
void sliced_collect_starts(struct sliced *x)
{
    uint32_t next = x->last + 1;
    bool *known = pt_xcalloc((size_t)x->monitor.config_count + 1, sizeof *known);
    for (uint32_t i = 0; i < x->now.count; i++) {
        const uint8_t *state = sliced_table_state(&x->now, i);
        uint32_t config = end_of(x, state, x->last);
        if (config == PT_NONE || known[config] || sliced_is_over(&x->monitor, config) ||
            !sliced_may_end(&x->layout, state, x->last))
            continue;
        known[config] = true;
        PT_PUSH(x->starts[next], x->start_count[next], x->start_cap[next], config);
    }
    free(known);
}

/* ---- the run ---- */

/* The slice of each event up to the one that closes the violation. */
static uint8_t *guessed(const struct sliced *x)
{
    uint8_t *slices = pt_xmalloc((size_t)x->found_event + 1);
    uint32_t state = x->found_state;
    for (uint32_t i = x->found_event + 1; i-- > 0;) {
        uint32_t guess = x->guesses[i][state];
        slices[i] = guess & SLICE_MASK;
        state = guess >> PARENT_SHIFT;
    }
    return slices;
}

/* All events of the run, as places of the recording, with what the search had left out of its threads; up to the one
 * that breaks the property. */
static uint64_t *whole_run(struct sliced *x, const uint8_t *slices, uint64_t *ret_count)
{
    const struct pt_wide_log *log = x->s->p->log;
    uint32_t *done = pt_xcalloc((size_t)log->thread_count + 1, sizeof *done), config = SLICED_FIRST;
    uint64_t *run = NULL, count = 0;
    size_t cap = 0;
    for (uint32_t k = 0; k <= x->last; k++)
        for (uint32_t i = 0; i <= x->found_event && !sliced_is_over(&x->monitor, config); i++) {
            const struct sliced_event *event = &x->events[i];
            uint32_t c = event->column;
            if (slices[i] != k)
                continue;
            while (done[c] < log->index[event->place])
                PT_PUSH(run, count, cap, log->threads[c].places[done[c]++]);
            if (event->letter != PT_NONE)
                config = sliced_monitor_step(&x->monitor, config, event->letter);
        }
    free(done);
    *ret_count = count;
    return run;
}

/* The pass found something: once more, with the guesses. */
static enum pt_wide_end finish(struct sliced *x)
{
    struct wide_search *s = x->s;
    if (x->monitor.configs[x->found_config].state == PT_MSTATE_ERROR) {
        sliced_monitor_values(&x->monitor, x->found_config, s->values);
        wide_report_error(s, s->values, (uint32_t)x->events[x->found_event].place);
        return PT_WIDE_ERROR;
    }
    x->keep = true;
    sliced_begin_pass(x, x->last);
    if (!read_events(x)) {
        s->figures->cut = "a violation was found, but its run does not fit into the memory limit";
        return PT_WIDE_CUT;
    }
    uint8_t *slices = guessed(x);
    uint64_t count, *run = whole_run(x, slices, &count);
    bool good = wide_report(s, run, count);
    free(run);
    free(slices);
    if (good)
        return PT_WIDE_VIOLATED;
    s->finding->verdict = PT_VERDICT_ERROR;
    s->finding->message = "internal error: the predicted run did not pass its replay; please report this";
    return PT_WIDE_ERROR;
}

enum pt_wide_end sliced_end(const struct sliced *x)
{
    if (!x->full)
        return PT_WIDE_HOLDS;
    x->s->figures->cut = "more than 4194304 states at a time";
    return PT_WIDE_CUT;
}

static enum pt_wide_end explore(struct sliced *x, uint32_t slices)
{
    struct pt_wide_figures *figures = x->s->figures;
    if (x->layout.refuses) {
        figures->cut = x->layout.refuses;
        return PT_WIDE_CUT;
    }
    if (x->monitor.configs[SLICED_FIRST].state == PT_MSTATE_ERROR) {
        wide_report_error(x->s, x->s->p->initial, PT_NONE);
        return PT_WIDE_ERROR;
    }
    if (x->monitor.configs[SLICED_FIRST].state == PT_MSTATE_BAD)
        return wide_report(x->s, NULL, 0) ? PT_WIDE_VIOLATED : PT_WIDE_ERROR;
    for (uint32_t last = 0; last <= slices; last++) {
        sliced_begin_pass(x, last);
        figures->levels = last + 1;
        bool whole = read_events(x);
        figures->states += x->made;
        if (x->found)
            return finish(x);
        if (!whole)
            return PT_WIDE_CUT;
        if (last < slices)
            sliced_collect_starts(x);
    }
    return sliced_end(x);
}

void sliced_init(struct sliced *x, struct wide_search *search)
{
    *x = (struct sliced){.s = search, .most = SLICED_STATES};
    sliced_monitor_init(&x->monitor, search);
    sliced_layout_init(&x->layout);
}

void sliced_release(struct sliced *x)
{
    for (uint32_t i = 0; i < x->guess_count; i++)
        free(x->guesses[i]);
    free(x->guesses);
    for (uint32_t k = 0; k <= SLICED_MOST; k++)
        free(x->starts[k]);
    sliced_table_release(&x->now);
    sliced_table_release(&x->next);
    free(x->state);
    free(x->events);
    sliced_layout_release(&x->layout);
    sliced_monitor_release(&x->monitor);
}

/* The events of the problem, in recorded order: the next one from `place` on; NULL: there is none. `done`: how many of
 * each column were given. */
static const struct wide_event *next_event(const struct wide_problem *p, uint32_t *place, uint32_t *done)
{
    for (; *place < p->log->count; ++*place) {
        uint32_t c = p->log->events[*place].thread;
        const struct wide_event *e = done[c] < p->columns[c].count ? wide_next(p, c, done[c]) : NULL;
        if (!e || e->place != *place)
            continue;
        done[c]++;
        ++*place;
        return e;
    }
    return NULL;
}

static void list_events(struct sliced *x)
{
    const struct wide_problem *p = x->s->p;
    const struct wide_event *e;
    uint32_t *done = pt_xcalloc((size_t)p->column_count + 1, sizeof *done), place = 0, count = 0;
    for (; (e = next_event(p, &place, done)); count++)
        sliced_survey(&x->layout, &p->log->events[e->place]);
    sliced_survey_end(&x->layout);
    sliced_rewind(&x->layout);
    memset(done, 0, p->column_count * sizeof *done);
    x->events = pt_xcalloc((size_t)count + 1, sizeof *x->events);
    for (place = 0; (e = next_event(p, &place, done));) {
        struct sliced_event *event = &x->events[x->count];
        const struct pt_recorded *recorded = &p->log->events[e->place];
        if (!sliced_tell(&x->layout, recorded, e->visible, event))
            continue;
        event->place = e->place;
        if (e->visible)
            event->letter = sliced_monitor_letter(&x->monitor, e->var, e->user_event, recorded, e->place);
        x->count++;
    }
    free(done);
}

enum pt_wide_end wide_explore_sliced(struct wide_search *search, uint32_t slices)
{
    struct sliced x;
    sliced_init(&x, search);
    list_events(&x);
    enum pt_wide_end end = explore(&x, slices);
    sliced_release(&x);
    return end;
}
