/*
 * The search in a wider order, level by level: level k has the states after k relevant events. Within a level the
 * states with fewer events come first, so that each is expanded once, when all that leads to it is known: a relevant
 * event leads to the next level, any other choice to a state of the level that has more events. Where a state is one
 * word of bounds, sorted.c makes the levels; only those that are kept, for a witness, are always made here.
 *
 * Guarantee: the first level with a violation is that of a shortest one. The same input gives the same states in the
 * same order; only where a deadline ends it does the search depend on the machine. Cost: see wide.h; one look-up per
 * step between states, and the logarithm of the level's width per state.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "engine/wide/levels.h"
#include "engine/wide/sorted.h"
#include "engine/wide/take.h"

/* ---- steps ---- */

pt_letter wide_letter(struct wide_search *s, pt_letter before, const struct wide_event *e)
{
    const struct wide_problem *p = s->p;
    if (e->var == PT_NONE)
        return before;
    if (!p->module && !p->is_joint[e->var])
        return pt_sets_apply(&s->sets, &s->cache, before, e->effect);
    wide_values(&s->state, s->values);
    return p->module ? pt_monitor_letter(p->monitor, s->values, PT_NONE)
                     : pt_monitor_apply_joint(p->monitor, before, e->effect, s->values);
}

pt_letter wide_read_letter(struct wide_search *s, pt_letter letter, const struct wide_event *e)
{
    if (e->user_event == PT_NONE)
        return letter;
    if (!s->p->module)
        return pt_sets_event(&s->sets, &s->cache, letter, e->user_event);
    wide_values(&s->state, s->values);
    return pt_monitor_letter(s->p->monitor, s->values, e->user_event);
}

/* The key of s->state, which some events lead to from a state of the key `from`. */
static void make_key(struct wide_search *s, const uint64_t *from)
{
    const struct wide_problem *p = s->p;
    const struct wide_state *state = &s->state;
    if (p->classed_count) {
        wide_state_pack(state, s->key);
        return;
    }
    memcpy(s->key, from, p->words * sizeof *from);
    for (uint32_t i = 0; i < state->taken_count; i++) {
        const struct wide_column *column = &p->columns[state->taken[i].column];
        s->key[column->word] += (uint64_t)1 << column->shift; /* fields are wide enough for all events */
    }
}

/* A state that is expanded, as it was when that began. */
struct source {
    uint32_t level, state;
    struct wide_node node;
};

/* Where a step leads to: the states of a level, and those of them that wait. */
struct goal {
    struct wide_level *level;
    uint32_t *waiting;
};

/* There is room for one more. */
static inline struct goal goal_at(const struct wide_search *s, uint32_t number, uint32_t words)
{
    struct wide_level *level = wide_level_at(s, number);
    wide_level_reserve(level, words, 1);
    return (struct goal){level, s->waiting[number & 1]};
}

/* Where a letter depends on the one before and the event alone. */
static inline pt_letter plain_letter(struct wide_search *s, pt_letter before, const struct wide_event *e)
{
    return e->var == PT_NONE ? before : pt_sets_apply(&s->sets, &s->cache, before, e->effect);
}

/* An event of a column has led from the source to the state of s->key, which learns of it. States with equal keys have
 * equal letters, so a letter is made for a new state alone. */
static inline __attribute__((always_inline)) void arrive(struct wide_search *s, const struct source *from,
                                                         struct goal goal, uint32_t column, const struct wide_event *e,
                                                         uint64_t total, uint32_t words)
{
    struct wide_node *target = wide_level_state(goal.level, s->key, words, goal.waiting, total);
    pt_set set = from->node.set & ~PT_SET_FLAGS;
    if (!target->runs && e->visible)
        target->letter = s->plain ? plain_letter(s, from->node.letter, e) : wide_letter(s, from->node.letter, e);
    else if (!target->runs)
        target->letter = from->node.letter;
    if (e->visible) {
        pt_letter read = e->user_event == PT_NONE ? target->letter : wide_read_letter(s, target->letter, e);
        set = pt_sets_step(&s->sets, &s->cache, set, read);
    }
    target->set = target->runs ? pt_sets_union(&s->sets, &s->cache, target->set, set) : set;
    target->runs = wide_add_runs(target->runs, from->node.runs);
    if (s->keep) {
        struct wide_edge edge = {from->state, column, target->edges, e->visible};
        PT_PUSH(goal.level->list, goal.level->edge_count, goal.level->edge_cap, edge);
        target->edges = goal.level->edge_count;
    }
}

