/*
 * Driving the exploration: events in, levels one after the other, the verdict out. Full exploration begins when the
 * trace has ended; bounded windows keep up with it, some events behind. The actual run is observed as it comes,
 * whatever becomes of the exploration. Guarantee and cost: see lattice.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "engine/share.h"

enum { HISTORY_BUDGET = 48 << 20 };

struct pt_lattice *pt_lattice_new(struct pt_monitor *monitor, const struct pt_names *names,
                                  const struct pt_analysis_options *options, struct pt_finding *finding)
{
    struct pt_lattice *l = pt_xaligned(_Alignof(struct pt_lattice), sizeof *l);
    l->monitor = monitor;
    l->names = names;
    l->options = options;
    l->finding = finding;
    pt_relation_init(&l->relation, options->order);
    l->by_needs = pt_relation_by_needs(&l->relation);
    l->full = options->window == PT_ALL && options->lookahead == PT_ALL;
    l->module = pt_monitor_is_module(monitor);
    uint32_t events;
    pt_monitor_events(monitor, &events);
    l->same_letters = !l->module && !events;
    pt_monitor_vars(monitor, &l->var_count);
    l->joint_vars = pt_monitor_joint_vars(monitor, &l->joint_count);
    l->is_joint = pt_xcalloc(l->var_count, sizeof *l->is_joint);
    for (uint32_t i = 0; i < l->joint_count; i++)
        l->is_joint[l->joint_vars[i]] = true;
    l->all_vars = pt_xcalloc(l->var_count, sizeof *l->all_vars);
    for (uint32_t v = 0; v < l->var_count; v++)
        l->all_vars[v] = v;
    pt_sets_init(&l->own_sets, monitor);
    l->sets = &l->own_sets;
    l->initial = pt_xcalloc(l->var_count, sizeof *l->initial);
    l->initial_given = pt_xcalloc(l->var_count, sizeof *l->initial_given);
    l->freed_values = pt_xcalloc(l->var_count, sizeof *l->freed_values);
    l->freed_numbers = pt_xcalloc(l->var_count, sizeof *l->freed_numbers);
    l->observed_values = pt_xcalloc(l->var_count, sizeof *l->observed_values);
    l->last_write = pt_xcalloc(l->var_count, sizeof *l->last_write);
    for (uint32_t v = 0; v < l->var_count; v++)
        l->initial[v] = pt_value_int(0);
    l->current = lat_level_new(1);
    l->next = lat_level_new(1);
    lat_workers_grow(l, 1);
    l->history.stride = 1;
    l->history.budget = HISTORY_BUDGET;
    if (options->memory_limit && options->memory_limit / 4 < HISTORY_BUDGET)
        l->history.budget = options->memory_limit / 4;
    l->allowed = options->memory_limit;
    finding->complete = true;
    return l;
}

/* How many runs lead to the last level that is finished: asked for at the end only. */
static void count_runs(struct pt_lattice *l, const struct lat_level *level)
{
    uint64_t runs = 0;
    bool any = false;
    for (uint32_t p = 0; p < level->part_count; p++) {
        const struct lat_part *part = &level->parts[p];
        any |= part->count > 0;
        if (l->uncounted && part->count)
            runs = UINT64_MAX;
        for (uint32_t i = 0; i < part->count && !l->uncounted; i++)
            if (__builtin_add_overflow(runs, part->runs[i], &runs))
                runs = UINT64_MAX;
    }
    if (l->share) {
        any = lat_any(l, any);
        runs = lat_share_sum(l, runs);
    }
    if (!any)
        return; /* counted before the levels were forgotten */
    l->finding->runs = runs;
    l->finding->runs_overflow = runs == UINT64_MAX;
}

static size_t bytes_in_use(struct pt_lattice *l)
{
    return atomic_load(&l->bytes) + l->history.bytes + l->event_bytes + pt_sets_bytes(l->sets);
}

/* Announces what this exploration uses, and takes down what the others leave of the limit. */
static void share_memory(struct pt_lattice *l, size_t bytes)
{
    l->allowed = pt_memory_share(l->options, &l->announced, bytes);
}

/* Everything that only further exploration would need. */
void lat_forget(struct pt_lattice *l)
{
    lat_relay_quit(l);
    if (!l->out_of_memory)
        count_runs(l, l->current);
    lat_pool_free(l);
    lat_history_release(l);
    lat_level_release(l, l->current);
    lat_level_release(l, l->next);
    lat_ranks_release(l);
    free(l->previous.keys);
    l->previous.keys = NULL;
    l->previous.count = 0;
    l->previous.cap = 0;
    for (uint32_t c = 0; c < l->column_count; c++) {
        lat_free_events(l, &l->columns[c], l->columns[c].arrived);
        free(l->columns[c].events);
        l->columns[c].events = NULL;
        l->columns[c].mask = 0;
    }
    lat_joints_free(l);
    lat_layout_unref(l->layout);
    l->layout = NULL;
    share_memory(l, 0);
}

