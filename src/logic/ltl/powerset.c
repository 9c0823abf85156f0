/*
 * Powerset construction and Moore's minimisation. A set of states is a BDD (see tgba.h), so the letters are never
 * enumerated. Cost: as many sets as there are, one BDD conjunction per state of each; rounds of Moore times sets.
 */
#include "logic/ltl/powerset.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Nodes of one set's step, and edges of all sets: where they are more, the sets are most often many more than the
 * states of the automaton they come from, and what they would be reduced to is not smaller than it. */
enum { MAX_LEAVES = 1 << 11, MAX_EDGES = 1 << 18 };
#define NOT_MADE (PT_BDD_OVERFLOW - 1) /* a step; no node has this number */

/* A state that accepts everything by an edge to itself, PT_NONE: there is none. */
static uint32_t find_universal(const struct pt_tgba *tgba)
{
    uint32_t found = PT_NONE;
    for (uint32_t i = 0; i < tgba->edge_count; i++) {
        const struct pt_tedge *e = &tgba->edges[i];
        if (e->src == e->dst && e->label == PT_BDD_TRUE && (e->marks & tgba->all_marks) == tgba->all_marks)
            found = e->src;
    }
    return found;
}

void pt_powerset_init(struct pt_powerset *p, const struct pt_tgba *tgba)
{
    *p = (struct pt_powerset){.tgba = tgba, .bdds = tgba->bdds, .universal = find_universal(tgba)};
    p->step = pt_xmalloc(tgba->state_count * sizeof *p->step);
    for (uint32_t s = 0; s < tgba->state_count; s++)
        p->step[s] = NOT_MADE;
    p->graph = pt_tgba_new(tgba->bdds, 1, 0, 0);
    pt_map64_init(&p->set_of);
}

void pt_powerset_release(struct pt_powerset *p)
{
    free(p->step);
    free(p->sets);
    free(p->set_step);
    pt_map64_release(&p->set_of);
    pt_tgba_free(p->graph);
}

/* The step of a state. Made when it is asked for first: of an until with n others in it, it may have 2^n leaves. */
static pt_bdd step_of(struct pt_powerset *p, uint32_t state)
{
    const struct pt_tgba *tgba = p->tgba;
    if (p->step[state] != NOT_MADE)
        return p->step[state];
    pt_bdd step = PT_BDD_TRUE;
    for (uint32_t i = tgba->first[state]; i < tgba->first[state + 1] && step != PT_BDD_OVERFLOW; i++) {
        const struct pt_tedge *e = &tgba->edges[i];
        pt_bdd dst = pt_bdd_var(p->bdds, PT_TGBA_VARS + e->dst);
        step = pt_bdd_and(p->bdds, step, pt_bdd_ite(p->bdds, e->label, dst, PT_BDD_TRUE));
    }
    return p->step[state] = step;
}

pt_bdd pt_powerset_step(struct pt_powerset *p, pt_bdd set)
{
    pt_bdd result = PT_BDD_TRUE;
    for (; set != PT_BDD_TRUE && result != PT_BDD_OVERFLOW; set = pt_bdd_high(p->bdds, set))
        result = pt_bdd_and(p->bdds, result, step_of(p, pt_bdd_top(p->bdds, set) - PT_TGBA_VARS));
    return result;
}

bool pt_powerset_can_fail(struct pt_powerset *p, pt_bdd set)
{
    const struct pt_tgba *tgba = p->tgba;
    pt_bdd enabled = PT_BDD_FALSE;
    for (; set != PT_BDD_TRUE && enabled != PT_BDD_TRUE; set = pt_bdd_high(p->bdds, set)) {
        uint32_t state = pt_bdd_top(p->bdds, set) - PT_TGBA_VARS;
        for (uint32_t i = tgba->first[state]; i < tgba->first[state + 1]; i++)
            enabled = pt_bdd_or(p->bdds, enabled, tgba->edges[i].label);
    }
    return enabled != PT_BDD_TRUE && enabled != PT_BDD_OVERFLOW;
}

