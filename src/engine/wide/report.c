/*
 * A run that a search found, judged and made a finding's witness. Only here does a violation leave the search: the
 * judge of order/possible.h plays all events of the run, and the monitor reads the values that its writes leave, from
 * the first state on; what they do not agree with is not shown.
 *
 * Guarantee: see wide.h. Cost: linear in the recording, and in the relevant events of the actual run up to the latest
 * one of the witness; clocks and rows of truth are left out where that is longer than anyone would look at.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/unguarded.h"
#include "engine/step_place.h"
#include "engine/wide/wide_impl.h"

enum { MAX_EVENTS = 50000, MAX_THREADS = 256 }; /* more get no clocks and no rows of truth */

static const char *keep(struct wide_search *s, const char *text)
{
    return pt_arena_strndup(&s->finding->arena, text, strlen(text));
}

/* The number of a relevant event, from 1; 0: it is not relevant. */
static uint32_t number_of(const struct wide_problem *p, uint64_t place)
{
    uint32_t low = 0, high = p->relevant_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (p->relevant[middle] < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low < p->relevant_count && p->relevant[low] == place ? low + 1 : 0;
}

static struct pt_step step_at(struct wide_search *s, uint64_t place)
{
    const struct pt_wide_log *log = s->p->log;
    const struct pt_recorded *e = &log->events[place];
    return (struct pt_step){
        .thread = keep(s, pt_name(log->names, PT_SPACE_THREAD, e->thread)),
        .op = pt_op_word(e->op),
        .object = keep(s, pt_name(log->names, pt_op_space(e->op), e->object)),
        .loc = keep(s, pt_name(log->names, PT_SPACE_LOC, log->locs[place])),
        .value = e->value,
        .line = log->lines[place],
        .var = PT_NONE,
    };
}

static struct pt_step step_of(struct wide_search *s, uint32_t number)
{
    const struct wide_problem *p = s->p;
    struct pt_step step = step_at(s, p->relevant[number - 1]);
    if (p->relevant_event[number - 1] != PT_NONE)
        step.value = (struct pt_value){0};
    step.number = number;
    step.var = p->relevant_var[number - 1];
    return step;
}

/* The state that a relevant event makes, as a letter; `values` follow it. */
static pt_letter letter_after(const struct wide_problem *p, uint32_t number, struct pt_value *values)
{
    uint32_t var = p->relevant_var[number - 1];
    if (var != PT_NONE)
        values[var] = p->log->events[p->relevant[number - 1]].value;
    return pt_monitor_letter(p->monitor, values, p->relevant_event[number - 1]);
}

/* Letters of a run of relevant events, the initial state first; and how many events it takes to become bad (PT_NONE: it
 * does not). The values of the last state are left in `values`. */
static uint32_t read_run(const struct wide_problem *p, const uint32_t *run, uint32_t count, struct pt_value *values,
                         pt_letter *letters)
{
    memcpy(values, p->initial, p->monitor_var_count * sizeof *values);
    letters[0] = pt_monitor_letter(p->monitor, values, PT_NONE);
    pt_mstate state = pt_monitor_step(p->monitor, pt_monitor_start(p->monitor), letters[0]);
    uint32_t bad = state == PT_MSTATE_BAD ? 0 : PT_NONE;
    bool over = state == PT_MSTATE_BAD || state == PT_MSTATE_ERROR;
    for (uint32_t i = 0; i < count; i++) {
        letters[i + 1] = letter_after(p, run[i], values);
        if (over)
            continue;
        state = pt_monitor_step(p->monitor, state, letters[i + 1]);
        over = state == PT_MSTATE_BAD || state == PT_MSTATE_ERROR;
        if (state == PT_MSTATE_BAD)
            bad = i + 1;
    }
    return bad;
}

static bool is_possible(const struct wide_search *s, const uint64_t *run, uint64_t count)
{
    const struct pt_wide_log *log = s->p->log;
    const struct pt_recording recording = {log->events, log->count, log->initial, (uint32_t)log->initial_cap};
    return pt_possible_play(&recording, s->p->order, run, count, NULL) == count;
}

static struct pt_binding *bindings(struct wide_search *s, const struct pt_value *values, const uint32_t *run,
                                   uint32_t count)
{
    const struct wide_problem *p = s->p;
    uint32_t vars;
    const struct pt_varref *refs = pt_monitor_vars(p->monitor, &vars);
    struct pt_binding *list = pt_arena_alloc(&s->finding->arena, ((size_t)vars + 1) * sizeof *list);
    for (uint32_t v = 0; v < vars; v++)
        list[v] = (struct pt_binding){keep(s, refs[v].name), values[v], !p->initial_given[v]};
    for (uint32_t i = 0; i < count; i++)
        if (p->relevant_var[run[i] - 1] != PT_NONE)
            list[p->relevant_var[run[i] - 1]].assumed = false;
    return list;
}

/* Threads that have relevant events, by their first one; thread_index of the steps. */
static void fill_threads(struct wide_search *s)
{
    struct pt_finding *f = s->finding;
    const struct wide_problem *p = s->p;
    uint32_t *index = pt_xmalloc(((size_t)p->column_count + 1) * sizeof *index);
    const char **names = pt_arena_alloc(&f->arena, ((size_t)p->column_count + 1) * sizeof *names);
    memset(index, 0xff, p->column_count * sizeof *index);
    for (uint32_t k = 0; k < p->relevant_count; k++) {
        uint32_t thread = p->log->events[p->relevant[k]].thread;
        if (index[thread] == PT_NONE) {
            index[thread] = f->thread_count;
            names[f->thread_count++] = keep(s, pt_name(p->log->names, PT_SPACE_THREAD, thread));
        }
        if (k < f->actual_count)
            f->actual[k].thread_index = index[thread];
    }
    free(index);
    f->threads = names;
}

/* What events need in every possible run, as clocks over relevant events: program order, forks and joins, operations on
 * one object, and the writes that reads are tied to. */
struct clocks {
    const struct wide_problem *p;
    uint32_t width;
    uint32_t *thread; /* rows of `width` */
    uint32_t **var, **other;
};

static void learn(const struct clocks *c, uint32_t *row, const uint32_t *from)
{
    for (uint32_t i = 0; from && i < c->width; i++)
        row[i] = from[i] > row[i] ? from[i] : row[i];
}

static void leave(const struct clocks *c, uint32_t **place, const uint32_t *row)
{
    if (!*place)
        *place = pt_xcalloc(c->width, sizeof **place);
    memcpy(*place, row, c->width * sizeof **place);
}

static bool is_tied(const struct wide_problem *p, uint32_t place)
{
    const struct pt_wide_log *log = p->log;
    const struct pt_recorded *e = &log->events[place];
    return p->order == PT_POSSIBLE_SYNC || e->op != PT_OP_READ || e->partial || !log->values[place] ||
           (log->writer[place] && log->values[place] != log->values[log->writer[place] - 1]);
}

static void follow(struct clocks *c, uint32_t place)
{
    const struct pt_recorded *e = &c->p->log->events[place];
    uint32_t *row = c->thread + (size_t)e->thread * c->width;
    enum pt_space space = pt_op_space(e->op);
    if (e->op == PT_OP_FORK) {
        learn(c, c->thread + (size_t)e->object * c->width, row);
    } else if (e->op == PT_OP_JOIN) {
        learn(c, row, c->thread + (size_t)e->object * c->width);
    } else if (space == PT_SPACE_OTHER && pt_op_accesses(e->op)) {
        learn(c, row, c->other[e->object]);
        leave(c, &c->other[e->object], row);
    } else if (space == PT_SPACE_VAR) {
        if ((pt_op_reads(e->op) || e->partial) && is_tied(c->p, place))
            learn(c, row, c->var[e->object]);
        if (pt_op_writes(e->op))
            leave(c, &c->var[e->object], row);
    }
}

static void fill_clocks(struct wide_search *s)
{
    struct pt_finding *f = s->finding;
    const struct wide_problem *p = s->p;
    uint32_t others = p->log->names->space[PT_SPACE_OTHER].count;
    if (f->actual_count > MAX_EVENTS || f->thread_count > MAX_THREADS) {
        f->threads = NULL;
        f->thread_count = 0;
        return;
    }
    struct clocks c = {.p = p, .width = f->thread_count};
    c.thread = pt_xcalloc((size_t)p->column_count * c.width + 1, sizeof *c.thread);
    c.var = pt_xcalloc((size_t)p->log->var_count + 1, sizeof *c.var);
    c.other = pt_xcalloc((size_t)others + 1, sizeof *c.other);
    for (uint32_t place = 0, k = 0; k < f->actual_count; place++) {
        uint32_t *row = c.thread + (size_t)p->log->events[place].thread * c.width;
        bool relevant = p->relevant[k] == place;
        if (relevant)
            row[f->actual[k].thread_index]++;
        follow(&c, place);
        if (relevant) {
            __typeof__(f->actual->clock[0] + 0) *clock = pt_arena_alloc(&f->arena, c.width * sizeof *clock);
            for (uint32_t i = 0; i < c.width; i++)
                clock[i] = row[i];
            f->actual[k++].clock = clock;
        }
    }
    for (uint32_t v = 0; v < p->log->var_count; v++)
        free(c.var[v]);
    for (uint32_t o = 0; o < others; o++)
        free(c.other[o]);
    free(c.var);
    free(c.other);
    free(c.thread);
}

/* The relevant events of each thread, by number: those of thread t are list[first[t] .. first[t + 1]). */
static uint32_t *by_thread(const struct wide_problem *p, uint32_t **ret_first)
{
    uint32_t *first = pt_xcalloc((size_t)p->column_count + 2, sizeof *first);
    uint32_t *list = pt_xcalloc((size_t)p->relevant_count + 1, sizeof *list);
    for (uint32_t k = 0; k < p->relevant_count; k++)
        first[p->log->events[p->relevant[k]].thread + 2]++;
    for (uint32_t t = 0; t < p->column_count; t++)
        first[t + 2] += first[t + 1];
    for (uint32_t k = 0; k < p->relevant_count; k++)
        list[first[p->log->events[p->relevant[k]].thread + 1]++] = k + 1;
    *ret_first = first;
    return list;
}

/* For each step and each thread it overtakes: the first event of that thread it overtakes. The run itself shows how
 * many of the thread's events the step can do with. */
static void fill_moves(struct wide_search *s, const uint32_t *run, uint32_t count)
{
    struct pt_finding *f = s->finding;
    const struct wide_problem *p = s->p;
    struct pt_move *moves = NULL;
    size_t cap = 0;
    uint32_t *first, *list = by_thread(p, &first);
    uint32_t *have = pt_xcalloc((size_t)p->column_count + 1, sizeof *have);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t self = p->log->events[p->relevant[run[i] - 1]].thread;
        for (uint32_t t = 0; t < p->column_count; t++) {
            uint32_t next = first[t] + have[t];
            if (t == self || next >= first[t + 1] || list[next] > run[i])
                continue;
            struct pt_move move = {
                .step = i, .over = f->actual[list[next] - 1], .over_index = (uint64_t)have[t] + 1, .needs = have[t]};
            PT_PUSH(moves, f->move_count, cap, move);
        }
        have[self]++;
    }
    f->moves = pt_arena_alloc(&f->arena, ((size_t)f->move_count + 1) * sizeof *moves);
    if (f->move_count)
        memcpy(f->moves, moves, f->move_count * sizeof *moves);
    free(moves);
    free(have);
    free(list);
    free(first);
}

