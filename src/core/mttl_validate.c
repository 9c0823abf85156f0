/*
 * Whether a block is safe to evaluate, whatever wrote it. Every table lies inside the block, every index inside its
 * table, every string ends, programs and codes keep their stacks, jumps go forward inside their loop, and units use
 * only what was computed before them. Programs stand behind each other without a gap, as do codes, so each is looked at
 * once and the check is linear. It reads nothing it has not found to be inside the block.
 */
#include <string.h>

#include "core/mttl_impl.h"

struct check {
    const struct pt_mttl *m;
    uint32_t ops, loops, insns; /* how far their tables have been used up */
    uint32_t past[PT_MTTL_PARAMS + 1], exports[PT_MTTL_PARAMS + 1];
};

static bool table_fits(const struct pt_mttl *m, struct pt_mttl_table table, uint32_t size, uint32_t align)
{
    return table.offset >= sizeof *m && table.offset % align == 0 && table.offset <= m->bytes &&
           (uint64_t)table.count * size <= m->bytes - table.offset;
}

static bool tables_fit(const struct pt_mttl *m)
{
    return table_fits(m, m->strings, 1, 1) && table_fits(m, m->threads, sizeof(struct pt_mttl_name), 4) &&
           table_fits(m, m->vars, sizeof(struct pt_mttl_name), 4) &&
           table_fits(m, m->events, sizeof(struct pt_mttl_name), 4) &&
           table_fits(m, m->blocks, sizeof(struct pt_mttl_name), 4) &&
           table_fits(m, m->properties, sizeof(struct pt_mttl_property), 4) &&
           table_fits(m, m->units, sizeof(struct pt_mttl_unit), 4) &&
           table_fits(m, m->ops, sizeof(struct pt_mttl_op), 4) &&
           table_fits(m, m->loops, sizeof(struct pt_mttl_loop), 4) &&
           table_fits(m, m->lookups, sizeof(struct pt_mttl_lookup), 4) &&
           table_fits(m, m->atoms, sizeof(struct pt_mttl_atom), 4) &&
           table_fits(m, m->insns, sizeof(struct pt_insn), 4) &&
           table_fits(m, m->operands, sizeof(struct pt_mttl_operand), 4) &&
           table_fits(m, m->constants, sizeof(struct pt_mttl_constant), 8);
}

static bool is_string(const struct pt_mttl *m, uint32_t offset)
{
    return offset < m->strings.count; /* the table's last byte is NUL */
}

static bool names_are_good(const struct pt_mttl *m, struct pt_mttl_table table)
{
    const struct pt_mttl_name *names = (const void *)((const char *)m + table.offset);
    for (uint32_t i = 0; i < table.count; i++)
        if (!is_string(m, names[i].name) || !is_string(m, names[i].target) || !is_string(m, names[i].path))
            return false;
    return true;
}

static bool constants_are_good(const struct pt_mttl *m)
{
    for (uint32_t i = 0; i < m->constants.count; i++) {
        const struct pt_mttl_constant *c = pt_mttl_at(m, constants, struct pt_mttl_constant, i);
        if (c->kind == PT_VALUE_UNKNOWN || c->kind > PT_VALUE_STRING)
            return false;
        if (c->kind == PT_VALUE_STRING && (c->bits >= m->strings.count || c->len >= m->strings.count - c->bits))
            return false;
    }
    return true;
}

static bool is_thread(const struct pt_mttl *m, uint32_t reference)
{
    return reference == PT_MTTL_SELF || reference < m->threads.count ||
           (reference >= PT_MTTL_ENV0 && reference - PT_MTTL_ENV0 < PT_MTTL_ENV);
}

