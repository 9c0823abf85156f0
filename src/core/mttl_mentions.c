/* Which variables a property speaks of, through all that it looks up, and which block a lookup is about. Units stand
 * operands first, so one pass down. */
#include "core/mttl_impl.h"

static bool atom_mentions(const struct pt_mttl *m, uint32_t index, uint32_t var, uint8_t *marks)
{
    const struct pt_mttl_atom *atom = pt_mttl_at(m, atoms, struct pt_mttl_atom, index);
    bool found = false;
    for (uint32_t i = 0; i < atom->operand_count; i++) {
        const struct pt_mttl_operand *o = pt_mttl_at(m, operands, struct pt_mttl_operand, atom->operands + i);
        if (o->kind == PT_MTTL_OPERAND_VAR)
            found |= o->index == var;
        else if (o->kind == PT_MTTL_OPERAND_LOOKUP)
            marks[pt_mttl_at(m, lookups, struct pt_mttl_lookup, o->index)->unit] = 1;
    }
    return found;
}

static bool program_mentions(const struct pt_mttl *m, uint32_t from, uint32_t var, uint8_t *marks)
{
    bool found = false;
    for (uint32_t pc = from;; pc++) {
        const struct pt_mttl_op *op = pt_mttl_at(m, ops, struct pt_mttl_op, pc);
        if (op->op == PT_MTTL_OP_END)
            return found;
        if (op->op == PT_MTTL_OP_ATOM)
            found |= atom_mentions(m, op->arg, var, marks);
        else if (op->op == PT_MTTL_OP_LOOKUP)
            marks[pt_mttl_at(m, lookups, struct pt_mttl_lookup, op->arg)->unit] = 1;
    }
}

bool pt_mttl_mentions(const struct pt_mttl *m, uint32_t property, uint32_t var, uint8_t *marks)
{
    uint32_t top = pt_mttl_at(m, properties, struct pt_mttl_property, property)->unit;
    bool found = false;
    for (uint32_t u = 0; u < m->units.count; u++)
        marks[u] = u == top;
    for (uint32_t u = top + 1; u-- > 0 && !found;) {
        const struct pt_mttl_unit *unit = pt_mttl_at(m, units, struct pt_mttl_unit, u);
        if (!marks[u])
            continue;
        if (unit->kind == PT_MTTL_VALUE) {
            found = atom_mentions(m, unit->a, var, marks);
            continue;
        }
        found = program_mentions(m, unit->a, var, marks);
        if (pt_mttl_is_binary(unit->kind))
            found |= program_mentions(m, unit->b, var, marks);
    }
    return found;
}

/* atomic_block(B) looks up @other @this B: units that are nothing but a lookup of the next, the last one B itself. Only
 * it can be that (logic/mttl/mttl.c). */
static uint32_t block_of(const struct pt_mttl *m, uint32_t lookup)
{
    for (uint32_t before = UINT32_MAX;;) {
        uint32_t u = pt_mttl_at(m, lookups, struct pt_mttl_lookup, lookup)->unit;
        const struct pt_mttl_unit *unit = pt_mttl_at(m, units, struct pt_mttl_unit, u);
        if (unit->kind != PT_MTTL_VALUE || u >= before)
            return PT_MTTL_NONE;
        const struct pt_mttl_atom *atom = pt_mttl_at(m, atoms, struct pt_mttl_atom, unit->a);
        if (atom->operand_count != 1)
            return PT_MTTL_NONE;
        const struct pt_mttl_operand *o = pt_mttl_at(m, operands, struct pt_mttl_operand, atom->operands);
        if (o->kind != PT_MTTL_OPERAND_LOOKUP)
            return o->kind == PT_MTTL_OPERAND_BLOCK ? o->index : PT_MTTL_NONE;
        lookup = o->index;
        before = u;
    }
}

const char *pt_mttl_disturbed(const struct pt_mttl *m, struct pt_mttl_thread *thread, uint32_t lookup,
                              struct pt_value value)
{
    uint32_t block = value.kind == PT_VALUE_INT && value.i > 0 ? block_of(m, lookup) : PT_MTTL_NONE;
    if (block == PT_MTTL_NONE)
        return NULL;
    const struct pt_mttl_block_state *state = &pt_mttl_block_states(thread)[block];
    if (!state->inside || value.i != (int64_t)state->count)
        return NULL;
    return pt_mttl_string(m, pt_mttl_at(m, blocks, struct pt_mttl_name, block)->name);
}

bool pt_mttl_is_worth_reporting(const struct pt_mttl *m, struct pt_mttl_thread *thread, uint32_t lookup,
                                struct pt_value value)
{
    if (!pt_mttl_is_for_finding(m, lookup))
        return true;
    return pt_mttl_disturbed(m, thread, lookup, value) != NULL;
}
