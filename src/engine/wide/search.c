/*
 * The search in a wider order, level by level: level k has the states after k relevant events. Within a level the
 * states with fewer events come first, so that each is expanded once, when all that leads to it is known: a relevant
 * event leads to the next level, any other choice to a state of the level that has more events.
 *
 * Guarantee: the first level with a violation is that of a shortest one. The same input gives the same states in the
 * same order; only where a deadline ends it does the search depend on the machine. Cost: see wide.h; one look-up per
 * step between states, and the logarithm of the level's width per state.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "engine/wide/wide_impl.h"

/* How many states are expanded between two looks at the clock and at the memory. */
enum { STRIDE = 64 };

/* ---- levels ---- */

static void level_release(struct wide_level *level)
{
    free(level->keys);
    free(level->letters);
    free(level->sets);
    free(level->runs);
    free(level->totals);
    free(level->edges);
    free(level->slots);
    free(level->heap);
    free(level->order);
    free(level->list);
    *level = (struct wide_level){0};
}

/* Empty, with its memory kept. */
static void level_clear(struct wide_level *level)
{
    level->count = level->heap_count = level->order_count = level->edge_count = 0;
    if (level->slots)
        memset(level->slots, 0, ((size_t)level->mask + 1) * sizeof *level->slots);
}

static size_t level_bytes(const struct wide_level *level, uint32_t words)
{
    size_t state = words * sizeof(uint64_t) + 2 * sizeof(uint32_t) + 2 * sizeof(uint64_t) + sizeof(uint32_t);
    return level->cap * state + (level->slots ? ((size_t)level->mask + 1) * sizeof *level->slots : 0) +
           (level->heap_cap + level->order_cap) * sizeof(uint32_t) + level->edge_cap * sizeof *level->list;
}

static void level_grow(struct wide_level *level, uint32_t words)
{
    uint32_t cap = level->cap ? 2 * level->cap : 64;
    level->keys = pt_xrealloc(level->keys, (size_t)cap * words * sizeof *level->keys);
    level->letters = pt_xrealloc(level->letters, cap * sizeof *level->letters);
    level->sets = pt_xrealloc(level->sets, cap * sizeof *level->sets);
    level->runs = pt_xrealloc(level->runs, cap * sizeof *level->runs);
    level->totals = pt_xrealloc(level->totals, cap * sizeof *level->totals);
    level->edges = pt_xrealloc(level->edges, cap * sizeof *level->edges);
    level->cap = cap;
}

static uint64_t hash_key(const uint64_t *key, uint32_t words)
{
    uint64_t hash = 0;
    for (uint32_t k = 0; k < words; k++)
        hash = pt_mix64(hash ^ key[k]);
    return hash;
}

static void level_rehash(struct wide_level *level, uint32_t words)
{
    uint32_t size = level->slots ? 2 * (level->mask + 1) : 128;
    free(level->slots);
    level->slots = pt_xcalloc(size, sizeof *level->slots);
    level->mask = size - 1;
    for (uint32_t i = 0; i < level->count; i++) {
        uint32_t at = (uint32_t)hash_key(level->keys + (size_t)i * words, words) & level->mask;
        while (level->slots[at])
            at = (at + 1) & level->mask;
        level->slots[at] = i + 1;
    }
}

static void heap_push(struct wide_level *level, uint32_t state)
{
    uint32_t at = level->heap_count;
    PT_PUSH(level->heap, level->heap_count, level->heap_cap, state);
    for (; at && level->totals[level->heap[(at - 1) / 2]] > level->totals[state]; at = (at - 1) / 2)
        level->heap[at] = level->heap[(at - 1) / 2];
    level->heap[at] = state;
}

static uint32_t heap_pop(struct wide_level *level)
{
    uint32_t first = level->heap[0], last = level->heap[--level->heap_count], at = 0;
    for (uint32_t child; (child = 2 * at + 1) < level->heap_count; at = child) {
        if (child + 1 < level->heap_count && level->totals[level->heap[child + 1]] < level->totals[level->heap[child]])
            child++;
        if (level->totals[level->heap[child]] >= level->totals[last])
            break;
        level->heap[at] = level->heap[child];
    }
    level->heap[at] = last;
    return first;
}

