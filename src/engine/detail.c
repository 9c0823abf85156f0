/*
 * What people want to see of a violation beside its witness: clocks of the events, the truth of subformulas state by
 * state, and the lattice itself where it is small. Made once, when the witness has passed its replay, from the events
 * alone: the cuts are enumerated by their definition, and the window's choice among them is made again by the
 * contract's definition, with cuts as plain counts. So the picture is also a second opinion on the packed exploration.
 *
 * Guarantee: nothing here changes the verdict, and what is drawn as kept is what was explored. Cost: linear in the
 * actual run up to the violation, and nothing where that is longer than anyone would look at; for
 * the lattice at most PT_VIEW_MAX cuts, compared pairwise within a level.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/lattice_impl.h"

enum {
    MAX_EVENTS = 50000,     /* longer runs get no clocks and no rows of truth */
    MAX_CELLS = 4 << 20,    /* events times threads */
    MAX_VIEW_THREADS = 256, /* of a lattice that is shown */
};

static struct lat_event *event_of(const struct pt_lattice *l, struct lat_chosen step)
{
    return lat_event_at(&l->columns[step.column], step.index);
}

/* The number of a thread's first event; 0: it is forgotten, so that all cuts have it. */
static uint64_t first_number(const struct pt_lattice *l, const struct lat_tenant *tenant)
{
    const struct lat_column *column = &l->columns[tenant->column];
    return tenant->before < column->freed ? 0 : lat_event_at(column, tenant->before + 1)->number;
}

/* The threads, which are in the order of their first events, that have come by then. How many more the lattice knows of
 * depends on how far somebody had read while another thread found the violation (relay.c): no two runs need agree. A
 * lattice that is drawn has them all, since its cuts may have later events; but it is too short for two threads. */
static uint32_t threads_until(const struct pt_lattice *l, uint64_t number)
{
    uint32_t count = l->tenant_count;
    while (l->level >= PT_VIEW_MAX && count && first_number(l, &l->tenants[count - 1]) > number)
        count--;
    return count;
}

void lat_detail_clocks(struct pt_lattice *l, const struct lat_chosen *actual)
{
    struct pt_finding *finding = l->finding;
    uint32_t count = threads_until(l, finding->witness_from + finding->actual_count);
    if (finding->actual_count > MAX_EVENTS || (uint64_t)finding->actual_count * count > MAX_CELLS)
        return;
    const char **threads = pt_arena_alloc(&finding->arena, (count + 1) * sizeof *threads);
    for (uint32_t t = 0; t < count; t++) {
        const char *name = pt_name(l->names, PT_SPACE_THREAD, l->tenants[t].thread);
        threads[t] = pt_arena_strndup(&finding->arena, name, strlen(name));
    }
    finding->threads = threads;
    finding->thread_count = count;
    for (uint32_t i = 0; i < finding->actual_count; i++) {
        uint64_t *clock = pt_arena_alloc(&finding->arena, count * sizeof *clock);
        struct pt_cut_event event = lat_cut_event(l, actual[i].column, actual[i].index);
        for (uint32_t t = 0; t < count; t++) {
            uint32_t c = l->tenants[t].column;
            uint64_t known = c == event.column ? event.index : pt_relation_needs(&l->relation, &event, c);
            clock[t] = lat_tenant_count(l, &l->tenants[t], known);
        }
        finding->actual[i].clock = clock;
    }
}

/* ---- truth ---- */

static enum pt_truth_value truth_of(int value)
{
    return value < 0 ? PT_TRUTH_OPEN : value > 0 ? PT_TRUTH_TRUE : PT_TRUTH_FALSE;
}

/* Takes rows that pt_monitor_explain made; NULL for none. */
static uint8_t *keep_rows(struct pt_arena *arena, signed char *rows, size_t cells)
{
    uint8_t *kept = rows ? pt_arena_alloc(arena, cells + 1) : NULL;
    for (size_t i = 0; rows && i < cells; i++)
        kept[i] = (uint8_t)truth_of(rows[i]);
    free(rows);
    return kept;
}

