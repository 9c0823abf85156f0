/*
 * The truth of subformulas in the states of a run, for people to read. What has no future operator has a value; the
 * others have one only where one state alone settles them (`always f` is false where f is), in three-valued logic.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "logic/monitor/monitor.h"
#include "logic/monitor/past.h"

enum { OPEN = -1, MAX_DEPTH = 64, MAX_SIZE = 2000, MAX_CELLS = 4 << 20 };

struct listing {
    const struct pt_property *property;
    const char **names;
    struct pt_past past;
    bool *values;    /* of past.nodes, in the present state */
    signed char *at; /* per formula of the pool that is needed: its value in the present state */
    bool *needed;
    pt_formula *formulas; /* of the items of list */
    struct pt_explained *list;
    uint32_t count;
    size_t cap, formula_cap;
};

static int not3(int a)
{
    return a == OPEN ? OPEN : !a;
}

static int and3(int a, int b)
{
    return a == 0 || b == 0 ? 0 : a == 1 && b == 1 ? 1 : OPEN;
}

static int or3(int a, int b)
{
    return not3(and3(not3(a), not3(b)));
}

static int iff3(int a, int b)
{
    return a == OPEN || b == OPEN ? OPEN : a == b;
}

/* By its operands, whose values in this state are known. */
static int value_of(const struct listing *l, pt_formula f)
{
    const struct pt_fnode *n = &l->property->pool.nodes[f];
    if (!n->has_future)
        return l->values[l->past.local[f]];
    int a = l->at[n->a], b = pt_fop_is_binary(n->op) ? l->at[n->b] : 0;
    switch ((enum pt_fop)n->op) {
    case PT_F_NOT:
        return not3(a);
    case PT_F_AND:
        return and3(a, b);
    case PT_F_OR:
        return or3(a, b);
    case PT_F_IMPLIES:
        return or3(not3(a), b);
    case PT_F_IFF:
        return iff3(a, b);
    case PT_F_EVENTUALLY: /* f || next eventually f */
        return or3(a, OPEN);
    case PT_F_ALWAYS:
        return and3(a, OPEN);
    case PT_F_UNTIL: /* b || (a && next (a until b)) */
    case PT_F_WEAKUNTIL:
        return or3(b, and3(a, OPEN));
    case PT_F_RELEASE: /* b && (a || next (a release b)) */
        return and3(b, or3(a, OPEN));
    default: /* next */
        return OPEN;
    }
}

/* Outermost first, each text once. */
static void list_formula(struct listing *l, pt_formula f, uint32_t depth)
{
    const struct pt_fnode *n = &l->property->pool.nodes[f];
    struct pt_buf buf;
    if (n->op <= PT_F_TRUE || depth > MAX_DEPTH)
        return;
    pt_buf_init(&buf);
    pt_formula_print(&l->property->pool, f, l->names, &buf);
    struct pt_explained item = {pt_buf_take(&buf), OPEN, depth};
    for (uint32_t i = 0; i < l->count; i++)
        if (strcmp(l->list[i].text, item.text) == 0) {
            free(item.text);
            return;
        }
    PT_GROW(l->formulas, l->formula_cap, (size_t)l->count + 1);
    l->formulas[l->count] = f;
    PT_PUSH(l->list, l->count, l->cap, item);
    if (n->op == PT_F_PROP)
        return;
    list_formula(l, n->a, depth + 1);
    if (pt_fop_is_binary(n->op))
        list_formula(l, n->b, depth + 1);
}

/* Marks what the listed formulas' values are made of, down to where the past machine takes over. */
static void mark_needed(struct listing *l)
{
    const struct pt_fpool *pool = &l->property->pool;
    for (uint32_t i = 0; i < l->count; i++)
        l->needed[l->formulas[i]] = true;
    for (pt_formula f = pool->count; f-- > 0;) { /* operands have smaller ids */
        const struct pt_fnode *n = &pool->nodes[f];
        if (!l->needed[f] || !n->has_future)
            continue;
        l->needed[n->a] = true;
        if (pt_fop_is_binary(n->op))
            l->needed[n->b] = true;
    }
}