/* The state of the key, a new one if there is none. */
static uint32_t level_state(struct wide_level *level, const uint64_t *key, uint32_t words, uint64_t total,
                            pt_letter letter)
{
    if (!level->slots || level->count > level->mask / 2)
        level_rehash(level, words);
    uint32_t at = (uint32_t)hash_key(key, words) & level->mask;
    for (; level->slots[at]; at = (at + 1) & level->mask)
        if (memcmp(level->keys + (size_t)(level->slots[at] - 1) * words, key, words * sizeof *key) == 0)
            return level->slots[at] - 1;
    if (level->count == level->cap)
        level_grow(level, words);
    uint32_t state = level->count++;
    level->slots[at] = state + 1;
    memcpy(level->keys + (size_t)state * words, key, words * sizeof *key);
    level->letters[state] = letter;
    level->sets[state] = PT_SET_EMPTY;
    level->runs[state] = 0;
    level->totals[state] = total;
    level->edges[state] = 0;
    heap_push(level, state);
    return state;
}

static uint64_t add_runs(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* ---- steps ---- */

pt_letter wide_letter(struct wide_search *s, pt_letter before, uint32_t column, pt_letter *ret_read)
{
    const struct wide_problem *p = s->p;
    const struct wide_event *e = wide_next(p, column, s->state.counts[column] - 1);
    bool module = p->module, joint = module || (e->var != PT_NONE && p->is_joint[e->var]);
    pt_letter letter = before;
    if (joint)
        wide_values(&s->state, s->values);
    if (e->var != PT_NONE)
        letter = module  ? pt_monitor_letter(p->monitor, s->values, PT_NONE)
                 : joint ? pt_monitor_apply_joint(p->monitor, before, e->effect, s->values)
                         : pt_sets_apply(&s->sets, &s->cache, before, e->effect);
    *ret_read = letter;
    if (e->user_event != PT_NONE)
        *ret_read = module ? pt_monitor_letter(p->monitor, s->values, e->user_event)
                           : pt_sets_event(&s->sets, &s->cache, letter, e->user_event);
    return letter;
}

/* A step of a column from a state of level `from_level` has been taken in s->state: its target learns of it. */
static void arrive(struct wide_search *s, uint32_t from_level, uint32_t from, uint32_t column)
{
    const struct wide_problem *p = s->p;
    const struct wide_level *source = wide_level_at(s, from_level);
    const struct wide_event *e = wide_next(p, column, s->state.counts[column] - 1);
    pt_letter letter = source->letters[from], read;
    pt_set set = source->sets[from] & ~PT_SET_FLAGS;
    uint64_t runs = source->runs[from];
    bool visible = e->visible;
    if (visible) {
        letter = wide_letter(s, letter, column, &read);
        set = pt_sets_step(&s->sets, &s->cache, set, read);
    }
    wide_saturate(&s->state);
    wide_state_pack(&s->state, s->key);
    struct wide_level *target = wide_level_at(s, from_level + visible);
    uint32_t state = level_state(target, s->key, p->words, s->state.total, letter);
    target->sets[state] = pt_sets_union(&s->sets, &s->cache, target->sets[state], set);
    target->runs[state] = add_runs(target->runs[state], runs);
    if (s->keep) {
        struct wide_edge edge = {from, column, target->edges[state], visible};
        PT_PUSH(target->list, target->edge_count, target->edge_cap, edge);
        target->edges[state] = target->edge_count;
    }
}

static void expand(struct wide_search *s, uint32_t level, uint32_t state)
{
    const struct wide_problem *p = s->p;
    bool ends = true;
    wide_state_unpack(&s->state, wide_level_at(s, level)->keys + (size_t)state * p->words);
    for (uint32_t c = 0; c < p->column_count; c++) {
        if (s->state.counts[c] >= p->columns[c].count || !wide_enabled(&s->state, c))
            continue;
        ends = false;
        wide_take(&s->state, c);
        arrive(s, level, state, c);
        wide_undo(&s->state, 0);
    }
    if (ends)
        s->figures->runs = add_runs(s->figures->runs, wide_level_at(s, level)->runs[state]);
}

/* ---- limits ---- */

static size_t bytes_in_use(const struct wide_search *s)
{
    size_t bytes = s->p->bytes + pt_sets_bytes(&s->sets);
    uint32_t levels = s->keep ? s->level_count : 2;
    for (uint32_t i = 0; i < levels; i++)
        bytes += level_bytes(&s->levels[i], s->p->words);
    return bytes;
}

static bool is_over_memory(struct wide_search *s)
{
    uint64_t bytes = bytes_in_use(s);
    if (bytes > s->figures->peak_bytes)
        s->figures->peak_bytes = bytes;
    uint64_t allowed = pt_memory_share(s->options, &s->announced, bytes);
    return s->options->memory_limit && bytes > allowed;
}

/* True: the search is to end, and figures->cut says why. */
static bool is_cut(struct wide_search *s)
{
    const struct pt_analysis_options *o = s->options;
    if (s->ticks++ % STRIDE)
        return false;
    if (is_over_memory(s))
        s->figures->cut = "the memory limit was reached";
    else if (o->interrupted && o->interrupted(o->context))
        s->figures->cut = "interrupted";
    else if (s->deadline && !s->keep && o->now() >= s->deadline)
        s->figures->cut = "the time of --effort is over";
    return s->figures->cut != NULL;
}

/* ---- the drive ---- */

static void open_level(struct wide_search *s, uint32_t level)
{
    if (!s->keep) {
        level_clear(wide_level_at(s, level));
    } else {
        PT_GROW(s->levels, s->level_cap, (size_t)level + 1);
        s->levels[level] = (struct wide_level){0};
    }
    s->level_count = level + 1;
}

/* Level 0: what can happen before the first relevant event. */
static void begin(struct wide_search *s)
{
    const struct wide_problem *p = s->p;
    uint64_t *empty = pt_xcalloc(p->words, sizeof *empty);
    for (uint32_t v = 0; v < p->var_count && p->order == PT_POSSIBLE_VALUES; v++)
        if (p->vars[v].tracked)
            empty[p->vars[v].word] |= (uint64_t)p->vars[v].first << p->vars[v].shift;
    open_level(s, 0);
    wide_state_unpack(&s->state, empty);
    wide_saturate(&s->state);
    wide_state_pack(&s->state, empty);
    pt_letter letter = pt_monitor_letter(p->monitor, p->initial, PT_NONE);
    struct wide_level *level = wide_level_at(s, 0);
    uint32_t state = level_state(level, empty, p->words, s->state.total, letter);
    level->sets[state] = pt_sets_step_slow(&s->sets, pt_sets_single(&s->sets, pt_monitor_start(p->monitor)), letter);
    level->runs[state] = 1;
    free(empty);
}

static pt_set flags_of(const struct wide_level *level)
{
    pt_set flags = 0;
    for (uint32_t i = 0; i < level->count; i++)
        flags |= level->sets[i];
    return flags & PT_SET_FLAGS;
}

static void count_level(struct wide_search *s, uint32_t number)
{
    const struct wide_level *level = wide_level_at(s, number);
    if (!level->count)
        return;
    s->figures->levels = number + 1;
    s->figures->states += level->count;
    if (level->count > s->figures->width)
        s->figures->width = level->count;
}

/* The runs of a search that stops here are those that lead to its last states. */
static void count_open_runs(struct wide_search *s, uint32_t number)
{
    const struct wide_level *level = wide_level_at(s, number);
    for (uint32_t i = 0; i < level->count; i++)
        s->figures->runs = add_runs(s->figures->runs, level->runs[i]);
}

/* Expands a level; the next one is open. False: the search was cut off. */
static bool expand_level(struct wide_search *s, uint32_t number)
{
    while (wide_level_at(s, number)->heap_count) {
        if (is_cut(s))
            return false;
        struct wide_level *level = wide_level_at(s, number);
        uint32_t state = heap_pop(level);
        if (s->keep)
            PT_PUSH(level->order, level->order_count, level->order_cap, state);
        expand(s, number, state);
    }
    return true;
}

/* The state whose evaluation fails, for the message. */
static void report_error(struct wide_search *s, uint32_t number)
{
    const struct wide_level *level = wide_level_at(s, number);
    uint32_t state = 0, latest = PT_NONE;
    while (!(level->sets[state] & PT_SET_ERROR))
        state++;
    wide_state_unpack(&s->state, level->keys + (size_t)state * s->p->words);
    for (uint32_t c = 0; c < s->p->column_count; c++)
        for (uint32_t k = s->state.counts[c]; k > 0; k--) {
            const struct wide_event *e = wide_next(s->p, c, k - 1);
            if (e->visible) {
                latest = latest == PT_NONE || e->place > latest ? e->place : latest;
                break;
            }
        }
    wide_values(&s->state, s->values);
    wide_report_error(s, s->values, latest);
}

void wide_search_again(struct wide_search *s, uint32_t level)
{
    for (uint32_t i = 0; i < 2; i++)
        level_release(&s->levels[i]);
    free(s->levels);
    s->levels = NULL;
    s->level_cap = 0;
    s->keep = true;
    begin(s);
    for (uint32_t k = 0; k < level; k++) {
        open_level(s, k + 1);
        if (!expand_level(s, k))
            return;
    }
}

static enum pt_wide_end finish_violation(struct wide_search *s, uint32_t level)
{
    struct pt_wide_figures figures = *s->figures;
    wide_search_again(s, level);
    figures.cut = s->figures->cut;
    figures.peak_bytes = s->figures->peak_bytes;
    *s->figures = figures;
    if (figures.cut) {
        s->figures->cut = "a violation was found, but its run does not fit into the memory limit";
        return PT_WIDE_CUT;
    }
    if (wide_witness(s, level))
        return PT_WIDE_VIOLATED;
    s->finding->verdict = PT_VERDICT_ERROR;
    s->finding->message = "internal error: the predicted run did not pass its replay; please report this";
    return PT_WIDE_ERROR;
}

static enum pt_wide_end explore(struct wide_search *s)
{
    uint32_t violation = PT_NONE;
    begin(s);
    for (uint32_t k = 0;; k++) {
        pt_set flags = violation == PT_NONE ? flags_of(wide_level_at(s, k)) : 0;
        if (flags & PT_SET_BAD)
            violation = k;
        if (violation != PT_NONE && !s->options->exhaustive) {
            count_level(s, k);
            count_open_runs(s, k);
            break;
        }
        if (flags & PT_SET_ERROR) {
            count_level(s, k);
            report_error(s, k);
            return PT_WIDE_ERROR;
        }
        open_level(s, k + 1);
        bool whole = expand_level(s, k);
        count_level(s, k);
        if (!whole && violation != PT_NONE)
            s->figures->cut = NULL; /* the figures are not exact then, the violation is */
        else if (!whole)
            return PT_WIDE_CUT;
        if (!whole || !wide_level_at(s, k + 1)->count)
            break;
    }
    return violation == PT_NONE ? PT_WIDE_HOLDS : finish_violation(s, violation);
}

static void search_release(struct wide_search *s)
{
    uint32_t levels = s->keep ? s->level_count : 2;
    for (uint32_t i = 0; i < levels; i++)
        level_release(&s->levels[i]);
    free(s->levels);
    (void)pt_memory_share(s->options, &s->announced, 0);
    wide_state_release(&s->state);
    pt_worker_cache_release(&s->cache);
    pt_sets_release(&s->sets);
    free(s->values);
    free(s->key);
}

enum pt_wide_end pt_wide_explore(struct pt_wide_log *log, enum pt_possible order, struct pt_monitor *monitor,
                                 const struct pt_wide_names *names, const struct pt_analysis_options *options,
                                 uint64_t deadline, struct pt_finding *finding, struct pt_wide_figures *ret_figures)
{
    struct wide_problem problem;
    wide_problem_init(&problem, log, order, monitor, names);
    *ret_figures = (struct pt_wide_figures){.relevant = problem.relevant_count};
    struct wide_search s = {
        .p = &problem, .options = options, .finding = finding, .figures = ret_figures, .deadline = deadline};
    s.levels = pt_xcalloc(2, sizeof *s.levels);
    s.values = pt_xcalloc((size_t)problem.monitor_var_count + 1, sizeof *s.values);
    s.key = pt_xcalloc(problem.words, sizeof *s.key);
    pt_sets_init(&s.sets, monitor);
    pt_worker_cache_init(&s.cache);
    wide_state_init(&s.state, &problem);
    enum pt_wide_end end = PT_WIDE_CUT;
    if (problem.ambiguous)
        ret_figures->cut = "the trace has two names for one variable of the property";
    else
        end = explore(&s);
    ret_figures->runs_overflow = ret_figures->runs == UINT64_MAX;
    search_release(&s);
    wide_problem_release(&problem);
    return end;
}
