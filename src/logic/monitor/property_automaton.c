/*
 * The Büchi automaton of a property over its atoms, whatever the property was written in:
 *   future LTL            translated directly;
 *   past LTL              must hold in every state: one looping state that demands the formula, with its past put in;
 *   past inside future    the future skeleton over past subformulas as propositions, with the past put in;
 *   ERE                   the safety automaton of "no prefix is matched";
 *   HOA                   the automaton as read, with the meaning of its propositions put in.
 *
 * Exact: it accepts the infinite words that satisfy the property. All but the ERE's are pruned. A property that is
 * judged state by state has a second one, which does not foresee violations. Cost: the translation of the formula,
 * times the memories that its past subformulas can have; the state limit bounds both.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "logic/monitor/monitor.h"
#include "logic/monitor/past.h"
#include "logic/monitor/product.h"

enum { BDD_NODES = 4 << 20 };

static const char **atom_names(const struct pt_property *property)
{
    const char **names = pt_xcalloc(property->atom_count, sizeof *names);
    for (uint32_t i = 0; i < property->atom_count; i++)
        names[i] = property->atoms[i].text;
    return names;
}

/* The skeleton of a formula with past inside future: its largest atomic or past subformulas become propositions. */
struct skeleton {
    const struct pt_fpool *source;
    struct pt_fpool pool;
    pt_formula *map; /* source id -> skeleton id, PT_NONE: not yet */
    pt_formula meaning[PT_MAX_ATOMS];
    uint32_t count;
};

static enum pt_status skeleton_node(struct skeleton *s, pt_formula f, struct pt_err *err)
{
    const struct pt_fnode *n = &s->source->nodes[f];
    if (n->op <= PT_F_TRUE) {
        s->map[f] = f;
    } else if (n->op == PT_F_PROP || pt_fop_is_past(n->op)) {
        if (s->count == PT_MAX_ATOMS)
            return pt_err_set(err, PT_ELIMIT, "the property has more than %d different atoms and past subformulas",
                              PT_MAX_ATOMS);
        s->meaning[s->count] = f;
        s->map[f] = pt_formula_prop(&s->pool, s->count++);
    } else if (pt_fop_is_binary(n->op)) {
        s->map[f] = pt_formula_binary(&s->pool, n->op, s->map[n->a], s->map[n->b]);
    } else {
        s->map[f] = pt_formula_unary(&s->pool, n->op, s->map[n->a]);
    }
    return PT_OK;
}

/* Marks what the skeleton consists of: it does not look below past operators. */
static bool *skeleton_parts(const struct pt_fpool *pool, pt_formula root)
{
    bool *part = pt_xcalloc(pool->count, sizeof *part);
    part[root] = true;
    for (pt_formula f = root + 1; f-- > 0;) { /* operators have larger ids than their operands */
        const struct pt_fnode *n = &pool->nodes[f];
        if (!part[f] || n->op <= PT_F_PROP || pt_fop_is_past(n->op))
            continue;
        part[n->a] = true;
        if (pt_fop_is_binary(n->op))
            part[n->b] = true;
    }
    return part;
}

static enum pt_status formula_automaton(const struct pt_property *property, const struct pt_fpool *pool,
                                        pt_formula formula, const char *const *props, uint32_t prop_count,
                                        uint32_t state_limit, struct pt_automaton **ret_aut, struct pt_err *err)
{
    return property->within ? pt_automaton_of_timed_formula(pool, formula, props, prop_count, state_limit, ret_aut, err)
                            : pt_automaton_of_formula(pool, formula, props, prop_count, state_limit, ret_aut, err);
}

static enum pt_status mixed_automaton(const struct pt_property *property, const char *const *names,
                                      uint32_t state_limit, struct pt_automaton **ret_aut, struct pt_err *err)
{
    struct skeleton s = {.source = &property->pool};
    enum pt_status status = PT_OK;
    pt_fpool_init(&s.pool);
    s.map = pt_xmalloc(property->pool.count * sizeof *s.map);
    bool *part = skeleton_parts(&property->pool, property->formula);
    for (pt_formula f = 0; f <= property->formula && status == PT_OK; f++)
        if (part[f])
            status = skeleton_node(&s, f, err);
    if (status == PT_OK) {
        char texts[PT_MAX_ATOMS][16];
        const char *props[PT_MAX_ATOMS];
        for (uint32_t i = 0; i < s.count; i++) {
            snprintf(texts[i], sizeof texts[i], "s%u", i);
            props[i] = texts[i];
        }
        struct pt_automaton *outer = NULL;
        status =
            formula_automaton(property, &s.pool, s.map[property->formula], props, s.count, state_limit, &outer, err);
        if (status == PT_OK) {
            status = pt_automaton_substitute(outer, &property->pool, s.meaning, names, property->atom_count,
                                             state_limit, ret_aut, err);
            pt_automaton_free(outer);
        }
        if (status == PT_OK)
            pt_automaton_prune(*ret_aut);
    }
    free(part);
    free(s.map);
    pt_fpool_release(&s.pool);
    return status;
}