/* Takes rows that pt_monitor_explain made; NULL for none. */
static uint8_t *keep_rows(struct pt_arena *arena, signed char *rows, size_t cells)
{
    uint8_t *kept = rows ? pt_arena_alloc(arena, cells + 1) : NULL;
    for (size_t i = 0; rows && i < cells; i++)
        kept[i] = rows[i] < 0 ? PT_TRUTH_OPEN : rows[i] > 0 ? PT_TRUTH_TRUE : PT_TRUTH_FALSE;
    free(rows);
    return kept;
}

static uint32_t explain(struct wide_search *s, const pt_letter *letters, uint32_t states, uint8_t **ret_rows,
                        struct pt_truth **ret_truths)
{
    struct pt_arena *arena = &s->finding->arena;
    struct pt_explained *list;
    signed char *rows = NULL;
    uint32_t count = pt_monitor_explain(s->p->monitor, letters, states, &list, s->finding->threads ? &rows : NULL);
    struct pt_truth *truths = pt_arena_alloc(arena, ((size_t)count + 1) * sizeof *truths);
    for (uint32_t i = 0; i < count; i++) {
        int value = list[i].value;
        truths[i] = (struct pt_truth){keep(s, list[i].text),
                                      value < 0   ? PT_TRUTH_OPEN
                                      : value > 0 ? PT_TRUTH_TRUE
                                                  : PT_TRUTH_FALSE,
                                      list[i].depth};
        free(list[i].text);
    }
    free(list);
    *ret_rows = keep_rows(arena, rows, (size_t)states * count);
    *ret_truths = truths;
    return count;
}

