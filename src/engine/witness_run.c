/*
 * A run as a finding tells it: its steps by threads, beside the actual run, and for each step which events it overtakes
 * and why it may. witness.c has found and replayed it.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/lattice_impl.h"

struct pt_step lat_step_of(struct pt_lattice *l, uint32_t column, uint64_t index)
{
    struct pt_arena *arena = &l->finding->arena;
    const struct lat_event *e = lat_event_at(&l->columns[column], index);
    const char *thread = pt_name(l->names, PT_SPACE_THREAD, l->tenants[e->tenant].thread);
    const char *object = pt_name(l->names, pt_op_space(e->op), e->object);
    const char *loc = pt_name(l->names, PT_SPACE_LOC, e->loc);
    return (struct pt_step){
        .thread = pt_arena_strndup(arena, thread, strlen(thread)),
        .op = pt_op_word(e->op),
        .object = pt_arena_strndup(arena, object, strlen(object)),
        .loc = pt_arena_strndup(arena, loc, strlen(loc)),
        .value = e->user_event == PT_NONE ? e->value : (struct pt_value){0},
        .number = e->number,
        .line = e->line,
        .thread_index = e->tenant,
        .var = e->var,
    };
}

static int compare_steps(const void *a, const void *b)
{
    const struct pt_step *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* `written`: per variable, whether some event of the run has written it. */
struct pt_binding *lat_bindings(struct pt_lattice *l, const struct pt_value *values, const bool *written)
{
    uint32_t count;
    const struct pt_varref *vars = pt_monitor_vars(l->monitor, &count);
    struct pt_binding *list = pt_arena_alloc(&l->finding->arena, count * sizeof *list);
    for (uint32_t v = 0; v < count; v++) {
        list[v].name = pt_arena_strndup(&l->finding->arena, vars[v].name, strlen(vars[v].name));
        list[v].value = values[v];
        list[v].assumed = !written[v] && !l->initial_given[v];
    }
    return list;
}

/* All relevant events of the actual run after `from` and up to `upto`, by number. */
struct lat_chosen *lat_actual_run(struct pt_lattice *l, uint64_t from, uint64_t upto)
{
    struct lat_chosen *list = pt_xcalloc(upto - from, sizeof *list);
    for (uint32_t c = 0; c < l->column_count; c++)
        for (uint64_t k = l->columns[c].freed + 1; k <= l->columns[c].arrived; k++) {
            uint64_t number = lat_event_at(&l->columns[c], k)->number;
            if (number > from && number <= upto)
                list[number - from - 1] = (struct lat_chosen){c, k};
        }
    return list;
}

static uint32_t tenant_at(const struct pt_lattice *l, struct lat_chosen step)
{
    return lat_event_at(&l->columns[step.column], step.index)->tenant;
}

/* The first event of a tenant that is not among the column's first `have`; 0: there is none. */
static uint64_t next_of(const struct pt_lattice *l, const struct lat_tenant *tenant, uint64_t have)
{
    uint64_t upto = l->columns[tenant->column].arrived;
    upto = tenant->upto < upto ? tenant->upto : upto;
    have = have > tenant->before ? have : tenant->before;
    return have < upto ? have + 1 : 0;
}

/* For each step and each thread it overtakes: the first event of that thread it overtakes, and why it may. */
static void fill_moves(struct pt_lattice *l, const uint64_t *start, const struct lat_chosen *run, uint32_t count,
                       uint64_t from)
{
    struct pt_finding *finding = l->finding;
    struct pt_move *moves = NULL;
    size_t cap = 0;
    uint64_t *have = pt_xmalloc((l->column_count + 1) * sizeof *have);
    memcpy(have, start, l->column_count * sizeof *have);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t number = lat_event_at(&l->columns[run[i].column], run[i].index)->number;
        struct pt_cut_event e = lat_cut_event(l, run[i].column, run[i].index);
        for (uint32_t t = 0; t < l->tenant_count; t++) {
            const struct lat_tenant *other = &l->tenants[t];
            const struct lat_column *column = &l->columns[other->column];
            uint64_t next = other->column == run[i].column ? 0 : next_of(l, other, have[other->column]);
            if (!next || lat_event_at(column, next)->number > number)
                continue;
            struct pt_cut_event over = lat_cut_event(l, other->column, next);
            struct pt_reason reason = pt_relation_reason(&l->relation, &over, &e);
            struct pt_move move = {.step = i,
                                   .over = finding->actual[lat_event_at(column, next)->number - from - 1],
                                   .over_index = lat_tenant_count(l, other, reason.index),
                                   .needs = lat_tenant_count(l, other, reason.needs)};
            PT_PUSH(moves, finding->move_count, cap, move);
        }
        have[run[i].column]++;
    }
    free(have);
    finding->moves = pt_arena_alloc(&finding->arena, (finding->move_count + 1) * sizeof *moves);
    if (finding->move_count)
        memcpy(finding->moves, moves, finding->move_count * sizeof *moves);
    free(moves);
}

/* `actual`: the events of the actual run after the first `from`, up to the latest of `run`. */
static void fill_run(struct pt_lattice *l, const uint64_t *start, const struct lat_chosen *run, uint32_t count,
                     uint64_t from, const struct lat_chosen *actual, uint32_t actual_count)
{
    struct pt_finding *finding = l->finding;
    finding->witness_from = from;
    finding->actual_count = actual_count;
    finding->actual = pt_arena_alloc(&finding->arena, ((size_t)actual_count + 1) * sizeof *finding->actual);
    for (uint32_t i = 0; i < actual_count; i++)
        finding->actual[i] = lat_step_of(l, actual[i].column, actual[i].index);
    lat_detail_clocks(l, actual);
    finding->witness_count = count;
    finding->witness = pt_arena_alloc(&finding->arena, ((size_t)count + 1) * sizeof *finding->witness);
    finding->observed = pt_arena_alloc(&finding->arena, ((size_t)count + 1) * sizeof *finding->observed);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t number = lat_event_at(&l->columns[run[i].column], run[i].index)->number;
        finding->witness[i] = finding->actual[number - from - 1];
        finding->switches += i > 0 && tenant_at(l, run[i]) != tenant_at(l, run[i - 1]);
    }
    memcpy(finding->observed, finding->witness, count * sizeof *finding->observed);
    qsort(finding->observed, count, sizeof *finding->observed, compare_steps);
    fill_moves(l, start, run, count, from);
}

/* The finding's runs, from the start cut and the steps of the witness; `letters` of its count + 1 states. */
void lat_fill_finding(struct pt_lattice *l, const uint64_t *start, const struct lat_chosen *run, uint32_t count,
                      uint64_t from, const pt_letter *letters)
{
    uint64_t upto = from;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t number = lat_event_at(&l->columns[run[i].column], run[i].index)->number;
        upto = number > upto ? number : upto;
    }
    struct lat_chosen *actual = lat_actual_run(l, from, upto);
    fill_run(l, start, run, count, from, actual, (uint32_t)(upto - from));
    if (from > 0) {
        l->finding->from_values = l->finding->initial;
        l->finding->from_count = l->var_count;
    } else {
        lat_detail_truths(l, letters, actual);
    }
    lat_detail_view(l, start);
    free(actual);
}