/* The letters of the actual run, the initial state first. */
static pt_letter *actual_letters(struct pt_lattice *l, const struct lat_chosen *actual, uint32_t count)
{
    pt_letter *letters = pt_xmalloc(((size_t)count + 1) * sizeof *letters);
    struct pt_value *values = pt_xmalloc((l->var_count + 1) * sizeof *values);
    memcpy(values, l->initial, l->var_count * sizeof *values);
    letters[0] = pt_monitor_letter(l->monitor, values, PT_NONE);
    for (uint32_t i = 0; i < count; i++) {
        const struct lat_event *e = event_of(l, actual[i]);
        if (e->var != PT_NONE)
            values[e->var] = e->value;
        letters[i + 1] = pt_monitor_letter(l->monitor, values, e->user_event);
    }
    free(values);
    return letters;
}

static void free_explained(struct pt_explained *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        free(list[i].text);
    free(list);
}

void lat_detail_truths(struct pt_lattice *l, const pt_letter *letters, const struct lat_chosen *actual)
{
    struct pt_finding *finding = l->finding;
    struct pt_arena *arena = &finding->arena;
    struct pt_explained *list;
    signed char *rows = NULL;
    uint32_t states = finding->witness_count + 1;
    uint32_t count = pt_monitor_explain(l->monitor, letters, states, &list, finding->threads ? &rows : NULL);
    finding->truth_count = count;
    finding->truths = pt_arena_alloc(arena, ((size_t)count + 1) * sizeof *finding->truths);
    for (uint32_t i = 0; i < count; i++) {
        const char *text = pt_arena_strndup(arena, list[i].text, strlen(list[i].text));
        finding->truths[i] = (struct pt_truth){text, truth_of(list[i].value), list[i].depth};
    }
    free_explained(list, count);
    finding->witness_truths = keep_rows(arena, rows, (size_t)states * count);
    if (!finding->witness_truths || l->module)
        return;
    pt_letter *others = actual_letters(l, actual, finding->actual_count);
    count = pt_monitor_explain(l->monitor, others, finding->actual_count + 1, &list, &rows);
    free_explained(list, count);
    finding->actual_truths = keep_rows(arena, rows, ((size_t)finding->actual_count + 1) * count);
    free(others);
}

/* ---- the lattice ---- */

/* Cuts as counts per column, level by level; level k is cuts first[k] .. first[k + 1). */
struct drawing {
    const struct pt_lattice *l;
    struct lat_chosen *by_number;
    uint32_t columns;
    uint64_t *counts;
    bool *kept;
    uint32_t count;
    uint32_t *first;
    uint32_t level_count;
    struct pt_view_edge *edges;
    uint32_t edge_count;
    size_t edge_cap;
};

static uint64_t *cut_at(const struct drawing *d, uint32_t i)
{
    return d->counts + (size_t)i * d->columns;
}

/* The next event of a tenant's column, if it is the tenant's. */
static bool is_enabled(const struct drawing *d, const uint64_t *cut, uint32_t tenant)
{
    const struct pt_lattice *l = d->l;
    uint32_t column = l->tenants[tenant].column;
    if (cut[column] >= l->columns[column].arrived ||
        lat_event_at(&l->columns[column], cut[column] + 1)->tenant != tenant)
        return false;
    struct pt_cut_event event = lat_cut_event(l, column, cut[column] + 1);
    return pt_relation_enabled(&l->relation, cut, &event);
}

/* The index of a cut among the last level's, PT_NONE when it is not there. */
static uint32_t find_cut(const struct drawing *d, uint32_t from, const uint64_t *cut)
{
    for (uint32_t i = from; i < d->count; i++)
        if (memcmp(cut_at(d, i), cut, d->columns * sizeof *cut) == 0)
            return i;
    return PT_NONE;
}

/* Adds the level after the last one, which may be empty where events exclude each other; false when it does not fit. */
static bool draw_level(struct drawing *d)
{
    uint32_t from = d->first[d->level_count - 1], to = d->count, edges = d->edge_count;
    uint64_t *cut = pt_xmalloc(d->columns * sizeof *cut);
    bool fits = true;
    for (uint32_t i = from; i < to; i++) {
        for (uint32_t t = 0; t < d->l->tenant_count && fits; t++) {
            if (!is_enabled(d, cut_at(d, i), t))
                continue;
            memcpy(cut, cut_at(d, i), d->columns * sizeof *cut);
            cut[d->l->tenants[t].column]++;
            uint32_t at = find_cut(d, to, cut);
            if (at == PT_NONE) {
                fits = d->count < PT_VIEW_MAX;
                if (!fits)
                    break;
                at = d->count++;
                memcpy(cut_at(d, at), cut, d->columns * sizeof *cut);
            }
            struct pt_view_edge edge = {i, at};
            PT_PUSH(d->edges, d->edge_count, d->edge_cap, edge);
        }
    }
    free(cut);
    if (!fits) {
        d->count = to;
        d->edge_count = edges;
        return false;
    }
    d->first[d->level_count++] = to;
    return true;
}