/* Values the listed formulas in each state; a row for each where `rows` is not NULL, the last state in the list. */
static void value_run(const struct pt_monitor *monitor, struct listing *l, const pt_letter *letters, uint32_t count,
                      signed char *rows)
{
    uint32_t nodes = l->property->pool.count;
    l->values = pt_xcalloc(l->past.node_count, sizeof *l->values);
    l->at = pt_xcalloc(nodes, sizeof *l->at);
    l->needed = pt_xcalloc(nodes, sizeof *l->needed);
    mark_needed(l);
    struct pt_past_memory memory = pt_past_start(&l->past);
    for (uint32_t i = 0; i < count; i++) {
        memory = pt_past_step(&l->past, memory, pt_monitor_letter_bits(monitor, letters[i]), l->values);
        if (!rows && i + 1 < count)
            continue;
        for (pt_formula f = 0; f < nodes; f++)
            if (l->needed[f])
                l->at[f] = (signed char)value_of(l, f);
        for (uint32_t k = 0; rows && k < l->count; k++)
            rows[(size_t)i * l->count + k] = l->at[l->formulas[k]];
    }
    for (uint32_t k = 0; k < l->count; k++)
        l->list[k].value = l->at[l->formulas[k]];
    free(l->values);
    free(l->at);
    free(l->needed);
}

/* Written out in full: shared subformulas (`let` in `let`) make that exponential in what is stored. Saturates. */
static uint32_t written_size(const struct pt_fpool *pool, pt_formula formula)
{
    uint32_t *sizes = pt_xcalloc((size_t)formula + 1, sizeof *sizes);
    for (pt_formula f = 0; f <= formula; f++) { /* operands have smaller ids */
        const struct pt_fnode *n = &pool->nodes[f];
        uint64_t size = 1;
        if (n->op > PT_F_PROP)
            size += sizes[n->a] + (uint64_t)(pt_fop_is_binary(n->op) ? sizes[n->b] : 0);
        sizes[f] = size > MAX_SIZE ? MAX_SIZE + 1 : (uint32_t)size;
    }
    uint32_t size = sizes[formula];
    free(sizes);
    return size;
}

uint32_t pt_monitor_explain(const struct pt_monitor *monitor, const pt_letter *letters, uint32_t count,
                            struct pt_explained **ret_list, signed char **ret_rows)
{
    const struct pt_property *p = pt_monitor_property(monitor);
    *ret_list = NULL;
    if (ret_rows)
        *ret_rows = NULL;
    if (!p || !count)
        return 0;
    pt_formula *shown = NULL, *roots = NULL;
    uint32_t shown_count = 0, root_count = 0;
    size_t shown_cap = 0, root_cap = 0;
    if (p->kind == PT_KIND_LTL)
        PT_PUSH(shown, shown_count, shown_cap, p->formula);
    for (uint32_t i = 0; p->kind == PT_KIND_ERE && i < p->letter_count; i++)
        PT_PUSH(shown, shown_count, shown_cap, p->letters[i]);
    for (uint32_t i = 0; p->kind == PT_KIND_HOA && i < p->automaton->prop_count; i++)
        PT_PUSH(shown, shown_count, shown_cap, p->bindings[i]);
    for (uint32_t i = 0; i < shown_count; i++)
        if (written_size(&p->pool, shown[i]) > MAX_SIZE)
            shown_count = 0; /* nobody would read it */
    for (uint32_t i = 0; i < shown_count; i++)
        pt_formula_largest(&p->pool, shown[i], true, &roots, &root_count, &root_cap);
    struct listing l = {.property = p};
    struct pt_err err;
    if (pt_past_init(&l.past, &p->pool, roots, root_count, &err) == PT_OK) {
        l.names = pt_xcalloc(p->atom_count, sizeof *l.names);
        for (uint32_t i = 0; i < p->atom_count; i++)
            l.names[i] = p->atoms[i].text;
        for (uint32_t i = 0; i < shown_count; i++)
            list_formula(&l, shown[i], 0);
        if (ret_rows && (uint64_t)l.count * count <= MAX_CELLS)
            *ret_rows = pt_xcalloc((size_t)l.count * count, 1);
        value_run(monitor, &l, letters, count, ret_rows ? *ret_rows : NULL);
        free(l.names);
        free(l.formulas);
        pt_past_release(&l.past);
    }
    free(shown);
    free(roots);
    *ret_list = l.list;
    return l.count;
}
