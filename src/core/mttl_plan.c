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
 * past operators is reported depends on the order of evaluation; a thread that has one evaluates everything:
 * mttl_past.c.)
 *
 * The rest is what a step would otherwise find out each time: which units a thread keeps, which exports are only a
 * variable's value or handed on, what an atom compares, where a lookup's cell lies, and constants as values. Programs
 * are copied with more special ops in the same places, so that jumps and indices stay. One pass over each table.
 */
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
        case PT_MTTL_OP_LOOKUP:
            need_lookup(p, op->arg);
            break;
        case PT_MTTL_OP_EVENT:
        case PT_MTTL_OP_READ:
        case PT_MTTL_OP_WRITE:
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

/* Whether a unit's cells can be found by struct pt_mttl_cells. */
static bool is_simple(const struct pt_mttl_unit *unit)
{
    return unit->params <= 1 && !(unit->before[2] | unit->before[3]);
}

static struct pt_mttl_cells cells_of(const struct pt_mttl_unit *unit)
{
    return (struct pt_mttl_cells){unit->before[0], unit->before[1]};
}

/*
 * Most exports are a variable's value and, with a parameter, that of another thread handed on: their cells are the
 * variable's value and the cells of the entries known, and need no program.
 */
static void plan_export(const struct pt_mttl *m, const struct pt_mttl_unit *unit, struct pt_mttl_needs *needs)
{
    if (unit->kind != PT_MTTL_VALUE || !is_simple(unit))
        return;
    const struct pt_mttl_atom *atom = pt_mttl_at(m, atoms, struct pt_mttl_atom, unit->a);
    const struct pt_mttl_operand *o = pt_mttl_at(m, operands, struct pt_mttl_operand, atom->operands);
    if (atom->insn_count != 1 || atom->operand_count != 1)
        return;
    if (unit->params == 0 && o->kind == PT_MTTL_OPERAND_VAR) {
        needs->how = PT_MTTL_HOW_COPIED;
        needs->from.base = o->index;
    } else if (unit->params == 1 && o->kind == PT_MTTL_OPERAND_LOOKUP) {
        const struct pt_mttl_lookup *lookup = pt_mttl_at(m, lookups, struct pt_mttl_lookup, o->index);
        const struct pt_mttl_unit *from = pt_mttl_unit_at(m, lookup->unit);
        if (lookup->thread != PT_MTTL_ENV0 || from->params != 0 || !is_simple(from))
            return;
        needs->how = PT_MTTL_HOW_HANDED;
        needs->from = cells_of(from);
    }
    needs->to = cells_of(unit);
}

static void plan_unit(struct planner *p, uint32_t u)
{
    const struct pt_mttl_unit *unit = pt_mttl_unit_at(p->m, u);
    p->self = unit->self;
    p->needs = &p->plan->needs[u];
    *p->needs = (struct pt_mttl_needs){.also = PT_MTTL_ALSO_WHOLE, .how = PT_MTTL_HOW_ANY};
    plan_export(p->m, unit, p->needs);
    if (unit->kind == PT_MTTL_VALUE) {
        need_atom(p, unit->a);
    } else {
        need_program(p, unit->a);
        if (pt_mttl_is_binary(unit->kind))
            need_program(p, unit->b);
    }
    if (pt_mttl_is_past(unit->kind)) {
        p->needs->also |= PT_MTTL_ALSO_PAST;
        p->needs->how = PT_MTTL_HOW_PAST;
    }
}

/* --- atoms --- */

enum { LESS = 1, EQUAL = 2, GREATER = 4 };

