/*
 * From a bad cut back to the start: which run leads there.
 *
 * Walking backwards from the bad cut, a set `goal` of monitor states is kept: those from which the steps already chosen
 * lead to the violation. A predecessor cut serves if some monitor state that a run brings to it steps into the goal.
 * The thread of the following step is tried first, so that the run has few context switches; then the latest event
 * first, so that it stays close to the actual run. Nothing depends on ids or on the number of workers. The run is then
 * replayed from the front, by `order` for its legality and by the monitor for its verdict, and only then believed.
 *
 * Guarantee: a shortest violating prefix (the bad cut is of the first bad level), legal and bad by its replay. Cost:
 * linear in its length times the width of the levels; full exploration makes forgotten levels again, in O(n log n).
 */
#include <stdlib.h>
#include <string.h>

#include "engine/share.h"
#include "engine/step_place.h"

enum { FULL_WITNESS = 1000 }; /* bounded windows: longer ones begin at a state of the actual run if they can */

struct walk {
    struct pt_lattice *l;
    uint64_t *counts; /* of the cut we are at */
    pt_letter letter; /* of that cut */
    pt_mstate *goal;
    uint32_t goal_count;
    bool goal_is_bad; /* at first: any step into a bad state will do */
    uint64_t level;
    uint32_t column, tenant;  /* of the following step, or PT_NONE */
    struct lat_chosen *steps; /* last step first */
    uint32_t step_count;
    size_t step_cap;
    struct lat_past_level *again; /* full exploration: levels made again, ascending */
    uint32_t again_count;
    size_t again_cap;
    struct lat_table table; /* over the keys of the level being looked at */
    uint64_t *key;
    size_t key_cap;
    uint64_t *row; /* the keys of a level that has a row of them */
    size_t row_cap;
};

static bool below(const struct walk *w, const struct lat_layout *layout, const uint64_t *key)
{
    for (uint32_t f = 0; f < layout->field_count; f++)
        if (layout->fields[f].base + lat_field_count_in(&layout->fields[f], key) > w->counts[layout->fields[f].column])
            return false;
    return true;
}

/* The cuts of a remembered level that are contained in the one we are at. */
static void level_from_past(struct walk *w, const struct lat_past_level *past, struct lat_level *level)
{
    uint32_t words = past->layout->words;
    const struct lat_field *split = past->layout->field_count ? &past->layout->fields[past->layout->split] : NULL;
    for (uint32_t i = 0; i < past->count; i++) {
        const uint64_t *key = past->keys + (size_t)i * words;
        if (!below(w, past->layout, key))
            continue;
        uint32_t p = split && !level->sorted ? lat_field_count_in(split, key) & (level->part_count - 1) : 0;
        struct lat_part *part = &level->parts[p];
        lat_part_reserve(w->l, part, words, part->count + 1);
        memcpy(part->keys + (size_t)part->count * words, key, words * sizeof *key);
        part->runs[part->count] = 0;
        part->letters[part->count] = lat_past_letter(past, i);
        part->sets[part->count] = lat_past_set(past, i);
        part->count++;
    }
}

static void set_limits(struct pt_lattice *l, const uint64_t *counts)
{
    for (uint32_t f = 0; f < l->layout->field_count; f++) {
        struct lat_field *field = &l->layout->fields[f];
        field->limit = (uint32_t)((counts ? counts[field->column] : l->columns[field->column].in_q) - field->base);
    }
}

/*
 * Full exploration: makes the levels after `from` up to `level` again, as far as they lie below the cut we are at.
 * Besides `level` those at distances 1, 2, 4, 8, ... before it are kept, and more while the budget of the history
 * lasts: walking n levels back takes O(n log n) levels of work and O(log n) levels of memory.
 */
