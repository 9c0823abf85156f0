/*
 * What is found out about a block once, before the first step, so that steps need not look.
 *
 * Needs. A unit's value in a state is a function of: the variables its atoms read; the event, and the atomic blocks
 * that events count; the entries of other threads, which say both what these export and that they are known; and the
 * thread's own units that it looks up. Those come before it, so one pass upwards makes the function's arguments
 * transitive. A past operator also depends on its own memory: that moves only while the last step was not stable, so
 * "not stable" stands for all memories at once. A lookup through a thread variable may end at the thread itself or at
 * another one and needs both; so does one of a named thread from a unit that any thread keeps.
 *
 * If none of a unit's needs has changed, it has the value that the last step gave it. (Which of several failures of
 * past operators is told depends on the order of evaluation; a thread that has one evaluates everything: mttl_past.c.)
 */
#include <string.h>

#include "core/mttl_impl.h"

struct planner {
    const struct pt_mttl *m;
    struct pt_mttl_plan *plan;
    uint32_t self; /* of the unit looked at, whose needs are collected: */
    struct pt_mttl_needs *needs;
};

static void need_lookup(struct planner *p, uint32_t index)
{
    const struct pt_mttl_lookup *lookup = pt_mttl_at(p->m, lookups, struct pt_mttl_lookup, index);
    const struct pt_mttl_needs *theirs = &p->plan->needs[lookup->unit];
    bool is_self = lookup->thread == PT_MTTL_SELF || lookup->thread == p->self;
    bool may_be_self = is_self || lookup->thread & PT_MTTL_ENV0 || p->self == PT_MTTL_ANY;
    if (!is_self)
        p->needs->changed |= PT_MTTL_HEARD;
    if (may_be_self) {
        p->needs->changed |= theirs->changed;
        p->needs->also |= theirs->also;
    }
}

static void need_atom(struct planner *p, uint32_t index)
{
    const struct pt_mttl_atom *atom = pt_mttl_at(p->m, atoms, struct pt_mttl_atom, index);
    for (uint32_t i = 0; i < atom->operand_count; i++) {
        const struct pt_mttl_operand *o = pt_mttl_at(p->m, operands, struct pt_mttl_operand, atom->operands + i);
        if (o->kind == PT_MTTL_OPERAND_VAR)
            p->needs->changed |= pt_mttl_changed_var(o->index);
        else if (o->kind == PT_MTTL_OPERAND_LOOKUP)
            need_lookup(p, o->index);
        else if (o->kind == PT_MTTL_OPERAND_BLOCK)
            p->needs->also |= PT_MTTL_ALSO_EVENT;
    }
}

static void need_program(struct planner *p, uint32_t from)
{
    const struct pt_mttl_op *op = pt_mttl_at(p->m, ops, struct pt_mttl_op, from);
    for (; op->op != PT_MTTL_OP_END; op++) {
        switch (op->op) {
        case PT_MTTL_OP_ATOM:
            need_atom(p, op->arg);
            break;
        case PT_MTTL_OP_NO_RACE:
            p->needs->also |= PT_MTTL_ALSO_EVENT;
            need_lookup(p, op->arg);
            break;
        case PT_MTTL_OP_LOOKUP:
            need_lookup(p, op->arg);
            break;
        case PT_MTTL_OP_EVENT:
        case PT_MTTL_OP_READ:
        case PT_MTTL_OP_WRITE:
        case PT_MTTL_OP_PLAIN_R:
        case PT_MTTL_OP_PLAIN_W:
            p->needs->also |= PT_MTTL_ALSO_EVENT;
            break;
        case PT_MTTL_OP_EXISTS: /* over the threads known */
        case PT_MTTL_OP_FORALL:
            p->needs->changed |= PT_MTTL_HEARD;
            break;
        default:
            break;
        }
    }
}

/*
 * The commonest export with a parameter is what another thread exports handed on, `@i x`: its cells are those of the
 * entries known, and need no program.
 */
static uint32_t handed_on(const struct pt_mttl *m, const struct pt_mttl_unit *unit)
{
    if (unit->kind != PT_MTTL_VALUE || unit->params != 1)
        return PT_MTTL_NONE;
    const struct pt_mttl_atom *atom = pt_mttl_at(m, atoms, struct pt_mttl_atom, unit->a);
    const struct pt_mttl_operand *o = pt_mttl_at(m, operands, struct pt_mttl_operand, atom->operands);
    if (atom->insn_count != 1 || atom->operand_count != 1 || o->kind != PT_MTTL_OPERAND_LOOKUP)
        return PT_MTTL_NONE;
    const struct pt_mttl_lookup *lookup = pt_mttl_at(m, lookups, struct pt_mttl_lookup, o->index);
    return lookup->thread == PT_MTTL_ENV0 && pt_mttl_unit_at(m, lookup->unit)->params == 0 ? lookup->unit
                                                                                           : PT_MTTL_NONE;
}

static void plan_unit(struct planner *p, uint32_t u)
{
    const struct pt_mttl_unit *unit = pt_mttl_unit_at(p->m, u);
    p->self = unit->self;
    p->needs = &p->plan->needs[u];
    *p->needs = (struct pt_mttl_needs){.also = PT_MTTL_ALSO_WHOLE, .handed = handed_on(p->m, unit)};
    if (unit->kind == PT_MTTL_ACCESS) {
        p->needs->also |= PT_MTTL_ALSO_EVENT;
    } else if (unit->kind == PT_MTTL_VALUE) {
        need_atom(p, unit->a);
    } else {
        need_program(p, unit->a);
        if (pt_mttl_is_binary(unit->kind))
            need_program(p, unit->b);
    }
    if (pt_mttl_is_past(unit->kind))
        p->needs->also |= PT_MTTL_ALSO_PAST;
}