bool pt_set_contains(const struct pt_bdds *bdds, pt_bdd set, uint32_t state)
{
    while (set != PT_BDD_TRUE && pt_bdd_top(bdds, set) < PT_TGBA_VARS + state)
        set = pt_bdd_high(bdds, set);
    return set != PT_BDD_TRUE && pt_bdd_top(bdds, set) == PT_TGBA_VARS + state;
}

/* The number of a set that is not empty. A set with a universal state is as good as that state alone. */
static uint32_t number_of(struct pt_powerset *p, pt_bdd set)
{
    if (p->universal != PT_NONE && pt_set_contains(p->bdds, set, p->universal))
        set = pt_bdd_var(p->bdds, PT_TGBA_VARS + p->universal);
    uint32_t *number = pt_map64_at(&p->set_of, set);
    if (*number == PT_NONE) {
        *number = p->count;
        PT_PUSH(p->sets, p->count, p->cap, set);
    }
    return *number;
}

bool pt_powerset_build(struct pt_powerset *p, uint32_t state_limit)
{
    number_of(p, pt_bdd_var(p->bdds, PT_TGBA_VARS + p->tgba->initial));
    for (uint32_t k = 0; k < p->count; k++) {
        struct pt_leaf *leaves;
        uint32_t leaf_count;
        PT_GROW(p->set_step, p->step_cap, (size_t)k + 1);
        p->set_step[k] = pt_powerset_step(p, p->sets[k]);
        if (p->count > state_limit || p->graph->edge_count > MAX_EDGES ||
            !pt_bdd_leaves(p->bdds, p->set_step[k], MAX_LEAVES, &leaves, &leaf_count))
            return false;
        for (uint32_t l = 0; l < leaf_count; l++)
            if (leaves[l].set != PT_BDD_TRUE)
                pt_tgba_add(p->graph, k, number_of(p, leaves[l].set), leaves[l].label, 0);
        free(leaves);
    }
    p->graph->state_count = p->count;
    return pt_tgba_finish(p->graph);
}

static pt_bdd rename_sets(struct pt_moore *m, pt_bdd f)
{
    struct pt_bdds *bdds = m->p->bdds;
    if (f == PT_BDD_TRUE)
        return pt_bdd_var(bdds, PT_TGBA_VARS + m->class_of[m->p->count]);
    uint32_t known = pt_map64_get(&m->renamed, f);
    if (known != PT_NONE)
        return known;
    pt_bdd result;
    if (pt_bdd_top(bdds, f) >= PT_TGBA_VARS) {
        result = pt_bdd_var(bdds, PT_TGBA_VARS + m->class_of[number_of(m->p, f)]);
    } else {
        pt_bdd low = rename_sets(m, pt_bdd_low(bdds, f)), high = rename_sets(m, pt_bdd_high(bdds, f));
        result = pt_bdd_ite(bdds, pt_bdd_var(bdds, pt_bdd_top(bdds, f)), high, low);
    }
    *pt_map64_at(&m->renamed, f) = result;
    return result;
}

/* Moore's rounds: split classes by what their letters lead to until nothing splits. */
bool pt_moore_minimize(struct pt_moore *m)
{
    uint32_t n = m->p->count + 1;
    uint32_t *new_class = pt_xmalloc(n * sizeof *new_class);
    bool fits = true;
    for (uint32_t count = 0; fits && count != m->class_count;) {
        if (count)
            m->class_count = count;
        struct pt_map64 classes;
        pt_map64_init(&classes);
        pt_map64_init(&m->renamed);
        count = 0;
        for (uint32_t k = 0; k < n && fits; k++) {
            /* The empty set leads to itself whatever it reads. */
            m->signature[k] = rename_sets(m, k < m->p->count ? m->p->set_step[k] : PT_BDD_TRUE);
            fits = m->signature[k] != PT_BDD_OVERFLOW;
            uint32_t *class = pt_map64_at(&classes, (uint64_t)m->class_of[k] << 32 | m->signature[k]);
            if (*class == PT_NONE)
                *class = count++;
            new_class[k] = *class;
        }
        pt_map64_release(&classes);
        pt_map64_release(&m->renamed);
        if (fits && count != m->class_count)
            memcpy(m->class_of, new_class, n * sizeof *new_class);
    }
    free(new_class);
    return fits;
}