static void make_again(struct walk *w, const struct lat_past_level *from, uint64_t level)
{
    struct pt_lattice *l = w->l;
    uint32_t parts = l->current->sorted ? 1 : l->current->part_count;
    struct lat_level *a = lat_level_new(parts), *b = lat_level_new(parts);
    size_t bytes = 0;
    uint64_t first = from->level + 1;
    a->sorted = l->current->sorted;
    level_from_past(w, from, a); /* `from` may move below */
    set_limits(l, w->counts);
    l->rebuilding = true; /* levels that fitted before: the limit is not asked again */
    for (uint64_t k = first; k <= level; k++) {
        lat_expand(l, a, b);
        struct lat_level *swap = a;
        a = b;
        b = swap;
        if (((level - k) & (level - k - 1)) != 0 && k != level && lat_any(l, bytes > l->history.budget))
            continue;
        struct lat_past_level past;
        lat_past_level_fill(l, a, k, &past);
        bytes += past.bytes;
        PT_PUSH(w->again, w->again_count, w->again_cap, past);
    }
    set_limits(l, NULL);
    l->rebuilding = false;
    lat_level_free(l, a);
    lat_level_free(l, b);
}

/* The kept cuts of a finished level, or NULL when it is forgotten. Levels are asked for in descending order. */
static const struct lat_past_level *past_level(struct walk *w, uint64_t level)
{
    const struct lat_history *h = &w->l->history;
    if (!h->count || lat_past_at(h, 0)->level > level)
        return NULL;
    if (!w->l->full)
        return lat_past_at(h, (uint32_t)(level - lat_past_at(h, 0)->level));
    while (w->again_count && w->again[w->again_count - 1].level > level)
        lat_past_level_release(w->l, &w->again[--w->again_count]);
    const struct lat_past_level *nearest =
        lat_past_at(h, (uint32_t)(level / h->stride)); /* every multiple of the stride is there */
    if (w->again_count && w->again[w->again_count - 1].level > nearest->level)
        nearest = &w->again[w->again_count - 1];
    if (nearest->level == level)
        return nearest;
    make_again(w, nearest, level);
    return &w->again[w->again_count - 1];
}

static pt_letter step_letter(struct walk *w, const struct lat_event *e)
{
    struct pt_lattice *l = w->l;
    if (e->user_event == PT_NONE)
        return w->letter;
    if (!l->module)
        return pt_monitor_with_event(l->monitor, w->letter, e->user_event);
    lat_values(l, w->counts, l->workers[0].values);
    return pt_monitor_letter(l->monitor, l->workers[0].values, e->user_event);
}

static bool in_goal(const struct walk *w, pt_mstate state)
{
    if (w->goal_is_bad)
        return state == PT_MSTATE_BAD;
    for (uint32_t i = 0; i < w->goal_count; i++)
        if (w->goal[i] == state)
            return true;
    return false;
}

/* The members of `set` that step into the goal, NULL where there are none; the caller frees them. */
static pt_mstate *serving(struct walk *w, pt_set set, pt_letter letter, uint32_t *ret_count)
{
    uint32_t count, kept = 0;
    const pt_mstate *members = pt_sets_members(w->l->sets, set, &count);
    pt_mstate *list = pt_xmalloc(count * sizeof *list);
    for (uint32_t i = 0; i < count; i++)
        if (in_goal(w, pt_monitor_step(w->l->monitor, members[i], letter)))
            list[kept++] = members[i];
    *ret_count = kept;
    if (!kept) {
        free(list);
        return NULL;
    }
    return list;
}

/* The key that the cut we are at has in a level; false: it cannot be there. */
static bool key_in(struct walk *w, const struct lat_past_level *past)
{
    if (past->window)
        return lat_ranks_key(w->l, past, w->counts, w->key);
    return !past->layout || lat_key(w->l, past->layout, w->counts, w->key);
}

/* Tries to go back over the last event of one column. Where needs decide, two cuts that differ in an event have a step
 * between them; other orders are asked. */