static bool lookups_are_good(const struct pt_mttl *m)
{
    for (uint32_t i = 0; i < m->lookups.count; i++) {
        const struct pt_mttl_lookup *l = pt_mttl_at(m, lookups, struct pt_mttl_lookup, i);
        if (l->unit >= m->units.count || !is_thread(m, l->thread) || !is_string(m, l->text))
            return false;
        const struct pt_mttl_unit *unit = pt_mttl_unit_at(m, l->unit);
        bool past = pt_mttl_is_past(unit->kind);
        if (unit->params > PT_MTTL_PARAMS || (past && l->thread != PT_MTTL_SELF))
            return false;
        if (!past && unit->self != PT_MTTL_ANY && l->thread != unit->self)
            return false; /* only its own thread fills that cell */
        for (uint32_t k = 0; k < unit->params; k++)
            if (!is_thread(m, l->args[k]))
                return false;
    }
    return true;
}

/* --- atoms --- */

static bool code_is_good(const struct pt_mttl *m, const struct pt_mttl_atom *atom)
{
    uint32_t depth = 0;
    for (uint32_t i = 0; i < atom->insn_count; i++) {
        const struct pt_insn *insn = pt_mttl_at(m, insns, struct pt_insn, atom->insns + i);
        switch (insn->op) {
        case PT_CODE_VAR:
            if (insn->arg >= atom->operand_count || ++depth > PT_CODE_MAX_DEPTH)
                return false;
            break;
        case PT_CODE_NEG:
        case PT_CODE_TRUTH:
            if (depth < 1)
                return false;
            break;
        default:
            if (insn->op == PT_CODE_CONST || insn->op > PT_CODE_TRUTH || depth-- < 2)
                return false;
        }
    }
    return depth == 1;
}

static bool operand_is_good(const struct pt_mttl *m, const struct pt_mttl_operand *o)
{
    switch (o->kind) {
    case PT_MTTL_OPERAND_CONSTANT:
        return o->index < m->constants.count;
    case PT_MTTL_OPERAND_VAR:
        return o->index < m->vars.count;
    case PT_MTTL_OPERAND_LOOKUP:
        return o->index < m->lookups.count &&
               pt_mttl_unit_at(m, pt_mttl_at(m, lookups, struct pt_mttl_lookup, o->index)->unit)->kind == PT_MTTL_VALUE;
    case PT_MTTL_OPERAND_BLOCK:
        return o->index < m->blocks.count;
    default:
        return false;
    }
}

static bool atoms_are_good(struct check *c)
{
    const struct pt_mttl *m = c->m;
    for (uint32_t i = 0; i < m->operands.count; i++)
        if (!operand_is_good(m, pt_mttl_at(m, operands, struct pt_mttl_operand, i)))
            return false;
    for (uint32_t i = 0; i < m->atoms.count; i++) {
        const struct pt_mttl_atom *atom = pt_mttl_at(m, atoms, struct pt_mttl_atom, i);
        if (!is_string(m, atom->text) || atom->insns != c->insns || atom->insn_count > m->insns.count - c->insns ||
            atom->operands > m->operands.count || atom->operand_count > m->operands.count - atom->operands ||
            atom->operand_count > PT_MTTL_OPERANDS || !code_is_good(m, atom))
            return false;
        c->insns += atom->insn_count;
    }
    return true;
}

/* --- programs --- */

/* A lookup from unit u: of a unit before it. */
static bool is_earlier(const struct pt_mttl *m, uint32_t lookup, uint32_t u)
{
    return pt_mttl_at(m, lookups, struct pt_mttl_lookup, lookup)->unit < u;
}

static bool atom_is_earlier(const struct pt_mttl *m, uint32_t index, uint32_t u)
{
    if (index >= m->atoms.count)
        return false;
    const struct pt_mttl_atom *atom = pt_mttl_at(m, atoms, struct pt_mttl_atom, index);
    for (uint32_t k = 0; k < atom->operand_count; k++) {
        const struct pt_mttl_operand *o = pt_mttl_at(m, operands, struct pt_mttl_operand, atom->operands + k);
        if (o->kind == PT_MTTL_OPERAND_LOOKUP && !is_earlier(m, o->index, u))
            return false;
    }
    return true;
}

