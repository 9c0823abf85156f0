/*
 * The step-by-step part of a violation, as json_detail.c writes it, read back. Every member is checked before it is
 * used and every index against the list it points into, so a result from elsewhere cannot lead a report astray: it is
 * refused with the member's name. Linear in the text.
 */
#include <stdlib.h>
#include <string.h>

#include "report/result_impl.h"

static void read_variables(struct reading *r, const struct pt_json_node *detail, struct pt_finding *finding)
{
    const struct pt_json_node *list = rd_array(r, detail, "the detail", "variables");
    size_t size = pt_json_count(list);
    finding->initial = pt_arena_alloc(r->arena, (size + 1) * sizeof *finding->initial);
    finding->final = pt_arena_alloc(r->arena, (size + 1) * sizeof *finding->final);
    for (size_t i = 0; i < size && !r->failed; i++) {
        const struct pt_json_node *item = pt_json_at(list, i);
        const struct pt_json_node *initial = pt_json_get(item, "initial"), *final = pt_json_get(item, "final");
        const char *name = rd_string(r, item, "a variable", "name");
        bool assumed = rd_bool_or(r, item, "a variable", "assumed", false);
        struct pt_value before = initial ? rd_value(r, initial) : (struct pt_value){0};
        struct pt_value after = final ? rd_value(r, final) : before;
        finding->initial[i] = (struct pt_binding){name, before, assumed};
        finding->final[i] = (struct pt_binding){name, after, false};
        finding->value_count++;
    }
}

static enum pt_truth_value truth_of(struct reading *r, char letter)
{
    if (letter != 'f' && letter != 't' && letter != 'o')
        rd_fail(r, "truth is none of false, true and open");
    return letter == 't' ? PT_TRUTH_TRUE : letter == 'o' ? PT_TRUTH_OPEN : PT_TRUTH_FALSE;
}

static void read_formulas(struct reading *r, const struct pt_json_node *detail, struct pt_finding *finding)
{
    const struct pt_json_node *list = rd_array(r, detail, "the detail", "formulas");
    size_t size = pt_json_count(list);
    finding->truths = pt_arena_alloc(r->arena, (size + 1) * sizeof *finding->truths);
    for (size_t i = 0; i < size && !r->failed; i++) {
        const struct pt_json_node *item = pt_json_at(list, i);
        struct pt_truth *truth = &finding->truths[finding->truth_count++];
        truth->text = rd_string(r, item, "a formula", "text");
        truth->depth = (uint32_t)rd_uint(r, item, "a formula", "depth", UINT32_MAX);
        truth->value = truth_of(r, rd_string(r, item, "a formula", "final")[0]);
    }
}

/* One word of truth_count letters for each of `states` states. */
static uint8_t *read_rows(struct reading *r, const struct pt_json_node *detail, const char *key, size_t states,
                          uint32_t width)
{
    const struct pt_json_node *list = rd_array(r, detail, "the detail", key);
    if (!list)
        return NULL;
    if (pt_json_count(list) != states)
        rd_fail(r, "\"%s\" has not one word per state", key);
    uint8_t *rows = pt_arena_alloc(r->arena, states * width + 1);
    for (size_t i = 0; i < states && !r->failed; i++) {
        const struct pt_json_node *word = pt_json_at(list, i);
        if (!pt_json_is(word, PT_VALUE_STRING) || word->value.len != width)
            rd_fail(r, "a word of \"%s\" has not one letter per formula", key);
        for (uint32_t k = 0; k < width && !r->failed; k++)
            rows[i * width + k] = (uint8_t)truth_of(r, word->value.s[k]);
    }
    return rows;
}

static uint32_t thread_index(struct reading *r, const struct pt_finding *finding, const char *name)
{
    for (uint32_t i = 0; i < finding->thread_count; i++)
        if (strcmp(finding->threads[i], name) == 0)
            return i;
    rd_fail(r, "an event is of thread \"%.60s\", which \"threads\" does not list", name);
    return 0;
}