static void fill_truths(struct wide_search *s, const pt_letter *letters)
{
    struct pt_finding *f = s->finding;
    struct pt_truth *unused;
    f->truth_count = explain(s, letters, f->witness_count + 1, &f->witness_truths, &f->truths);
    if (!f->witness_truths || s->p->module)
        return;
    uint32_t *actual = pt_xcalloc((size_t)f->actual_count + 1, sizeof *actual);
    for (uint32_t k = 0; k < f->actual_count; k++)
        actual[k] = k + 1;
    pt_letter *others = pt_xcalloc((size_t)f->actual_count + 1, sizeof *others);
    (void)read_run(s->p, actual, f->actual_count, s->values, others);
    (void)explain(s, others, f->actual_count + 1, &f->actual_truths, &unused);
    free(actual);
    free(others);
}

/* After how many relevant events the actual run breaks the property itself; PT_NONE: it does not. */
static uint32_t breaks_after(struct wide_search *s)
{
    const struct wide_problem *p = s->p;
    uint32_t *all = pt_xcalloc((size_t)p->relevant_count + 1, sizeof *all);
    pt_letter *letters = pt_xcalloc((size_t)p->relevant_count + 1, sizeof *letters);
    for (uint32_t k = 0; k < p->relevant_count; k++)
        all[k] = k + 1;
    uint32_t bad = read_run(p, all, p->relevant_count, s->values, letters);
    free(all);
    free(letters);
    return bad;
}

