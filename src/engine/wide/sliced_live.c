/*
 * The order `slices=K` of a trace as it arrives: one pass, and a verdict with the event that completes a violation.
 *
 * It is the automaton of sliced.c with all K+1 slices at once. What the passes know beforehand is not known here, and
 * is replaced: where a slice after the first begins, by the map of what it does wherever it begins (sliced_maps.c); who
 * uses what, and until when, by pieces of states that are made when something appears (sliced_grow.c).
 *
 * Maps are defined for the letters that are known, and what one thread alone has used so far has no piece. The property
 * itself tells most letters before the first event, and what is shared mostly shows soon. A letter that comes later,
 * when some slice after the first has read something already, or a second user of a variable or lock makes it necessary
 * to begin anew with the events so far, of which it is then known. That is done as long as all of it costs no more than
 * some passes over the trace (values that atoms compare with each other may never stop being new), and given up then.
 * With one slice it never is necessary. It is given up, too, when there are too many states at a time, configurations
 * or maps: it knows less than the passes, and may have exponentially more states.
 *
 * Guarantee: what is found is a violation of a run of slices, as far as the automaton goes, and has to be found again
 * in a log of the events so far, from which its run is made and judged. If nothing is found and it is not given up,
 * there is none. Cost: per event the states, at most MOST_STATES; memory for these and for names, not for events.
 */
#include <stdlib.h>

#include "engine/wide/sliced_impl.h"

enum { MOST_STATES = 1 << 16, MOST_LETTERS = 1 << 16, MOST_CONFIGS = 1 << 16 };
enum { AGAIN_FREE = 1 << 16, AGAIN_TIMES = 3 }; /* events that may be given again: so many, and for each that came */

struct pt_wide_live {
    struct wide_problem problem; /* of no events: what the monitor needs */
    struct wide_search search;
    struct pt_wide_figures figures;
    struct sliced x;
    struct sliced_maps maps;
    struct sliced_shared shared;
    uint32_t slices;
    uint64_t count, again; /* events since it began; how many were given again in all */
    const char *why;       /* it was given up */
};

static void begin(struct pt_wide_live *live)
{
    struct sliced *x = &live->x;
    sliced_layout_release(&x->layout);
    sliced_layout_init(&x->layout);
    sliced_grow_init(&x->layout, live->slices, &live->shared, live->problem.log->names);
    sliced_begin_pass(x, live->slices);
    live->count = 0;
    if (live->slices && !sliced_maps_close(&live->maps))
        live->why = "the property has too many states for one pass";
}

struct pt_wide_live *pt_wide_live_new(struct pt_wide_log *log, uint32_t slices, struct pt_monitor *monitor,
                                      const struct pt_wide_names *names, const struct pt_analysis_options *options,
                                      struct pt_finding *finding)
{
    struct pt_wide_live *live = pt_xcalloc(1, sizeof *live);
    live->slices = slices;
    wide_problem_init(&live->problem, log, PT_POSSIBLE_VALUES, monitor, names);
    wide_search_init(&live->search, &live->problem, options, 0, finding, &live->figures);
    sliced_init(&live->x, &live->search);
    sliced_maps_init(&live->maps, &live->x.monitor);
    live->x.maps = &live->maps;
    live->x.most = MOST_STATES;
    live->figures.levels = 1;
    if (slices)
        sliced_monitor_foresee(&live->x.monitor);
    begin(live);
    return live;
}

void pt_wide_live_free(struct pt_wide_live *live)
{
    if (!live)
        return;
    sliced_release(&live->x);
    sliced_maps_release(&live->maps);
    free(live->shared.vars);
    free(live->shared.locks);
    wide_search_release(&live->search);
    wide_problem_release(&live->problem);
    free(live);
}

/* Before an event, where there may be no room for what it touches: states become longer. */
static void make_room(struct sliced *x)
{
    struct sliced_layout *layout = &x->layout;
    uint32_t fields = layout->bytes;
    uint8_t *any = pt_xcalloc(1, fields);
    for (uint32_t i = 0; i < x->now.count; i++) {
        const uint8_t *state = sliced_table_state(&x->now, i);
        for (uint32_t at = 0; at < fields; at++)
            any[at] |= state[at];
    }
    sliced_grow_sweep(layout, any);
    free(any);
    if (!sliced_grow_widen(layout))
        return;
    sliced_set_length(x);
    sliced_table_widen(&x->now, x->length, layout->bits, fields, x->ends);
    sliced_table_release(&x->next);
    sliced_table_init(&x->next, x->length, layout->bits);
}