void pt_lattice_free(struct pt_lattice *l)
{
    if (!l)
        return;
    lat_stretch_drop(l);
    pt_lattice_free(l->heir);
    lat_forget(l);
    lat_workers_free(l);
    lat_level_free(l, l->current);
    lat_level_free(l, l->next);
    free(l->last_level.counts);
    free(l->ranking.top);
    free(l->ranking.order);
    free(l->ranking.kept);
    free(l->columns);
    free(l->column_of_lane);
    free(l->tenants);
    free(l->line);
    free(l->passed);
    free(l->trail);
    free(l->is_joint);
    free(l->all_vars);
    free(l->initial);
    free(l->initial_given);
    free(l->freed_values);
    free(l->freed_numbers);
    free(l->observed_values);
    free(l->last_write);
    pt_sets_release(&l->own_sets);
    pt_clock_pool_release(&l->clocks);
    pt_relation_release(&l->relation);
    free(l);
}

void pt_lattice_initial(struct pt_lattice *l, uint32_t var, struct pt_value value)
{
    l->initial[var] = value;
    l->initial_given[var] = true;
}

/* After having shrunk what can be shrunk. */
static bool is_over_memory(struct pt_lattice *l)
{
    size_t bytes = bytes_in_use(l);
    if (bytes > l->peak)
        l->peak = bytes;
    share_memory(l, bytes);
    if (!l->options->memory_limit || !lat_any(l, bytes > l->allowed || l->out_of_memory))
        return false;
    if (!lat_any(l, l->out_of_memory || bytes - l->history.bytes > l->allowed)) {
        lat_history_shrink(l, l->history.budget / 2);
        bytes = bytes_in_use(l);
        share_memory(l, bytes);
        return lat_any(l, bytes > l->allowed);
    }
    return true;
}

/* Do the events alone take more than the others leave? Levels and history are judged when a level is done. */
bool lat_over_events(struct pt_lattice *l)
{
    if (l->event_bytes > l->announced)
        share_memory(l, l->event_bytes);
    return l->event_bytes > l->allowed;
}

pt_mstate lat_trail(const struct pt_lattice *l, uint64_t number)
{
    if (number < l->trail_first || number - l->trail_first >= l->trail_count)
        return PT_NONE;
    return l->trail[number - l->trail_first];
}

void lat_give_up(struct pt_lattice *l, const char *why)
{
    struct pt_finding *finding = l->finding;
    if (finding->verdict != PT_VERDICT_VIOLATED) {
        if (finding->how == PT_HOW_OBSERVED) {
            lat_alone(l, true);
            lat_observed_violation(l);
            lat_alone(l, false);
        } else {
            finding->verdict = PT_VERDICT_UNKNOWN;
        }
        finding->message = pt_arena_strndup(&finding->arena, why, strlen(why));
    }
    finding->complete = false;
    l->stopped = true;
}

/* Always false, for lat_level_done to return. */
static bool give_up_at(struct pt_lattice *l, const char *what)
{
    char why[128];
    snprintf(why, sizeof why, "%s level %" PRIu64, what, l->level);
    lat_give_up(l, why);
    return false;
}

/* Looks for the first cut, in the order of the window, whose set carries `flag`. */
static bool find_flagged(struct pt_lattice *l, pt_set flag, const uint64_t **ret_key, pt_letter *ret_letter)
{
    const uint64_t *best = NULL;
    size_t words = l->layout ? l->layout->words : 1;
    for (uint32_t p = 0; p < l->current->part_count; p++) {
        const struct lat_part *part = &l->current->parts[p];
        for (uint32_t i = 0; i < part->count; i++) {
            if (!(part->sets[i] & flag))
                continue;
            const uint64_t *key = part->keys + i * words;
            if (best && lat_cut_compare(l, l->layout, key, best) >= 0)
                continue;
            best = key;
            *ret_letter = part->letters[i];
        }
    }
    *ret_key = l->share ? lat_share_least(l, best, ret_letter) : best;
    return *ret_key != NULL;
}

static pt_set flags_of_level(const struct pt_lattice *l)
{
    pt_set flags = 0;
    if (l->share)
        return l->share->flags;
    if ((l->paired || l->ranked) && l->current->parts[0].calm != PT_NONE) /* which is the set of all */
        return l->current->parts[0].calm & PT_SET_FLAGS;
    for (uint32_t p = 0; p < l->current->part_count; p++) {
        if (l->current->sorted)
            flags |= l->current->parts[p].flags;
        for (uint32_t i = 0; !l->current->sorted && i < l->current->parts[p].count; i++)
            flags |= l->current->parts[p].sets[i];
    }
    return flags & PT_SET_FLAGS;
}

