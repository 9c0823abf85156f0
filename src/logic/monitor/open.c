/*
 * Atoms without a value. Evaluation is left to right and stops when decided, so an atom that has no value (division by
 * zero, a value the trace does not give) is an error only if it is reached and the outcome depends on it. walk() goes
 * through the largest propositional subformulas in written order; if none of them gets stuck, the valueless atoms do
 * not matter. Where one is stuck, the atoms it did not get to are tried with both truth values (monitor.c): if every
 * choice leads to the same monitor state, the property did not need them (it was already decided), otherwise it is an
 * error.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "logic/monitor/impl.h"

enum three { THREE_FALSE, THREE_TRUE, THREE_STUCK };

struct walk {
    const struct pt_fpool *pool;
    struct letter letter;
    uint64_t reached; /* atoms that were evaluated */
    uint8_t *known;   /* per node: its value + 1 once walked; formulas share subformulas */
};

/* Left to right, stopping when decided. Depth: the parser bounds the nesting of what is written. */
static enum three walk_fresh(struct walk *w, pt_formula f);

static enum three walk(struct walk *w, pt_formula f)
{
    if (!w->known[f])
        w->known[f] = (uint8_t)(walk_fresh(w, f) + 1);
    return (enum three)(w->known[f] - 1);
}

static enum three walk_fresh(struct walk *w, pt_formula f)
{
    const struct pt_fnode *n = &w->pool->nodes[f];
    enum three a, b;
    switch ((enum pt_fop)n->op) {
    case PT_F_FALSE:
    case PT_F_TRUE:
        return n->op == PT_F_TRUE ? THREE_TRUE : THREE_FALSE;
    case PT_F_PROP:
        w->reached |= (uint64_t)1 << n->a;
        if (w->letter.unknown >> n->a & 1)
            return THREE_STUCK;
        return w->letter.bits >> n->a & 1 ? THREE_TRUE : THREE_FALSE;
    default:
        break;
    }
    a = walk(w, n->a);
    if (a == THREE_STUCK)
        return a;
    if (n->op == PT_F_NOT)
        return a == THREE_TRUE ? THREE_FALSE : THREE_TRUE;
    if (n->op == PT_F_AND && a == THREE_FALSE)
        return THREE_FALSE;
    if ((n->op == PT_F_OR && a == THREE_TRUE) || (n->op == PT_F_IMPLIES && a == THREE_FALSE))
        return THREE_TRUE;
    b = walk(w, n->b);
    if (b == THREE_STUCK || n->op != PT_F_IFF)
        return b;
    return a == b ? THREE_TRUE : THREE_FALSE;
}

static void walk_init(struct walk *w, const struct pt_monitor *m, struct letter letter)
{
    *w = (struct walk){.pool = &m->property->pool, .letter = letter};
    w->known = pt_xcalloc(w->pool->count, sizeof *w->known);
}

static uint64_t atoms_of(const struct pt_fpool *pool, pt_formula formula)
{
    uint64_t atoms = 0;
    bool *inside = pt_xcalloc((size_t)formula + 1, sizeof *inside);
    inside[formula] = true;
    for (pt_formula f = formula + 1; f-- > 0;) { /* operands have smaller ids */
        const struct pt_fnode *n = &pool->nodes[f];
        if (!inside[f] || n->op < PT_F_PROP)
            continue;
        if (n->op == PT_F_PROP) {
            atoms |= (uint64_t)1 << n->a;
            continue;
        }
        inside[n->a] = true;
        if (pt_fop_is_binary(n->op))
            inside[n->b] = true;
    }
    free(inside);
    return atoms;
}

uint64_t pt_monitor_open_atoms(const struct pt_monitor *m, struct letter letter)
{
    struct walk w;
    uint64_t stuck = 0;
    walk_init(&w, m, letter);
    for (uint32_t i = 0; i < m->piece_count; i++)
        if (walk(&w, m->pieces[i]) == THREE_STUCK)
            stuck |= atoms_of(w.pool, m->pieces[i]);
    free(w.known);
    return stuck & ~(w.reached & ~letter.unknown);
}

uint64_t pt_monitor_open(const struct pt_monitor *m, pt_letter letter, uint64_t *ret_bits)
{
    struct letter l = *pt_monitor_letter_of(m, letter);
    uint64_t open = l.unknown ? pt_monitor_open_atoms(m, l) : 0;
    *ret_bits = l.bits & ~l.unknown & ~open;
    return open;
}

void pt_monitor_error(struct pt_monitor *m, const struct pt_value *values, struct pt_err *err)
{
    struct letter letter = {0, 0};
    for (uint32_t i = 0; i < m->property->atom_count; i++)
        if (m->property->atoms[i].event == PT_NONE)
            pt_monitor_eval_atom(&m->property->atoms[i], i, values, &letter);
    struct walk w;
    walk_init(&w, m, letter);
    for (uint32_t i = 0; i < m->piece_count; i++)
        walk(&w, m->pieces[i]);
    free(w.known);
    uint64_t culprits = w.reached & letter.unknown;
    if (!culprits)
        culprits = letter.unknown;
    const struct pt_atom *atom = &m->property->atoms[culprits ? __builtin_ctzll(culprits) : 0];
    struct pt_value value;
    uint32_t detail = 0;
    enum pt_code_result result = pt_code_run(&atom->code, values, &value, &detail);
    if (result == PT_CODE_UNKNOWN_VALUE)
        pt_err_set(err, PT_EEVAL, "the trace does not give the value of '%s', which '%s' needs",
                   m->property->vars[detail].name, atom->text);
    else
        pt_err_set(err, PT_EEVAL, "%s in '%s'", pt_code_result_text(result), atom->text);
}