static int by_number(const void *a, const void *b)
{
    const struct pt_step *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void fill_steps(struct wide_search *s, const uint32_t *run, uint32_t count)
{
    struct pt_finding *f = s->finding;
    const struct wide_problem *p = s->p;
    for (uint32_t i = 0; i < count; i++)
        f->actual_count = run[i] > f->actual_count ? run[i] : f->actual_count;
    f->actual = pt_arena_alloc(&f->arena, ((size_t)f->actual_count + 1) * sizeof *f->actual);
    for (uint32_t k = 0; k < f->actual_count; k++)
        f->actual[k] = step_of(s, k + 1);
    fill_threads(s);
    fill_clocks(s);
    f->witness_count = count;
    f->witness = pt_arena_alloc(&f->arena, ((size_t)count + 1) * sizeof *f->witness);
    f->observed = pt_arena_alloc(&f->arena, ((size_t)count + 1) * sizeof *f->observed);
    for (uint32_t i = 0; i < count; i++) {
        f->witness[i] = f->actual[run[i] - 1];
        f->switches += i > 0 && p->log->events[p->relevant[run[i] - 1]].thread !=
                                    p->log->events[p->relevant[run[i - 1] - 1]].thread;
    }
    memcpy(f->observed, f->witness, count * sizeof *f->observed);
    qsort(f->observed, count, sizeof *f->observed, by_number);
    fill_moves(s, run, count);
}

/* The variables that relevant events write, of all; a program is watched there, so its reads are held, too. */
static bool *written_vars(const struct wide_problem *p)
{
    bool *written = pt_xcalloc((size_t)p->log->var_count + 1, sizeof *written);
    for (uint32_t k = 0; k < p->relevant_count; k++)
        if (p->relevant_var[k] != PT_NONE)
            written[p->log->events[p->relevant[k]].object] = true;
    return written;
}

/* All that the run depends on. */
static void fill_schedule(struct wide_search *s, const uint64_t *places, uint64_t count)
{
    struct pt_finding *f = s->finding;
    const struct wide_problem *p = s->p;
    struct pt_unguarded *unguarded = pt_unguarded_new();
    bool *watched = written_vars(p);
    struct pt_step *steps = pt_xcalloc(PT_SCHEDULE_MAX, sizeof *steps);
    uint64_t kept = 0;
    for (uint64_t i = 0; i < p->log->count; i++)
        pt_unguarded_event(unguarded, p->log->events[i].thread, p->log->events[i].op, p->log->events[i].object);
    for (uint64_t i = 0; i < count; i++) {
        const struct pt_recorded *e = &p->log->events[places[i]];
        bool access = pt_op_space(e->op) == PT_SPACE_VAR && pt_op_accesses(e->op);
        if (!number_of(p, places[i]) && !pt_unguarded_matters(unguarded, e->op, e->object) &&
            !(access && watched[e->object]))
            continue;
        if (kept < PT_SCHEDULE_MAX)
            steps[kept] = step_at(s, places[i]);
        kept++;
    }
    if (kept <= PT_SCHEDULE_MAX) {
        f->schedule = pt_arena_alloc(&f->arena, (kept + 1) * sizeof *steps);
        memcpy(f->schedule, steps, kept * sizeof *steps);
        f->schedule_count = (uint32_t)kept;
    }
    free(steps);
    free(watched);
    pt_unguarded_free(unguarded);
}

bool wide_report(struct wide_search *s, const uint64_t *places, uint64_t place_count)
{
    struct pt_finding *f = s->finding;
    const struct wide_problem *p = s->p;
    uint32_t *run = pt_xcalloc(place_count + 1, sizeof *run), count = 0;
    for (uint64_t i = 0; i < place_count; i++) {
        uint32_t number = number_of(p, places[i]);
        if (number)
            run[count++] = number;
    }
    pt_letter *letters = pt_xcalloc((size_t)count + 1, sizeof *letters);
    struct pt_value *values = pt_xcalloc((size_t)p->monitor_var_count + 1, sizeof *values);
    bool good = is_possible(s, places, place_count) && read_run(p, run, count, values, letters) == count;
    if (good) {
        f->verdict = PT_VERDICT_VIOLATED;
        f->how = f->how == PT_HOW_OBSERVED || breaks_after(s) != PT_NONE ? PT_HOW_OBSERVED : PT_HOW_PREDICTED;
        f->value_count = p->monitor_var_count;
        f->initial = bindings(s, p->initial, NULL, 0);
        f->final = bindings(s, values, run, count);
        fill_steps(s, run, count);
        fill_truths(s, letters);
        if (f->how == PT_HOW_PREDICTED)
            fill_schedule(s, places, place_count);
    }
    free(run);
    free(letters);
    free(values);
    return good;
}

bool wide_report_actual(struct wide_search *s)
{
    uint32_t bad = breaks_after(s);
    if (bad == PT_NONE)
        return false;
    uint64_t count = bad ? (uint64_t)s->p->relevant[bad - 1] + 1 : 0;
    uint64_t *places = pt_xcalloc(count + 1, sizeof *places);
    for (uint64_t i = 0; i < count; i++)
        places[i] = i;
    bool told = wide_report(s, places, count);
    free(places);
    return told;
}

void wide_report_error(struct wide_search *s, const struct pt_value *values, uint32_t place)
{
    struct pt_finding *f = s->finding;
    struct pt_err err;
    pt_monitor_error(s->p->monitor, values, &err);
    f->verdict = PT_VERDICT_ERROR;
    f->message = keep(s, err.message);
    f->message_place = "the initial state";
    if (place == PT_NONE)
        return;
    struct pt_step step = step_of(s, number_of(s->p, place));
    f->message_place = pt_step_place(f, &step);
}