/* Of the latest level. */
static uint64_t cuts_of(const struct pt_lattice *l, const struct lat_level *level)
{
    uint64_t cuts = 0;
    for (uint32_t p = 0; p < level->part_count; p++)
        cuts += level->parts[p].count;
    return l->share ? l->share->cuts : cuts;
}

static bool is_interrupted(const struct pt_lattice *l)
{
    if (l->share)
        return l->share->interrupted;
    return l->options->interrupted && l->options->interrupted(l->options->context);
}

static void count_level(struct pt_lattice *l)
{
    struct pt_finding *finding = l->finding;
    uint64_t cuts = cuts_of(l, l->current);
    finding->levels = l->level + 1;
    finding->states += cuts;
    finding->width = cuts > finding->width ? cuts : finding->width;
}

/* What is to be told of a level with these flags; false: the exploration is over. */
static bool tell_of_level(struct pt_lattice *l, pt_set flags)
{
    const uint64_t *key;
    pt_letter letter;
    if ((flags & PT_SET_BAD) && find_flagged(l, PT_SET_BAD, &key, &letter)) {
        count_runs(l, l->current);
        lat_violation(l, key, letter);
        lat_history_release(l);
        if (l->options->found)
            l->options->found(l->options->context, l->finding);
        l->counting = l->options->exhaustive;
        if (!l->counting && !l->full)
            lat_cone_stop(l);
        return l->counting;
    }
    if ((flags & PT_SET_ERROR) && find_flagged(l, PT_SET_ERROR, &key, &letter)) {
        lat_evaluation_error(l, key);
        return false;
    }
    return true;
}

/* Of a stretch: whoever has it tells what is to be told of the level. */
static bool level_tried(struct pt_lattice *l)
{
    if (flags_of_level(l))
        return false;
    count_level(l);
    if (l->remembers)
        lat_history_push(l);
    else
        lat_free_common(l);
    if (l->level == l->check)
        lat_stretch_check(l);
    return true;
}

bool lat_level_done(struct pt_lattice *l)
{
    if (l->stretch)
        return level_tried(l);
    if (l->out_of_memory) {
        count_runs(l, l->next); /* the level before: this one is not whole */
        return give_up_at(l, "the memory limit was reached while making");
    }
    count_level(l);
    pt_set flags = l->counting ? 0 : flags_of_level(l);
    if (flags) {
        lat_ranks_leave(l);
        lat_alone(l, true);
        bool goes_on = tell_of_level(l, flags);
        lat_alone(l, false);
        if (!goes_on)
            return false;
    }
    if (!l->counting)
        lat_history_push(l);
    else if (!l->full)
        lat_free_common(l);
    /* Without a limit it is a figure alone, and adding it up takes a twentieth of a small level's time. */
    enum { NOW_AND_THEN = 16 };
    bool asks = l->full || l->options->memory_limit || l->level % NOW_AND_THEN == 0;
    if (asks && is_over_memory(l))
        return give_up_at(l, "the memory limit was reached at");
    if (is_interrupted(l))
        return give_up_at(l, "interrupted at");
    if (l->most && l->finding->states > l->most)
        return give_up_at(l, "more states were not explored than up to");
    if (l->options->progress && (l->level & 15) == 0)
        l->options->progress(l->options->context, l->finding->property, l->level, l->finding->states);
    return true;
}

bool lat_level_quiet(struct pt_lattice *l, struct lat_tally *tally, const struct lat_tally *level)
{
    uint64_t cuts = cuts_of(l, l->current);
    if (flags_of_level(l) || (l->most && l->finding->states + tally->states + cuts > l->most))
        return false;
    tally->levels = level->levels;
    tally->states += cuts;
    tally->width = cuts > tally->width ? cuts : tally->width;
    lat_history_push(l);
    size_t bytes = atomic_load(&l->bytes) + l->history.bytes + level->bytes;
    tally->bytes = bytes > tally->bytes ? bytes : tally->bytes;
    return true;
}

/* Level 0: the empty cut, whose letter is the initial state. */
void lat_start(struct pt_lattice *l)
{
    struct lat_part *part = &l->current->parts[0];
    l->started = true;
    memcpy(l->observed_values, l->initial, l->var_count * sizeof *l->initial);
    l->observed_letter = pt_monitor_letter(l->monitor, l->initial, PT_NONE);
    l->observed_state = pt_monitor_start(l->monitor);
    pt_set set = pt_sets_single(l->sets, l->observed_state);
    lat_part_reserve(l, part, 1, 1);
    part->count = 1;
    part->keys[0] = 0;
    part->runs[0] = 1;
    part->letters[0] = l->observed_letter;
    part->sets[0] = pt_sets_step_slow(l->sets, set, l->observed_letter);
    lat_observe(l, l->observed_letter, NULL);
    if (!lat_level_done(l))
        l->stopped = true;
}