static bool lookup_is_good(const struct pt_mttl *m, const struct pt_mttl_op *op, uint32_t u)
{
    if (op->arg >= m->lookups.count || !is_earlier(m, op->arg, u))
        return false;
    uint32_t kind = pt_mttl_unit_at(m, pt_mttl_at(m, lookups, struct pt_mttl_lookup, op->arg)->unit)->kind;
    return pt_mttl_is_past(kind) || kind == PT_MTTL_FORMULA;
}

/* No loop around it counts with the same variable: each round of a loop then ends, and so do they all. */
static bool variable_is_free(const struct pt_mttl *m, const struct pt_mttl_loop *loop)
{
    for (uint32_t id = loop->outer; id != 0;) {
        const struct pt_mttl_loop *outer = pt_mttl_at(m, loops, struct pt_mttl_loop, id - 1);
        if (outer->variable == loop->variable)
            return false;
        id = outer->outer;
    }
    return loop->variable < PT_MTTL_ENV;
}

/* Loops are numbered in the order in which they begin. */
static bool loop_begins(struct check *c, const struct pt_mttl_op *op, uint32_t pos)
{
    const struct pt_mttl *m = c->m;
    if (op->arg != c->loops || op->arg >= m->loops.count || op->arg >= UINT16_MAX)
        return false;
    const struct pt_mttl_loop *loop = pt_mttl_at(m, loops, struct pt_mttl_loop, op->arg);
    if (loop->from != pos || loop->to <= pos || loop->to >= m->ops.count || loop->outer != op->loop)
        return false;
    const struct pt_mttl_op *next = pt_mttl_at(m, ops, struct pt_mttl_op, loop->to);
    c->loops++;
    return variable_is_free(m, loop) && (loop->except == PT_MTTL_NO_EXCEPTION || is_thread(m, loop->except)) &&
           next->op == PT_MTTL_OP_NEXT && next->arg == op->arg;
}

static bool jump_is_good(const struct pt_mttl *m, const struct pt_mttl_op *op, uint32_t pos)
{
    if (op->arg <= pos || op->arg >= m->ops.count)
        return false;
    const struct pt_mttl_op *target = pt_mttl_at(m, ops, struct pt_mttl_op, op->arg);
    return target->depth == op->depth && target->loop == op->loop;
}

/* An op by itself; *depth and *loop are what must hold at the next one. */
static bool op_is_good(struct check *c, const struct pt_mttl_op *op, uint32_t pos, uint32_t u, uint32_t *depth,
                       uint32_t *loop)
{
    const struct pt_mttl *m = c->m;
    switch (op->op) {
    case PT_MTTL_OP_CONST:
    case PT_MTTL_OP_NOT:
        return true;
    case PT_MTTL_OP_ATOM:
        return atom_is_earlier(m, op->arg, u);
    case PT_MTTL_OP_LOOKUP:
        return lookup_is_good(m, op, u);
    case PT_MTTL_OP_EVENT:
        return op->arg < m->events.count;
    case PT_MTTL_OP_READ:
    case PT_MTTL_OP_WRITE:
        return op->arg < m->vars.count;
    case PT_MTTL_OP_IF_TRUE:
    case PT_MTTL_OP_IF_FALSE:
        return jump_is_good(m, op, pos);
    case PT_MTTL_OP_PUSH:
        return ++*depth <= PT_MTTL_STACK;
    case PT_MTTL_OP_IFF:
        return (*depth)-- > 0;
    case PT_MTTL_OP_EXISTS:
    case PT_MTTL_OP_FORALL:
        *loop = op->arg + 1;
        return loop_begins(c, op, pos);
    case PT_MTTL_OP_NEXT:
        if (*loop == 0 || op->arg != *loop - 1)
            return false;
        *loop = pt_mttl_at(m, loops, struct pt_mttl_loop, op->arg)->outer;
        return pt_mttl_at(m, loops, struct pt_mttl_loop, op->arg)->to == pos &&
               pt_mttl_at(m, ops, struct pt_mttl_op, pt_mttl_at(m, loops, struct pt_mttl_loop, op->arg)->from)->depth ==
                   *depth;
    default:
        return false;
    }
}