/* One accepting state that loops as long as its only proposition is true. */
static struct pt_automaton *demand(void)
{
    struct pt_automaton *aut = pt_xcalloc(1, sizeof *aut);
    aut->bdds = pt_bdds_new(16);
    aut->props = pt_xcalloc(1, sizeof *aut->props);
    aut->props[0] = pt_xstrdup("holds");
    aut->prop_count = 1;
    aut->state_count = 1;
    aut->first = pt_xcalloc(2, sizeof *aut->first);
    aut->first[1] = 1;
    aut->edges = pt_xcalloc(1, sizeof *aut->edges);
    aut->edges[0].label = pt_bdd_var(aut->bdds, 0);
    aut->accepting = pt_xcalloc(1, sizeof *aut->accepting);
    aut->accepting[0] = true;
    return aut;
}

pt_formula pt_property_state_formula(const struct pt_property *property)
{
    const struct pt_fnode *root = &property->pool.nodes[property->formula];
    if (property->kind != PT_KIND_LTL || property->within)
        return PT_NONE;
    if (!root->has_future)
        return property->formula;
    return root->op == PT_F_ALWAYS && !property->pool.nodes[root->a].has_future ? root->a : PT_NONE;
}

/* Demands the future-free formula in every state. Deterministic; not pruned: it is left without a state where the
 * formula is false, and not before. */
static enum pt_status every_state(const struct pt_property *property, pt_formula formula, const char *const *names,
                                  uint32_t state_limit, struct pt_automaton **ret_aut, struct pt_err *err)
{
    struct pt_automaton *outer = demand();
    enum pt_status status = pt_automaton_substitute(outer, &property->pool, &formula, names, property->atom_count,
                                                    state_limit, ret_aut, err);
    pt_automaton_free(outer);
    return status;
}

enum pt_status pt_property_state_automaton(const struct pt_property *property, uint32_t state_limit,
                                           struct pt_automaton **ret_aut, struct pt_err *err)
{
    const char **names = atom_names(property);
    enum pt_status status =
        every_state(property, pt_property_state_formula(property), names, state_limit, ret_aut, err);
    free(names);
    return status;
}

static enum pt_status past_automaton(const struct pt_property *property, const char *const *names, uint32_t state_limit,
                                     struct pt_automaton **ret_aut, struct pt_err *err)
{
    enum pt_status status = every_state(property, property->formula, names, state_limit, ret_aut, err);
    if (status == PT_OK)
        pt_automaton_prune(*ret_aut);
    return status;
}

static enum pt_status hoa_automaton(const struct pt_property *property, const char *const *names, uint32_t state_limit,
                                    struct pt_automaton **ret_aut, struct pt_err *err)
{
    enum pt_status status = pt_automaton_substitute(property->automaton, &property->pool, property->bindings, names,
                                                    property->atom_count, state_limit, ret_aut, err);
    if (status == PT_OK)
        pt_automaton_prune(*ret_aut);
    return status;
}

static enum pt_status ere_automaton(const struct pt_property *property, const char *const *names, uint32_t state_limit,
                                    struct pt_automaton **ret_aut, struct pt_err *err)
{
    struct pt_past past; /* letters are propositional: used only to turn them into BDDs */
    enum pt_status status = pt_past_init(&past, &property->pool, property->letters, property->letter_count, err);
    if (status != PT_OK)
        return status;
    struct pt_bdds *bdds = pt_bdds_new(BDD_NODES);
    pt_bdd next[64];
    pt_bdd *values = pt_xcalloc(past.node_count, sizeof *values);
    pt_bdd *meaning = pt_xcalloc(property->letter_count, sizeof *meaning);
    pt_past_step_symbolic(&past, pt_past_start(&past), bdds, values, next);
    for (uint32_t i = 0; i < property->letter_count; i++)
        meaning[i] = values[past.local[property->letters[i]]];
    status = pt_ere_automaton(property->eres, property->ere, meaning, property->letter_count, bdds, names,
                              property->atom_count, state_limit, ret_aut, err);
    free(values);
    free(meaning);
    pt_past_release(&past);
    return status;
}

enum pt_status pt_property_automaton(const struct pt_property *property, uint32_t state_limit,
                                     struct pt_automaton **ret_aut, struct pt_err *err)
{
    const char **names = atom_names(property);
    enum pt_status status;
    const struct pt_fnode *root = &property->pool.nodes[property->formula];
    switch (property->kind) {
    case PT_KIND_LTL:
        if (!root->has_future)
            status = past_automaton(property, names, state_limit, ret_aut, err);
        else if (root->has_past)
            status = mixed_automaton(property, names, state_limit, ret_aut, err);
        else
            status = formula_automaton(property, &property->pool, property->formula, names, property->atom_count,
                                       state_limit, ret_aut, err);
        break;
    case PT_KIND_ERE:
        status = ere_automaton(property, names, state_limit, ret_aut, err);
        break;
    case PT_KIND_HOA:
        status = hoa_automaton(property, names, state_limit, ret_aut, err);
        break;
    default:
        status = pt_err_set(err, PT_EUSAGE, "a property that is local to threads has no automaton over global states");
    }
    free(names);
    return status;
}