/* Whether the levels are divided among processes. */
static bool divided(const struct pt_lattice *l)
{
    return pt_group_shares(l->options->group) && !l->module;
}

/* Levels are sorted, or split by the thread with the most events. */
static void split_level_zero(struct pt_lattice *l)
{
    if (!l->layout->field_count)
        return;
    uint64_t events = l->columns[l->layout->fields[l->layout->split].column].arrived - l->options->counted_before;
    uint32_t parts = 1;
    l->current->sorted = lat_merge_fits(l);
    while (!l->current->sorted && parts < LAT_MAX_PARTS && parts < events + 1)
        parts *= 2;
    lat_level_split(l->current, parts);
    lat_level_split(l->next, parts);
    struct lat_part *part = &l->current->parts[0];
    atomic_fetch_add(&l->bytes, (size_t)part->cap * (l->layout->words - part->words) * sizeof *part->keys);
    part->words = l->layout->words;
    part->keys = pt_xrealloc(part->keys, part->cap * l->layout->words * sizeof *part->keys);
    memset(part->keys, 0, l->layout->words * sizeof *part->keys);
}

static void explore_all(struct pt_lattice *l)
{
    for (uint32_t c = 0; c < l->column_count; c++)
        l->columns[c].in_q = l->columns[c].arrived;
    lat_layout_build(l);
    lat_joints_build(l);
    split_level_zero(l);
    if (divided(l))
        lat_share_start(l);
    /* Level 0 was remembered before there was a layout. */
    lat_history_release(l);
    lat_history_push(l);
    while (!l->stopped) {
        lat_expand(l, l->current, l->next);
        if (!cuts_of(l, l->next) && !l->out_of_memory)
            break;
        struct lat_level *swap = l->current;
        l->current = l->next;
        l->next = swap;
        l->level++;
        if (!lat_level_done(l))
            l->stopped = true;
    }
    if (l->share) {
        if (!l->out_of_memory)
            count_runs(l, l->current);
        lat_level_release(l, l->current); /* it is counted */
        lat_share_stop(l);
    }
}

void pt_lattice_expect(struct pt_lattice *root, uint64_t states)
{
    lat_stretch_end(root);
    lat_heir(root)->most = states;
}

bool pt_lattice_needs_order(const struct pt_lattice *root)
{
    const struct pt_lattice *l = root->heir ? root->heir : root;
    return root->stretches || !l->stopped ||
           (!l->full && l->finding->complete); /* completeness of a bounded window is still judged */
}

void pt_lattice_give_up(struct pt_lattice *root, const char *why)
{
    lat_stretch_end(root);
    struct pt_lattice *l = lat_heir(root);
    lat_relay_drain(l);
    if (l->stopped)
        return;
    if (!l->started)
        lat_start(l);
    lat_give_up(l, why);
    lat_forget(l);
}

void pt_lattice_gap(struct pt_lattice *root)
{
    pt_lattice_give_up(root, "events were lost");
    root->finding->complete = false;
    lat_heir(root)->observed_over = true;
}

void pt_lattice_finish(struct pt_lattice *root, const char *lost)
{
    lat_stretch_finish(root);
    struct pt_lattice *l = lat_heir(root);
    struct pt_finding *finding = l->finding;
    uint64_t since = l->options->now ? l->options->now() : 0;
    if (!l->started)
        lat_start(l);
    l->ended = true;
    if (!l->stopped) {
        if (l->full)
            explore_all(l);
        else
            lat_cone_advance(l);
    }
    if (finding->verdict == PT_VERDICT_UNKNOWN && finding->how == PT_HOW_OBSERVED) {
        finding->verdict = PT_VERDICT_VIOLATED; /* seen after the exploration had to stop */
        finding->witness_lost = true;
    }
    if (finding->verdict == PT_VERDICT_VIOLATED) {
        if (finding->how != PT_HOW_OBSERVED)
            finding->how = PT_HOW_PREDICTED;
    } else {
        finding->how = PT_HOW_NONE;
    }
    if (lost) {
        finding->complete = false;
        if (finding->verdict == PT_VERDICT_HOLDS) {
            finding->verdict = PT_VERDICT_UNKNOWN;
            finding->message = pt_arena_strndup(&finding->arena, lost, strlen(lost));
        }
    }
    lat_timed(l, since, 1);
    is_over_memory(l); /* takes the last reading of the peak */
    finding->seconds = (double)l->busy_ns / 1e9;
    finding->peak_bytes = l->peak;
    lat_forget(l);
}