/* Which of them satisfy a comparison. */
static uint8_t accepts(uint32_t op)
{
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

/* a < b becomes b > a: lookups stand on the right, so that one place need be looked at. */
static void turn_round(struct pt_mttl_form *form)
{
    struct pt_mttl_operand a = form->a;
    form->a = form->b;
    form->b = a;
    form->accepts = (uint8_t)((form->accepts & EQUAL) | (form->accepts & LESS ? GREATER : 0) |
                              (form->accepts & GREATER ? LESS : 0));
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
    if (form.kind == PT_MTTL_FORM_COMPARE && form.a.kind == PT_MTTL_OPERAND_LOOKUP)
        turn_round(&form);
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

/* --- lookups --- */

static struct pt_mttl_way plan_lookup(const struct pt_mttl *m, const struct pt_mttl_lookup *lookup)
{
    const struct pt_mttl_unit *unit = pt_mttl_unit_at(m, lookup->unit);
    return (struct pt_mttl_way){.thread = lookup->thread,
                                .arg = lookup->args[0],
                                .cells = cells_of(unit),
                                .params = is_simple(unit) ? unit->params : PT_MTTL_NONE};
}

/* --- programs --- */

/* Whether a comparison's right side is an export that is simply found, and its left side is the same for all threads.
 */
static bool compares_exports(const struct pt_mttl_plan *plan, uint32_t atom)
{
    const struct pt_mttl_form *form = &plan->forms[atom];
    return form->a.kind != PT_MTTL_OPERAND_LOOKUP && form->b.kind == PT_MTTL_OPERAND_LOOKUP &&
           plan->ways[form->b.index].params != PT_MTTL_NONE;
}

static bool is_comparison(const struct pt_mttl_plan *plan, const struct pt_mttl_op *op)
{
    return op->op == PT_MTTL_OP_ATOM && plan->forms[op->arg].kind == PT_MTTL_FORM_COMPARE;
}

static void plan_program(const struct pt_mttl *m, struct pt_mttl_plan *plan, uint32_t from)
{
    for (uint32_t i = from;; i++) {
        const struct pt_mttl_op *op = pt_mttl_at(m, ops, struct pt_mttl_op, i);
        bool exists = op->op == PT_MTTL_OP_EXISTS;
        plan->ops[i] = *op;
        if (op->op == PT_MTTL_OP_END)
            return;
        if (is_comparison(plan, op))
            plan->ops[i].op = PT_MTTL_OP_COMPARE;
        if (op->op == PT_MTTL_OP_NOT && op[1].op == PT_MTTL_OP_IF_TRUE)
            plan->ops[i].op = PT_MTTL_OP_IMPLIES;
        if (!exists && op->op != PT_MTTL_OP_FORALL)
            continue;
        const struct pt_mttl_loop *loop = pt_mttl_at(m, loops, struct pt_mttl_loop, op->arg);
        if (loop->to == i + 2 && is_comparison(plan, op + 1) && compares_exports(plan, op[1].arg))
            plan->ops[i].op = exists ? PT_MTTL_OP_EXISTS_COMPARE : PT_MTTL_OP_FORALL_COMPARE;
    }
}

/* By units: ops behind the last program, which nobody uses, may be anything. */
static void plan_programs(const struct pt_mttl *m, struct pt_mttl_plan *plan)
{
    for (uint32_t u = 0; u < m->units.count; u++) {
        const struct pt_mttl_unit *unit = pt_mttl_unit_at(m, u);
        if (unit->kind == PT_MTTL_VALUE)
            continue;
        plan_program(m, plan, unit->a);
        if (pt_mttl_is_binary(unit->kind))
            plan_program(m, plan, unit->b);
    }
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
    uint32_t keepers = m->threads.count + 1;
    for (uint32_t k = 0; k < keepers; k++)
        plan->kept_from[k] = 1;
    for (uint32_t u = 0; u < m->units.count; u++)
        if (pt_mttl_unit_at(m, u)->kind != PT_MTTL_PROPERTY)
            plan->kept_from[keeper_of(m, u)]++;
    for (uint32_t k = 1; k < keepers; k++)
        plan->kept_from[k] += plan->kept_from[k - 1];
    for (uint32_t k = 0; k < keepers; k++)
        plan->kept[--plan->kept_from[k]] = PT_MTTL_NONE;
    for (uint32_t u = m->units.count; u-- > 0;)
        if (pt_mttl_unit_at(m, u)->kind != PT_MTTL_PROPERTY)
            plan->kept[--plan->kept_from[keeper_of(m, u)]] = u;
}

/* --- memory --- */

/* Tables of the plan, behind each other; those whose elements are aligned to 8 come first. */
size_t pt_mttl_plan_size(const struct pt_mttl *m)
{
    size_t keepers = (size_t)m->threads.count + 1;
    return sizeof(struct pt_mttl_plan) + m->units.count * sizeof(struct pt_mttl_needs) +
           ((size_t)m->constants.count + 1) * sizeof(struct pt_value) + m->atoms.count * sizeof(struct pt_mttl_form) +
           m->lookups.count * sizeof(struct pt_mttl_way) + m->ops.count * sizeof(struct pt_mttl_op) +
           (m->units.count + 2 * keepers) * sizeof(uint32_t);
}

const struct pt_mttl_plan *pt_mttl_plan_make(const struct pt_mttl *m, void *memory)
{
    struct pt_mttl_plan *plan = memory;
    plan->needs = (void *)(plan + 1);
    plan->constants = (void *)(plan->needs + m->units.count);
    plan->forms = (void *)(plan->constants + m->constants.count + 1);
    plan->ways = (void *)(plan->forms + m->atoms.count);
    plan->ops = (void *)(plan->ways + m->lookups.count);
    plan->kept_from = (void *)(plan->ops + m->ops.count);
    plan->kept = plan->kept_from + m->threads.count + 1;
    struct planner p = {.m = m, .plan = plan};
    for (uint32_t u = 0; u < m->units.count; u++)
        plan_unit(&p, u);
    for (uint32_t i = 0; i < m->constants.count; i++)
        plan->constants[i] = plan_constant(m, i);
    plan->constants[m->constants.count] = pt_value_int(0);
    for (uint32_t i = 0; i < m->atoms.count; i++)
        plan->forms[i] = plan_atom(m, pt_mttl_at(m, atoms, struct pt_mttl_atom, i));
    for (uint32_t i = 0; i < m->lookups.count; i++)
        plan->ways[i] = plan_lookup(m, pt_mttl_at(m, lookups, struct pt_mttl_lookup, i));
    plan_programs(m, plan);
    plan_keepers(m, plan);
    return plan;
}