static inline const uint64_t *key_of(const struct wide_search *s, const struct source *from, uint32_t words)
{
    return wide_level_at(s, from->level)->keys + (size_t)from->state * words;
}

/* Whether a step leads to a state that differs in its count alone, and in the class of what it writes: nothing can be
 * taken at once after it, and who reads a variable again is the same as before, since it is no read. */
static inline bool is_plain_step(const struct wide_search *s, uint32_t c, const struct wide_event *e)
{
    return s->plain && e->visible && e->kind != WIDE_UPDATE && !s->state.moving &&
           !s->p->columns[c].watches[s->state.counts[c] + 1];
}

/* The key after such a step. */
static inline void make_plain_key(struct wide_search *s, const uint64_t *from, uint32_t c, const struct wide_event *e,
                                  uint32_t words)
{
    const struct wide_problem *p = s->p;
    for (uint32_t k = 0; k < words; k++)
        s->key[k] = from[k];
    s->key[p->columns[c].word] += (uint64_t)1 << p->columns[c].shift;
    if (!p->classed_count || e->kind != WIDE_WRITE || !p->vars[e->object].tracked)
        return;
    const struct wide_object *var = &p->vars[e->object];
    s->key[var->word] &= ~(var->mask << var->shift);
    s->key[var->word] |= (uint64_t)e->class << var->shift;
}

/* An event that can happen happens. */
static void step(struct wide_search *s, const struct source *from, uint32_t c, const struct wide_event *e,
                 uint32_t words)
{
    if (is_plain_step(s, c, e)) {
        make_plain_key(s, key_of(s, from, words), c, e, words);
        arrive(s, from, goal_at(s, from->level + 1, words), c, e, s->state.total + 1, words);
        return;
    }
    wide_take(&s->state, c);
    wide_saturate(&s->state, wide_changed_by(c, e));
    make_key(s, key_of(s, from, words));
    arrive(s, from, goal_at(s, from->level + e->visible, words), c, e, s->state.total, words);
    wide_undo(&s->state, 0);
}

static inline void expand_words(struct wide_search *s, uint32_t level, uint32_t state, uint32_t words)
{
    const struct wide_problem *p = s->p;
    struct source from = {.level = level, .state = state, .node = wide_level_at(s, level)->nodes[state]};
    bool ends = true;
    wide_state_unpack(&s->state, key_of(s, &from, words));
    for (uint32_t i = 0; i < p->active_count; i++) {
        uint32_t c = p->active[i], count = s->state.counts[c];
        const struct wide_event *e = &p->columns[c].events[count];
        if (count >= p->columns[c].count || !wide_may_happen(&s->state, c, e))
            continue;
        ends = false;
        step(s, &from, c, e, words);
    }
    if (ends)
        s->figures->runs = wide_add_runs(s->figures->runs, from.node.runs);
}

/* Compiled for both: most states are one word. */
static void expand(struct wide_search *s, uint32_t level, uint32_t state)
{
    if (s->p->words == 1)
        expand_words(s, level, state, 1);
    else
        expand_words(s, level, state, s->p->words);
}

/* ---- limits ---- */

static size_t bytes_in_use(const struct wide_search *s)
{
    size_t bytes = s->p->bytes + pt_sets_bytes(&s->sets);
    uint32_t levels = s->keep ? s->level_count : 2;
    if (s->sorted)
        bytes += wide_sorted_bytes(s->sorted);
    for (uint32_t i = 0; i < levels; i++)
        bytes += wide_level_bytes(&s->levels[i], s->p->words);
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

bool wide_search_look(struct wide_search *s)
{
    const struct pt_analysis_options *o = s->options;
    if (o->progress && s->ticks % (WIDE_STRIDE * WIDE_STRIDE) == 1)
        o->progress(o->context, s->finding->property, s->figures->levels, s->figures->states);
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
        wide_level_clear(wide_level_at(s, level));
    } else {
        PT_GROW(s->levels, s->level_cap, (size_t)level + 1);
        s->levels[level] = (struct wide_level){0};
        wide_level_clear(&s->levels[level]);
    }
    s->level_count = level + 1;
}