static bool back_over(struct walk *w, const struct lat_past_level *past, uint32_t column)
{
    struct pt_lattice *l = w->l;
    uint64_t index = w->counts[column];
    uint32_t words = past->words;
    PT_GROW(w->key, w->key_cap, words);
    if (index <= l->columns[column].freed)
        return false;
    const struct lat_event *e = lat_event_at(&l->columns[column], index);
    pt_letter letter = step_letter(w, e);
    w->counts[column]--;
    uint32_t at = PT_NONE, count = 0;
    w->key[0] = 0; /* level 0 may have been remembered before there was a layout */
    struct pt_cut_event step_event = lat_cut_event(l, column, index);
    bool enabled = l->by_needs || pt_relation_enabled(&l->relation, w->counts, &step_event);
    bool possible = enabled && key_in(w, past);
    if (possible)
        at = lat_find(&w->table, past->row ? w->row : past->keys, words, w->key);
    pt_mstate *goal = at != PT_NONE ? serving(w, lat_past_set(past, at), letter, &count) : NULL;
    pt_letter before = goal ? lat_past_letter(past, at) : 0;
    if (possible && l->share)
        (void)lat_share_goal(l, &goal, &count, &before);
    if (goal) {
        free(w->goal);
        w->goal = goal;
        w->goal_count = count;
        w->goal_is_bad = false;
        w->letter = before;
        w->column = column;
        w->tenant = e->tenant;
        struct lat_chosen step = {column, index};
        PT_PUSH(w->steps, w->step_count, w->step_cap, step);
        return true;
    }
    w->counts[column]++;
    return false;
}

/* Is the last event of the column that was gone back over of the same thread? */
static bool goes_on(const struct walk *w)
{
    const struct lat_column *column = &w->l->columns[w->column];
    uint64_t index = w->counts[w->column];
    return index > column->freed && lat_event_at(column, index)->tenant == w->tenant;
}

static bool back_one_level(struct walk *w, const struct lat_past_level *past)
{
    struct pt_lattice *l = w->l;
    if (past->row) {
        PT_GROW(w->row, w->row_cap, past->count);
        for (uint32_t i = 0; i < past->count; i++)
            w->row[i] = past->keys[0] + i * past->distance;
    }
    lat_index(&w->table, past->row ? w->row : past->keys, past->count, past->words);
    bool again = w->column != PT_NONE && goes_on(w);
    if (again && back_over(w, past, w->column))
        return true;
    uint64_t below = UINT64_MAX; /* the other columns, latest event first */
    for (;;) {
        uint32_t latest = PT_NONE;
        uint64_t number = 0;
        for (uint32_t c = 0; c < l->column_count; c++) {
            if (w->counts[c] <= l->columns[c].freed)
                continue;
            uint64_t n = lat_event_at(&l->columns[c], w->counts[c])->number;
            if (n < below && n > number) {
                number = n;
                latest = c;
            }
        }
        if (latest == PT_NONE)
            return false;
        if (!(again && latest == w->column) && back_over(w, past, latest))
            return true;
        below = number;
    }
}

/* Is this the cut of the actual run at this level? A cut of k events with greatest number k is the first k events. */
static bool on_actual_run(const struct walk *w)
{
    for (uint32_t c = 0; c < w->l->column_count; c++) {
        const struct lat_column *column = &w->l->columns[c];
        if (w->counts[c] > column->freed && lat_event_at(column, w->counts[c])->number > w->level)
            return false;
    }
    return true;
}

/* Walks back to the start, or to a state of the actual run. False: the beginning has been forgotten. */
static bool walk_back(struct walk *w, bool may_anchor)
{
    while (w->level > 0) {
        const struct lat_past_level *past = past_level(w, w->level - 1);
        if (!past || !back_one_level(w, past))
            return false;
        w->level--;
        if (may_anchor && w->level > 0 && on_actual_run(w) && in_goal(w, past->observed))
            break;
    }
    return true;
}

/* ---- the finding ---- */