/* The contract's order: event numbers, largest first, compared lexicographically. The first number in which two cuts
 * of one level differ is the largest that only one of them has; the cut that has it comes last. */
static bool comes_before(const struct drawing *d, const uint64_t *a, const uint64_t *b)
{
    uint64_t only_a = 0, only_b = 0;
    for (uint32_t c = 0; c < d->columns; c++) {
        if (a[c] > b[c]) {
            uint64_t number = lat_event_at(&d->l->columns[c], a[c])->number;
            only_a = number > only_a ? number : only_a;
        } else if (b[c] > a[c]) {
            uint64_t number = lat_event_at(&d->l->columns[c], b[c])->number;
            only_b = number > only_b ? number : only_b;
        }
    }
    return only_a < only_b;
}

static bool in_every_kept(const struct drawing *d, uint32_t level, struct lat_chosen event)
{
    for (uint32_t i = d->first[level]; i < d->first[level + 1]; i++)
        if (d->kept[i] && cut_at(d, i)[event.column] < event.index)
            return false;
    return true;
}

/* The number of the last event of Q for a level: the `lookahead`th that is not in every kept cut. */
static uint64_t q_end(const struct drawing *d, uint32_t level)
{
    uint64_t lookahead = d->l->options->lookahead, upto = 0;
    if (lookahead == PT_ALL)
        return UINT64_MAX;
    for (uint64_t number = 1; number <= d->l->pushed && lookahead > 0; number++) {
        if (in_every_kept(d, level, d->by_number[number]))
            continue;
        upto = number;
        lookahead--;
    }
    return upto;
}

/* Which cuts of level + 1 the window keeps. */
static void choose_kept(struct drawing *d, uint32_t level)
{
    uint64_t end = q_end(d, level);
    uint32_t from = d->first[level + 1], to = d->first[level + 2];
    for (uint32_t e = 0; e < d->edge_count; e++) {
        uint32_t i = d->edges[e].from, k = d->edges[e].to;
        if (k < from || k >= to || !d->kept[i])
            continue;
        for (uint32_t c = 0; c < d->columns; c++)
            if (cut_at(d, k)[c] > cut_at(d, i)[c])
                d->kept[k] |= lat_event_at(&d->l->columns[c], cut_at(d, k)[c])->number <= end;
    }
    bool candidate[PT_VIEW_MAX];
    memcpy(candidate, d->kept, sizeof candidate);
    for (uint32_t i = from; i < to; i++) {
        uint64_t before = 0;
        for (uint32_t k = from; k < to; k++)
            before += candidate[k] && k != i && comes_before(d, cut_at(d, k), cut_at(d, i));
        d->kept[i] &= before < d->l->options->window;
    }
}

/* The cuts that a run passes, as far as they are drawn: from `start`, a cut of `level`, by one event of each column. */
static uint32_t *path(const struct drawing *d, const uint64_t *start, uint64_t level, const uint32_t *columns,
                      uint64_t step_count, uint32_t *ret_count)
{
    uint32_t *list = pt_arena_alloc(&d->l->finding->arena, (d->level_count + 1) * sizeof *list), count = 0;
    uint64_t *cut = pt_xmalloc(d->columns * sizeof *cut);
    memcpy(cut, start, d->columns * sizeof *cut);
    for (uint64_t i = 0; level + i < d->level_count; i++) {
        list[count++] = find_cut(d, d->first[level + i], cut);
        if (i == step_count)
            break;
        cut[columns[i]]++;
    }
    free(cut);
    *ret_count = count;
    return list;
}