/* Level 0: what can happen before the first relevant event. False: the search was cut off. */
static bool begin(struct wide_search *s)
{
    const struct wide_problem *p = s->p;
    uint64_t *empty = pt_xcalloc(p->words, sizeof *empty);
    for (uint32_t i = 0; i < p->classed_count; i++) {
        const struct wide_object *var = &p->vars[p->classed[i]];
        empty[var->word] |= (uint64_t)var->first << var->shift;
    }
    open_level(s, 0);
    wide_state_unpack(&s->state, empty);
    wide_saturate(&s->state, WIDE_ALL);
    wide_state_pack(&s->state, empty);
    pt_letter letter = pt_monitor_letter(p->monitor, p->initial, PT_NONE);
    pt_set set = pt_sets_step_slow(&s->sets, pt_sets_single(&s->sets, pt_monitor_start(p->monitor)), letter);
    if (s->sorted) {
        uint64_t key = empty[0];
        free(empty);
        return wide_sorted_begin(s->sorted, key, letter, set);
    }
    wide_level_reserve(wide_level_at(s, 0), p->words, 1);
    struct wide_node *node = wide_level_state(wide_level_at(s, 0), empty, p->words, s->waiting[0], s->state.total);
    node->letter = letter;
    node->set = set;
    node->runs = 1;
    free(empty);
    return true;
}

static uint32_t states_of(const struct wide_search *s, uint32_t number)
{
    return s->sorted ? wide_sorted_count(s->sorted, number) : wide_level_at(s, number)->count;
}

/* Of a level that is not expanded: those to which relevant events lead. */
static uint32_t arrived_of(const struct wide_search *s, uint32_t number)
{
    return s->sorted ? wide_sorted_arrived(s->sorted, number) : wide_level_at(s, number)->count;
}

static pt_set flags_of(const struct wide_search *s, uint32_t number)
{
    if (s->sorted)
        return wide_sorted_flags(s->sorted, number);
    const struct wide_level *level = wide_level_at(s, number);
    pt_set flags = 0;
    for (uint32_t i = 0; i < level->count; i++)
        flags |= level->nodes[i].set;
    return flags & PT_SET_FLAGS;
}

static void count_level(struct wide_search *s, uint32_t number, uint32_t states)
{
    if (!states)
        return;
    s->figures->levels = number + 1;
    s->figures->states += states;
    if (states > s->figures->width)
        s->figures->width = states;
}

/* The runs of a search that stops here are those that lead to its last states. */
static void count_open_runs(struct wide_search *s, uint32_t number)
{
    const struct wide_level *level = wide_level_at(s, number);
    if (s->sorted)
        s->figures->runs = wide_add_runs(s->figures->runs, wide_sorted_runs(s->sorted, number));
    for (uint32_t i = 0; !s->sorted && i < level->count; i++)
        s->figures->runs = wide_add_runs(s->figures->runs, level->nodes[i].runs);
}

/* Expands a level, to the next one. False: the search was cut off. */
static bool expand_level(struct wide_search *s, uint32_t number)
{
    if (s->sorted)
        return wide_sorted_expand(s->sorted, number);
    open_level(s, number + 1);
    for (;;) {
        struct wide_level *level = wide_level_at(s, number);
        uint32_t state = wide_next_waiting(level, s->waiting[number & 1]);
        if (state == PT_NONE)
            return true;
        if (wide_search_is_cut(s))
            return false;
        if (s->keep)
            PT_PUSH(level->order, level->order_count, level->order_cap, state);
        expand(s, number, state);
    }
}