/* Is the run legal by the order? `have` are the counts it starts from. */
static bool replay_order(struct pt_lattice *l, const uint64_t *have, const struct lat_chosen *run, uint32_t count)
{
    uint64_t *counts = pt_xmalloc((l->column_count + 1) * sizeof *counts);
    struct pt_cut_event *events = pt_xmalloc(((size_t)count + 1) * sizeof *events);
    memcpy(counts, have, l->column_count * sizeof *counts);
    for (uint32_t i = 0; i < count; i++)
        events[i] = lat_cut_event(l, run[i].column, run[i].index);
    bool legal = pt_relation_replay(&l->relation, counts, events, count) == count;
    free(counts);
    free(events);
    return legal;
}

/*
 * Does the monitor call the last state of the run bad, and no earlier one? From the values alone, without the letters
 * and sets of the exploration. Fills `letters` (count + 1) and leaves the last state's values in `values`.
 */
static bool replay_monitor(struct pt_lattice *l, pt_mstate state, bool from_start, const struct lat_chosen *run,
                           uint32_t count, struct pt_value *values, pt_letter *letters)
{
    letters[0] = pt_monitor_letter(l->monitor, values, PT_NONE);
    if (from_start)
        state = pt_monitor_step(l->monitor, pt_monitor_start(l->monitor), letters[0]);
    for (uint32_t i = 0; i < count; i++) {
        const struct lat_event *e = lat_event_at(&l->columns[run[i].column], run[i].index);
        if (state == PT_MSTATE_BAD || state == PT_MSTATE_ERROR)
            return false;
        if (e->var != PT_NONE)
            values[e->var] = e->value;
        letters[i + 1] = pt_monitor_letter(l->monitor, values, e->user_event);
        state = pt_monitor_step(l->monitor, state, letters[i + 1]);
    }
    return state == PT_MSTATE_BAD;
}

/* Per variable: does an event of the cut write it? */
static bool *written_before(const struct pt_lattice *l, const uint64_t *counts)
{
    bool *written = pt_xcalloc(l->var_count, sizeof *written);
    for (uint32_t v = 0; v < l->var_count; v++)
        written[v] = l->freed_numbers[v] > 0;
    for (uint32_t c = 0; c < l->column_count; c++)
        for (uint64_t k = l->columns[c].freed + 1; k <= counts[c]; k++)
            if (lat_event_at(&l->columns[c], k)->var != PT_NONE)
                written[lat_event_at(&l->columns[c], k)->var] = true;
    return written;
}

/* Replays the chosen run, and makes it the finding's witness if it is what it claims to be. */
static bool settle(struct walk *w, pt_mstate observed)
{
    struct pt_lattice *l = w->l;
    struct pt_finding *finding = l->finding;
    uint32_t count = w->step_count;
    struct lat_chosen *run = pt_xmalloc((count + 1) * sizeof *run);
    struct pt_value *values = pt_xmalloc((l->var_count + 1) * sizeof *values);
    pt_letter *letters = pt_xmalloc(((size_t)count + 1) * sizeof *letters);
    for (uint32_t i = 0; i < count; i++)
        run[i] = w->steps[count - 1 - i];
    lat_values(l, w->counts, values);
    bool *written = written_before(l, w->counts);
    finding->value_count = l->var_count;
    finding->initial = lat_bindings(l, values, written);
    bool good = replay_order(l, w->counts, run, count) &&
                replay_monitor(l, observed, w->level == 0, run, count, values, letters);
    if (good) {
        for (uint32_t i = 0; i < count; i++) {
            const struct lat_event *e = lat_event_at(&l->columns[run[i].column], run[i].index);
            if (e->var != PT_NONE)
                written[e->var] = true;
        }
        finding->final = lat_bindings(l, values, written);
        lat_fill_finding(l, w->counts, run, count, w->level, letters);
    }
    free(run);
    free(values);
    free(letters);
    free(written);
    return good;
}