/* Whether no slice after the first has read anything yet. */
static bool has_begun_none(const struct sliced *x)
{
    for (uint32_t i = 0; i < x->now.count; i++)
        for (uint32_t k = 1; k <= x->last; k++)
            if (sliced_end_at(x, sliced_table_state(&x->now, i), k) != SLICED_UNREAD)
                return false;
    return true;
}

/* Something is known now that should have been known from the first event on. When half of what that may cost is
 * spent, everything is taken for shared, and only letters can still be new. */
static enum pt_wide_live_end begin_anew(struct pt_wide_live *live)
{
    uint64_t most = AGAIN_FREE + AGAIN_TIMES * live->count;
    live->again += live->count;
    if (live->again > most) {
        live->why = "one pass would have to begin anew too often";
        return PT_WIDE_LIVE_UP;
    }
    live->shared.all |= live->again > most / 2;
    live->figures.relevant = 0;
    live->figures.states += live->x.made;
    begin(live);
    return live->why ? PT_WIDE_LIVE_UP : PT_WIDE_LIVE_AGAIN;
}

/* A letter that the maps do not know. */
static enum pt_wide_live_end learn(struct pt_wide_live *live)
{
    if (!has_begun_none(&live->x))
        return begin_anew(live);
    if (!sliced_maps_close(&live->maps))
        live->why = "the property has too many states for one pass";
    return live->why ? PT_WIDE_LIVE_UP : PT_WIDE_LIVE_ON;
}

/* Whether the trace has one name for each variable of the property. */
static bool is_plain(struct pt_wide_live *live, const struct pt_event *event, uint32_t var)
{
    uint32_t *object = var == PT_NONE ? NULL : &live->problem.object_of_var[var];
    if (object && *object != PT_NONE && *object != event->object)
        live->why = "the trace has two names for one variable of the property";
    if (object)
        *object = event->object;
    return !live->why;
}

static enum pt_wide_live_end take(struct pt_wide_live *live, const struct sliced_event *told)
{
    struct sliced *x = &live->x;
    bool whole = sliced_read(x, told, 0);
    if (x->found)
        return PT_WIDE_LIVE_FOUND;
    if (!whole)
        live->why = live->figures.cut;
    else if (x->full)
        live->why = "one pass has too many states at a time";
    return live->why ? PT_WIDE_LIVE_UP : PT_WIDE_LIVE_ON;
}

enum pt_wide_live_end pt_wide_live_event(struct pt_wide_live *live, const struct pt_event *event, uint32_t var,
                                         uint32_t user_event)
{
    struct sliced *x = &live->x;
    struct pt_recorded recorded = pt_recorded(event);
    struct sliced_event told;
    bool visible = var != PT_NONE || user_event != PT_NONE;
    uint32_t letter = PT_NONE;
    if (event->thread == PT_NONE)
        return PT_WIDE_LIVE_ON;
    if (live->why || !is_plain(live, event, var))
        return PT_WIDE_LIVE_UP;
    if (sliced_is_over(&x->monitor, SLICED_FIRST))
        return PT_WIDE_LIVE_FOUND;
    live->count++;
    live->figures.relevant += visible;
    if (visible) {
        letter = sliced_monitor_letter(&x->monitor, var, user_event, &recorded, live->count);
        if (x->monitor.letter_count > MOST_LETTERS || x->monitor.config_count > MOST_CONFIGS)
            live->why = "atoms of the property compare too many values for one pass";
        enum pt_wide_live_end end = live->why                                      ? PT_WIDE_LIVE_UP
                                    : live->slices && letter >= live->maps.letters ? learn(live)
                                                                                   : PT_WIDE_LIVE_ON;
        if (end != PT_WIDE_LIVE_ON)
            return end;
    }
    if (sliced_grow_is_tight(&x->layout))
        make_room(x);
    if (!sliced_grow_tell(&x->layout, &recorded, visible, &told)) {
        if (x->layout.shares)
            return begin_anew(live);
        live->why = x->layout.refuses;
        return live->why ? PT_WIDE_LIVE_UP : PT_WIDE_LIVE_ON;
    }
    told.letter = letter;
    return take(live, &told);
}

void pt_wide_live_figures(const struct pt_wide_live *live, struct pt_wide_figures *ret_figures)
{
    *ret_figures = live->figures;
    ret_figures->states += live->x.made;
}

const char *pt_wide_live_why(const struct pt_wide_live *live)
{
    return live->why;
}