static void draw_paths(const struct drawing *d, const uint64_t *start, struct pt_view *view)
{
    const struct pt_finding *finding = d->l->finding;
    uint64_t steps = d->l->pushed;
    uint32_t *columns =
        pt_xcalloc((steps > finding->witness_count ? steps : finding->witness_count) + 1, sizeof *columns);
    for (uint64_t i = 0; i < steps; i++)
        columns[i] = d->by_number[i + 1].column;
    view->observed = path(d, cut_at(d, 0), 0, columns, steps, &view->observed_count);
    for (uint32_t i = 0; i < finding->witness_count; i++)
        columns[i] = d->l->tenants[finding->witness[i].thread_index].column;
    view->violating = path(d, start, finding->witness_from, columns, finding->witness_count, &view->violating_count);
    free(columns);
}

static struct pt_view *keep_drawing(const struct drawing *d, const uint64_t *start)
{
    struct pt_finding *finding = d->l->finding;
    struct pt_arena *arena = &finding->arena;
    struct pt_view *view = pt_arena_alloc(arena, sizeof *view);
    view->cut_count = d->count;
    uint32_t tenants = d->l->tenant_count;
    view->counts = pt_arena_alloc(arena, ((size_t)d->count * tenants + 1) * sizeof *view->counts);
    for (uint32_t i = 0; i < d->count; i++)
        for (uint32_t t = 0; t < tenants; t++) { /* at most PT_VIEW_MAX */
            const struct lat_tenant *tenant = &d->l->tenants[t];
            uint64_t count = lat_tenant_count(d->l, tenant, cut_at(d, i)[tenant->column]);
            view->counts[(size_t)i * tenants + t] = (uint32_t)(count ? count - d->l->options->counted_before : 0);
        }
    view->levels = pt_arena_alloc(arena, d->count * sizeof *view->levels);
    view->kept = pt_arena_alloc(arena, d->count * sizeof *view->kept);
    memcpy(view->kept, d->kept, d->count * sizeof *view->kept);
    for (uint32_t k = 0; k < d->level_count; k++)
        for (uint32_t i = d->first[k]; i < d->first[k + 1]; i++)
            view->levels[i] = k;
    view->edge_count = d->edge_count;
    view->edges = pt_arena_alloc(arena, (d->edge_count + 1) * sizeof *view->edges);
    if (d->edge_count)
        memcpy(view->edges, d->edges, d->edge_count * sizeof *view->edges);
    draw_paths(d, start, view);
    return view;
}

static void drawing_init(struct drawing *d, const struct pt_lattice *l)
{
    *d = (struct drawing){.l = l, .columns = l->column_count, .count = 1, .level_count = 1};
    d->by_number = pt_xcalloc(l->pushed + 1, sizeof *d->by_number);
    for (uint32_t c = 0; c < l->column_count; c++)
        for (uint64_t k = l->options->counted_before + 1; k <= l->columns[c].arrived; k++)
            d->by_number[lat_event_at(&l->columns[c], k)->number] = (struct lat_chosen){c, k};
    d->counts = pt_xcalloc((size_t)PT_VIEW_MAX * d->columns + 1, sizeof *d->counts);
    for (uint32_t c = 0; c < l->column_count; c++)
        d->counts[c] = l->options->counted_before;
    d->kept = pt_xcalloc(PT_VIEW_MAX, sizeof *d->kept);
    d->first = pt_xcalloc(PT_VIEW_MAX + 2, sizeof *d->first);
    d->first[1] = 1;
    d->kept[0] = true;
}

static void drawing_release(struct drawing *d)
{
    free(d->by_number);
    free(d->counts);
    free(d->kept);
    free(d->first);
    free(d->edges);
}

void lat_detail_view(struct pt_lattice *l, const uint64_t *start)
{
    /* A lattice has more states than events: with more of them than this, even its lower levels hardly fit. */
    if (!l->finding->threads || l->level >= PT_VIEW_MAX || l->pushed > MAX_EVENTS || l->tenant_count > MAX_VIEW_THREADS)
        return;
    for (uint32_t c = 0; c < l->column_count; c++)
        if (l->columns[c].freed > l->options->counted_before)
            return;
    struct drawing d;
    uint64_t top = l->full ? l->pushed : l->level; /* bounded: later levels would need events still to come */
    bool fits = true;
    drawing_init(&d, l);
    while (d.level_count <= top && d.first[d.level_count - 1] < d.count && (fits = draw_level(&d))) {
        d.first[d.level_count] = d.count;
        choose_kept(&d, d.level_count - 2);
    }
    if (d.level_count > l->level) {
        l->finding->view = keep_drawing(&d, start);
        l->finding->view->whole = l->full && fits;
    }
    drawing_release(&d);
}