/*
 * The program of unit u at `from`, up to its END. Jumps stay inside it: they end at an op with the same `loop`, and
 * since those follow from op to op, at one of the same loop; and no jump may pass the END, which `limit` ensures.
 */
static bool program_is_good(struct check *c, uint32_t from, uint32_t u)
{
    uint32_t depth = 0, loop = 0, limit = 0;
    if (from != c->ops)
        return false;
    for (;; c->ops++) {
        if (c->ops >= c->m->ops.count)
            return false;
        const struct pt_mttl_op *op = pt_mttl_at(c->m, ops, struct pt_mttl_op, c->ops);
        if (op->depth != depth || op->loop != loop)
            return false;
        if (op->op == PT_MTTL_OP_END)
            break;
        if (!op_is_good(c, op, c->ops, u, &depth, &loop))
            return false;
        if ((op->op == PT_MTTL_OP_IF_TRUE || op->op == PT_MTTL_OP_IF_FALSE) && op->arg > limit)
            limit = op->arg;
    }
    return depth == 0 && loop == 0 && limit <= c->ops++;
}

/* --- units --- */

static bool body_is_good(struct check *c, const struct pt_mttl_unit *unit, uint32_t u)
{
    if (unit->kind == PT_MTTL_VALUE)
        return atom_is_earlier(c->m, unit->a, u);
    return program_is_good(c, unit->a, u) && (!pt_mttl_is_binary(unit->kind) || program_is_good(c, unit->b, u));
}

static bool unit_is_good(struct check *c, const struct pt_mttl_unit *unit, uint32_t u)
{
    if (unit->kind > PT_MTTL_PROPERTY || unit->params > PT_MTTL_PARAMS || !is_string(c->m, unit->text) ||
        (unit->self != PT_MTTL_ANY && unit->self >= c->m->threads.count))
        return false;
    if (unit->kind == PT_MTTL_PROPERTY) {
        if (unit->params != 0)
            return false;
    } else {
        uint32_t *sort = pt_mttl_is_past(unit->kind) ? c->past : c->exports;
        if (memcmp(unit->before, sort, sizeof unit->before) != 0)
            return false;
        sort[unit->params]++;
    }
    return body_is_good(c, unit, u);
}

static bool property_is_good(const struct pt_mttl *m, const struct pt_mttl_property *p)
{
    return is_string(m, p->name) && is_string(m, p->text) && is_string(m, p->file) && p->unit < m->units.count &&
           pt_mttl_unit_at(m, p->unit)->kind == PT_MTTL_PROPERTY && pt_mttl_unit_at(m, p->unit)->self == p->at;
}

bool pt_mttl_validate(const void *bytes, size_t size)
{
    const struct pt_mttl *m = bytes;
    struct check c = {.m = m};
    if (size < sizeof *m || (uintptr_t)bytes % 8 != 0 || memcmp(m->magic, PT_MTTL_MAGIC, sizeof m->magic) != 0 ||
        m->version != PT_MTTL_VERSION || m->bytes != size || !tables_fit(m))
        return false;
    if (m->strings.count == 0 || *pt_mttl_string(m, m->strings.count - 1) != '\0' || m->threads.count > PT_MTTL_NAMED ||
        m->units.count > PT_MTTL_MAX_UNITS)
        return false;
    if (!names_are_good(m, m->threads) || !names_are_good(m, m->vars) || !names_are_good(m, m->events) ||
        !names_are_good(m, m->blocks) || !constants_are_good(m) || !lookups_are_good(m) || !atoms_are_good(&c))
        return false;
    for (uint32_t u = 0; u < m->units.count; u++)
        if (!unit_is_good(&c, pt_mttl_unit_at(m, u), u))
            return false;
    for (uint32_t p = 0; p < m->properties.count; p++)
        if (!property_is_good(m, pt_mttl_at(m, properties, struct pt_mttl_property, p)))
            return false;
    return memcmp(c.past, m->past, sizeof c.past) == 0 && memcmp(c.exports, m->exports, sizeof c.exports) == 0 &&
           c.loops == m->loops.count; /* those of no program were not looked at */
}