static void read_event(struct reading *r, const struct pt_json_node *item, struct pt_finding *finding,
                       struct pt_step *step)
{
    rd_step(r, item, "the actual run", step);
    step->number = rd_uint(r, item, "an event", "number", INT64_MAX);
    step->thread_index = thread_index(r, finding, step->thread);
    const struct pt_json_node *var = pt_json_get(item, "var"), *clock = rd_array(r, item, "an event", "clock");
    if (var)
        step->var = rd_index(r, var, "\"var\"", finding->value_count);
    if (pt_json_count(clock) != finding->thread_count)
        rd_fail(r, "a clock has not one number per thread");
    uint64_t *counts = pt_arena_alloc(r->arena, (finding->thread_count + 1) * sizeof *counts);
    for (uint32_t i = 0; i < finding->thread_count && !r->failed; i++)
        counts[i] = rd_count(r, pt_json_at(clock, i), "a clock");
    step->clock = counts;
}

static bool read_threads(struct reading *r, const struct pt_json_node *detail, struct pt_finding *finding)
{
    const struct pt_json_node *list = rd_array(r, detail, "the detail", "threads");
    size_t size = pt_json_count(list);
    if (!list || size > 100000)
        return false;
    const char **threads = pt_arena_alloc(r->arena, (size + 1) * sizeof *threads);
    for (size_t i = 0; i < size; i++)
        threads[i] = rd_text(r, pt_json_at(list, i), "a thread's name");
    finding->threads = threads;
    finding->thread_count = (uint32_t)size;
    return true;
}

/* Events are numbered without gaps after witness_from, so that a number is a place in `actual`. */
static const struct pt_step *by_number(struct reading *r, const struct pt_finding *finding, uint64_t number)
{
    if (number <= finding->witness_from || number - finding->witness_from > finding->actual_count) {
        rd_fail(r, "there is no event number %llu", (unsigned long long)number);
        return NULL;
    }
    return &finding->actual[number - finding->witness_from - 1];
}

static void read_actual(struct reading *r, const struct pt_json_node *detail, struct pt_finding *finding)
{
    const struct pt_json_node *list = rd_array(r, detail, "the detail", "actual");
    const struct pt_json_node *witness = rd_array(r, detail, "the detail", "witness");
    size_t size = pt_json_count(list);
    if (size >= UINT32_MAX || pt_json_count(witness) != finding->witness_count)
        rd_fail(r, "the witness has another length in the detail");
    struct pt_step *actual = pt_arena_alloc(r->arena, (size + 1) * sizeof *actual);
    for (size_t i = 0; i < size && !r->failed; i++) {
        read_event(r, pt_json_at(list, i), finding, &actual[i]);
        if (actual[i].number != finding->witness_from + i + 1)
            rd_fail(r, "the events of the actual run are not numbered one by one");
    }
    if (r->failed)
        return;
    finding->actual = actual;
    finding->actual_count = (uint32_t)size;
    for (uint32_t i = 0; i < finding->witness_count && !r->failed; i++) {
        uint64_t number = rd_count(r, pt_json_at(witness, i), "the witness");
        const struct pt_step *step = by_number(r, finding, number);
        if (step)
            finding->witness[i] = *step;
    }
}

static void read_moves(struct reading *r, const struct pt_json_node *detail, struct pt_finding *finding)
{
    const struct pt_json_node *list = rd_array(r, detail, "the detail", "moves");
    size_t size = pt_json_count(list);
    finding->moves = pt_arena_alloc(r->arena, (size + 1) * sizeof *finding->moves);
    for (size_t i = 0; i < size && !r->failed; i++) {
        const struct pt_json_node *item = pt_json_at(list, i);
        const struct pt_step *over = by_number(r, finding, rd_uint(r, item, "a move", "over", INT64_MAX));
        uint64_t step = rd_uint(r, item, "a move", "step", UINT32_MAX);
        if (!over || step >= finding->witness_count) {
            rd_fail(r, "a move is of no step of the witness");
            return;
        }
        finding->moves[finding->move_count++] =
            (struct pt_move){.step = (uint32_t)step,
                             .over = *over,
                             .over_index = rd_uint(r, item, "a move", "over_index", INT64_MAX),
                             .needs = rd_uint(r, item, "a move", "needs", INT64_MAX)};
    }
}

/* ---- the lattice ---- */

static uint32_t *read_path(struct reading *r, const struct pt_json_node *lattice, const char *key, uint32_t limit,
                           uint32_t *ret_count)
{
    const struct pt_json_node *list = rd_array(r, lattice, "the lattice", key);
    size_t size = pt_json_count(list);
    if (size > limit)
        rd_fail(r, "\"%s\" of the lattice is too long", key);
    if (r->failed)
        return NULL;
    uint32_t *path = pt_arena_alloc(r->arena, (size + 1) * sizeof *path);
    for (size_t i = 0; i < size; i++)
        path[i] = rd_index(r, pt_json_at(list, i), key, limit);
    *ret_count = (uint32_t)size;
    return path;
}