/* The state whose evaluation fails, for the message. */
static void report_error(struct wide_search *s, uint32_t number)
{
    uint32_t latest = PT_NONE;
    if (s->sorted) {
        uint64_t key = wide_sorted_mistake(s->sorted, number);
        wide_state_unpack(&s->state, &key);
    } else {
        const struct wide_level *level = wide_level_at(s, number);
        uint32_t state = 0;
        while (!(level->nodes[state].set & PT_SET_ERROR))
            state++;
        wide_state_unpack(&s->state, level->keys + (size_t)state * s->p->words);
    }
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

/* Nobody waits. */
static void reset_waiting(struct wide_search *s)
{
    uint64_t most = 0;
    for (uint32_t c = 0; c < s->p->column_count; c++)
        most += s->p->columns[c].count;
    for (uint32_t i = 0; i < 2; i++) {
        free(s->waiting[i]);
        s->waiting[i] = pt_xcalloc(most + 1, sizeof *s->waiting[i]);
    }
}

/* The search for a violation of that level again, with all levels kept. */
static void search_again(struct wide_search *s, uint32_t level)
{
    reset_waiting(s);
    for (uint32_t i = 0; i < 2; i++)
        wide_level_release(&s->levels[i]);
    free(s->levels);
    s->levels = NULL;
    s->level_cap = 0;
    s->keep = true;
    wide_sorted_free(s->sorted);
    s->sorted = NULL;
    (void)begin(s); /* a single state */
    for (uint32_t k = 0; k < level; k++)
        if (!expand_level(s, k))
            return;
}

static enum pt_wide_end finish_violation(struct wide_search *s, uint32_t level)
{
    struct pt_wide_figures figures = *s->figures;
    search_again(s, level);
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
    if (wide_sorted_fits(s))
        s->sorted = wide_sorted_new(s);
    else
        reset_waiting(s);
    bool whole = begin(s);
    for (uint32_t k = 0;; k++) {
        pt_set flags = violation == PT_NONE ? flags_of(s, k) : 0;
        if (flags & PT_SET_BAD)
            violation = k;
        if (violation != PT_NONE && !s->options->exhaustive) {
            count_level(s, k, arrived_of(s, k));
            count_open_runs(s, k);
            break;
        }
        if (flags & PT_SET_ERROR) {
            count_level(s, k, arrived_of(s, k));
            report_error(s, k);
            return PT_WIDE_ERROR;
        }
        whole = whole && expand_level(s, k);
        count_level(s, k, states_of(s, k));
        if (!whole && violation != PT_NONE)
            s->figures->cut = NULL; /* the figures are not exact then, the violation is */
        else if (!whole) {
            count_open_runs(s, k);
            return PT_WIDE_CUT;
        }
        if (!whole || !states_of(s, k + 1))
            break;
    }
    return violation == PT_NONE ? PT_WIDE_HOLDS : finish_violation(s, violation);
}

void wide_search_init(struct wide_search *s, struct wide_problem *problem, const struct pt_analysis_options *options,
                      uint64_t deadline, struct pt_finding *finding, struct pt_wide_figures *figures)
{
    *figures = (struct pt_wide_figures){.relevant = problem->relevant_count};
    *s = (struct wide_search){
        .p = problem, .options = options, .finding = finding, .figures = figures, .deadline = deadline};
    s->levels = pt_xcalloc(2, sizeof *s->levels);
    s->values = pt_xcalloc((size_t)problem->monitor_var_count + 1, sizeof *s->values);
    s->key = pt_xcalloc(problem->words, sizeof *s->key);
    s->plain = !problem->module && !problem->joint_count;
    pt_sets_init(&s->sets, problem->monitor);
    pt_worker_cache_init(&s->cache);
    wide_state_init(&s->state, problem);
}

void wide_search_release(struct wide_search *s)
{
    uint32_t levels = s->keep ? s->level_count : 2;
    for (uint32_t i = 0; i < levels; i++)
        wide_level_release(&s->levels[i]);
    free(s->levels);
    wide_sorted_free(s->sorted);
    free(s->waiting[0]);
    free(s->waiting[1]);
    (void)pt_memory_share(s->options, &s->announced, 0);
    wide_state_release(&s->state);
    pt_worker_cache_release(&s->cache);
    pt_sets_release(&s->sets);
    free(s->values);
    free(s->key);
}

enum pt_wide_end pt_wide_explore(struct pt_wide_log *log, struct pt_wide_order order, struct pt_monitor *monitor,
                                 const struct pt_wide_names *names, const struct pt_analysis_options *options,
                                 uint64_t deadline, struct pt_finding *finding, struct pt_wide_figures *ret_figures)
{
    struct wide_problem problem;
    wide_problem_init(&problem, log, order.possible, monitor, names);
    struct wide_search s;
    wide_search_init(&s, &problem, options, deadline, finding, ret_figures);
    enum pt_wide_end end = PT_WIDE_CUT;
    if (problem.ambiguous)
        ret_figures->cut = "the trace has two names for one variable of the property";
    else
        end = order.sliced ? wide_explore_sliced(&s, order.slices) : explore(&s);
    ret_figures->runs_overflow = ret_figures->runs == UINT64_MAX;
    if (end == PT_WIDE_CUT && !problem.ambiguous && finding->how == PT_HOW_OBSERVED && wide_report_actual(&s))
        end = PT_WIDE_VIOLATED; /* by what was cut off nothing else is known */
    wide_search_release(&s);
    wide_problem_release(&problem);
    return end;
}