static void walk_release(struct walk *w)
{
    while (w->again_count)
        lat_past_level_release(w->l, &w->again[--w->again_count]);
    free(w->again);
    free(w->counts);
    free(w->goal);
    free(w->steps);
    free(w->table.slots);
    free(w->key);
    free(w->row);
}

static struct walk walk_from(struct pt_lattice *l, const uint64_t *key, pt_letter letter)
{
    struct walk w = {.l = l, .letter = letter, .goal_is_bad = true, .level = l->level, .column = PT_NONE};
    w.counts = lat_counts_at_start(l, l->column_count);
    if (l->layout)
        lat_counts(l, l->layout, key, w.counts);
    return w;
}

void lat_violation(struct pt_lattice *l, const uint64_t *bad_key, pt_letter bad_letter)
{
    struct pt_finding *finding = l->finding;
    struct walk w = walk_from(l, bad_key, bad_letter);
    bool may_anchor = !l->full && l->level > FULL_WITNESS, found = walk_back(&w, may_anchor);
    if (!found && !l->full && !may_anchor) { /* its beginning is forgotten: a state of the actual run will do */
        walk_release(&w);
        w = walk_from(l, bad_key, bad_letter);
        found = walk_back(&w, true);
    }
    finding->verdict = PT_VERDICT_VIOLATED;
    if (finding->how == PT_HOW_NONE)
        finding->how = PT_HOW_PREDICTED;
    if (!found) {
        finding->witness_lost = true;
        finding->message = "its beginning lies further back than a bounded exploration remembers";
    } else if (!settle(&w, w.level ? past_level(&w, w.level)->observed : PT_NONE)) {
        finding->verdict = PT_VERDICT_ERROR;
        finding->message = "internal error: the predicted run did not pass its replay; please report this";
    }
    walk_release(&w);
}

void lat_observed_violation(struct pt_lattice *l)
{
    struct pt_finding *finding = l->finding;
    struct walk w = {.l = l};
    finding->verdict = PT_VERDICT_VIOLATED;
    finding->witness_lost = true;
    for (uint32_t c = 0; c < l->column_count; c++)
        if (l->columns[c].freed > l->options->counted_before)
            return;
    w.counts = lat_counts_at_start(l, l->column_count);
    struct lat_chosen *actual = lat_actual_run(l, 0, l->observed_bad);
    for (uint64_t k = l->observed_bad; k-- > 0;)
        PT_PUSH(w.steps, w.step_count, w.step_cap, actual[k]);
    free(actual);
    finding->witness_lost = !settle(&w, PT_NONE);
    walk_release(&w);
}

void lat_evaluation_error(struct pt_lattice *l, const uint64_t *key)
{
    struct pt_finding *finding = l->finding;
    uint64_t *counts = lat_counts_at_start(l, l->column_count);
    struct pt_value *values = pt_xmalloc((l->var_count + 1) * sizeof *values);
    struct pt_err err;
    uint32_t latest = PT_NONE; /* the column of the cut's last event */
    uint64_t number = 0;
    if (l->layout)
        lat_counts(l, l->layout, key, counts);
    lat_values(l, counts, values);
    pt_monitor_error(l->monitor, values, &err);
    finding->verdict = PT_VERDICT_ERROR;
    finding->message = pt_arena_strndup(&finding->arena, err.message, strlen(err.message));
    finding->message_place = "the initial state";
    for (uint32_t c = 0; c < l->column_count; c++)
        if (counts[c] > l->columns[c].freed && lat_event_at(&l->columns[c], counts[c])->number > number) {
            number = lat_event_at(&l->columns[c], counts[c])->number;
            latest = c;
        }
    if (latest != PT_NONE) {
        struct pt_step step = lat_step_of(l, latest, counts[latest]);
        finding->message_place = pt_step_place(finding, &step);
    }
    free(counts);
    free(values);
}