static void read_cuts(struct reading *r, const struct pt_json_node *lattice, struct pt_finding *finding,
                      struct pt_view *view)
{
    const struct pt_json_node *cuts = rd_array(r, lattice, "the lattice", "cuts");
    uint32_t threads = finding->thread_count, dropped_count = 0;
    size_t size = pt_json_count(cuts);
    if (size > PT_VIEW_MAX) {
        rd_fail(r, "the lattice has more than %d states", PT_VIEW_MAX);
        return;
    }
    view->cut_count = (uint32_t)size;
    view->counts = pt_arena_alloc(r->arena, (size * threads + 1) * sizeof *view->counts);
    view->levels = pt_arena_alloc(r->arena, (size + 1) * sizeof *view->levels);
    view->kept = pt_arena_alloc(r->arena, (size + 1) * sizeof *view->kept);
    for (size_t i = 0; i < size && !r->failed; i++) {
        const struct pt_json_node *cut = pt_json_at(cuts, i);
        if (pt_json_count(cut) != threads)
            rd_fail(r, "a state of the lattice has not one number per thread");
        view->kept[i] = true;
        for (uint32_t t = 0; t < threads && !r->failed; t++) {
            uint32_t n = rd_index(r, pt_json_at(cut, t), "the lattice", 1 << 20);
            view->counts[i * threads + t] = n;
            view->levels[i] += n;
        }
    }
    uint32_t *dropped = read_path(r, lattice, "dropped", view->cut_count, &dropped_count);
    for (uint32_t i = 0; i < dropped_count && !r->failed; i++)
        view->kept[dropped[i]] = false;
}

static void read_lattice(struct reading *r, const struct pt_json_node *detail, struct pt_finding *finding)
{
    const struct pt_json_node *lattice = rd_object(r, detail, "the detail", "lattice");
    const struct pt_json_node *edges = rd_array(r, lattice, "the lattice", "edges");
    size_t size = pt_json_count(edges);
    if (!lattice || !finding->threads || r->failed)
        return;
    struct pt_view *view = pt_arena_alloc(r->arena, sizeof *view);
    read_cuts(r, lattice, finding, view);
    if (size > (size_t)PT_VIEW_MAX * PT_VIEW_MAX)
        rd_fail(r, "the lattice has too many edges");
    if (r->failed)
        return;
    view->edges = pt_arena_alloc(r->arena, (size + 1) * sizeof *view->edges);
    for (size_t i = 0; i < size; i++) {
        const struct pt_json_node *edge = pt_json_at(edges, i);
        view->edges[i].from = rd_index(r, pt_json_at(edge, 0), "the lattice's edges", view->cut_count);
        view->edges[i].to = rd_index(r, pt_json_at(edge, 1), "the lattice's edges", view->cut_count);
    }
    view->edge_count = (uint32_t)size;
    view->whole = rd_bool_or(r, lattice, "the lattice", "whole", true);
    view->observed = read_path(r, lattice, "observed", view->cut_count, &view->observed_count);
    view->violating = read_path(r, lattice, "violating", view->cut_count, &view->violating_count);
    finding->view = view;
}

void rd_detail(struct reading *r, const struct pt_json_node *object, struct pt_finding *finding)
{
    const struct pt_json_node *detail = rd_object(r, object, "a property", "detail");
    if (!detail || r->failed)
        return;
    read_variables(r, detail, finding);
    read_formulas(r, detail, finding);
    finding->switches = (uint32_t)rd_uint_or(r, detail, "the detail", "switches", UINT32_MAX, 0);
    if (read_threads(r, detail, finding) && !r->failed) {
        read_actual(r, detail, finding);
        if (!r->failed)
            read_moves(r, detail, finding);
        finding->witness_truths =
            read_rows(r, detail, "witness_truths", (size_t)finding->witness_count + 1, finding->truth_count);
        finding->actual_truths =
            read_rows(r, detail, "actual_truths", (size_t)finding->actual_count + 1, finding->truth_count);
    }
    read_lattice(r, detail, finding);
    if (finding->witness_from > 0) { /* the same state under two names */
        finding->from_values = finding->initial;
        finding->from_count = finding->value_count;
    }
}