/* --- atoms --- */

/* Which of less, equal, greater satisfy a comparison: bits 0, 1, 2. */
static uint8_t accepts(uint32_t op)
{
    enum { LESS = 1, EQUAL = 2, GREATER = 4 };
    switch (op) {
    case PT_CODE_EQ:
        return EQUAL;
    case PT_CODE_NE:
    case PT_CODE_TRUTH:
        return LESS | GREATER;
    case PT_CODE_LT:
        return LESS;
    case PT_CODE_LE:
        return LESS | EQUAL;
    case PT_CODE_GT:
        return GREATER;
    case PT_CODE_GE:
        return GREATER | EQUAL;
    default:
        return 0;
    }
}

static struct pt_mttl_form plan_atom(const struct pt_mttl *m, const struct pt_mttl_atom *atom)
{
    const struct pt_mttl_operand *operands = pt_mttl_at(m, operands, struct pt_mttl_operand, atom->operands);
    const struct pt_insn *code = pt_mttl_at(m, insns, struct pt_insn, atom->insns);
    struct pt_mttl_form form = {.kind = PT_MTTL_FORM_CODE};
    uint32_t last = atom->insn_count - 1; /* an expression has a value, hence an instruction */
    if (last == 0) {
        form.kind = PT_MTTL_FORM_COPY;
        form.a = operands[code[0].arg];
    } else if (last == 1 && code[1].op == PT_CODE_TRUTH) {
        form.kind = PT_MTTL_FORM_COMPARE;
        form.a = operands[code[0].arg];
        form.b = (struct pt_mttl_operand){PT_MTTL_OPERAND_CONSTANT, m->constants.count};
    } else if (last == 2 && code[1].op == PT_CODE_VAR && accepts(code[2].op) != 0) {
        form.kind = PT_MTTL_FORM_COMPARE;
        form.a = operands[code[0].arg];
        form.b = operands[code[1].arg];
    }
    form.accepts = accepts(code[last].op);
    return form;
}

static struct pt_value plan_constant(const struct pt_mttl *m, uint32_t index)
{
    const struct pt_mttl_constant *c = pt_mttl_at(m, constants, struct pt_mttl_constant, index);
    struct pt_value v = {.kind = c->kind, .len = c->len, .u = c->bits};
    if (c->kind == PT_VALUE_STRING)
        v.s = pt_mttl_string(m, (uint32_t)c->bits);
    return v;
}

/* --- who keeps what --- */

/* The place in kept_from of a unit's thread. */
static uint32_t keeper_of(const struct pt_mttl *m, uint32_t u)
{
    uint32_t self = pt_mttl_unit_at(m, u)->self;
    return self == PT_MTTL_ANY ? m->threads.count : self;
}

/* Sorts units by keeper, those of one in their order: counts, sums up, and puts each in its place from the last one on.
 */
static void plan_keepers(const struct pt_mttl *m, struct pt_mttl_plan *plan)
{
    memset(plan->kept_from, 0, (m->threads.count + 2) * sizeof *plan->kept_from);
    for (uint32_t u = 0; u < m->units.count; u++)
        if (pt_mttl_unit_at(m, u)->kind != PT_MTTL_PROPERTY)
            plan->kept_from[keeper_of(m, u)]++;
    for (uint32_t k = 1; k < m->threads.count + 2; k++)
        plan->kept_from[k] += plan->kept_from[k - 1];
    for (uint32_t u = m->units.count; u-- > 0;)
        if (pt_mttl_unit_at(m, u)->kind != PT_MTTL_PROPERTY)
            plan->kept[--plan->kept_from[keeper_of(m, u)]] = u;
}

/* --- memory --- */

/* Tables of the plan, behind each other; those whose elements are aligned to 8 come first. */
size_t pt_mttl_plan_size(const struct pt_mttl *m)
{
    return sizeof(struct pt_mttl_plan) + m->units.count * sizeof(struct pt_mttl_needs) +
           ((size_t)m->constants.count + 1) * sizeof(struct pt_value) + m->atoms.count * sizeof(struct pt_mttl_form) +
           ((size_t)m->units.count + m->threads.count + 2) * sizeof(uint32_t);
}

const struct pt_mttl_plan *pt_mttl_plan_make(const struct pt_mttl *m, void *memory)
{
    struct pt_mttl_plan *plan = memory;
    plan->needs = (void *)(plan + 1);
    plan->constants = (void *)(plan->needs + m->units.count);
    plan->forms = (void *)(plan->constants + m->constants.count + 1);
    plan->kept = (void *)(plan->forms + m->atoms.count);
    plan->kept_from = plan->kept + m->units.count;
    struct planner p = {.m = m, .plan = plan};
    for (uint32_t u = 0; u < m->units.count; u++)
        plan_unit(&p, u);
    for (uint32_t i = 0; i < m->constants.count; i++)
        plan->constants[i] = plan_constant(m, i);
    plan->constants[m->constants.count] = pt_value_int(0);
    for (uint32_t i = 0; i < m->atoms.count; i++)
        plan->forms[i] = plan_atom(m, pt_mttl_at(m, atoms, struct pt_mttl_atom, i));
    plan_keepers(m, plan);
    return plan;
}
