/*
 * Letters: the truth of all atoms in one state, interned, so that a machine's step is looked up by two numbers; and
 * effects, what one write does to any letter. An atom over one variable is evaluated once per value written; those over
 * several (joint) for each state in which one of them was.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "logic/monitor/impl.h"

static pt_letter letter_intern(struct pt_monitor *m, struct letter letter)
{
    return pt_strtab_intern(&m->letters, (const char *)&letter, sizeof letter);
}

/* A variable compared with a constant, both signed integers: most atoms are that, and it takes a fifth of running their
 * code. False: it is something else. */
static bool compare_quickly(const struct pt_code *code, const struct pt_value *values, bool *ret_truth)
{
    const struct pt_insn *insns = code->insns;
    if (code->count != 3 || insns[0].op != PT_CODE_VAR || insns[1].op != PT_CODE_CONST)
        return false;
    const struct pt_value *x = &values[insns[0].arg], *y = &code->constants[insns[1].arg];
    if (x->kind != PT_VALUE_INT || y->kind != PT_VALUE_INT)
        return false;
    switch (insns[2].op) {
    case PT_CODE_EQ:
        *ret_truth = x->i == y->i;
        return true;
    case PT_CODE_NE:
        *ret_truth = x->i != y->i;
        return true;
    case PT_CODE_LT:
        *ret_truth = x->i < y->i;
        return true;
    case PT_CODE_LE:
        *ret_truth = x->i <= y->i;
        return true;
    case PT_CODE_GT:
        *ret_truth = x->i > y->i;
        return true;
    case PT_CODE_GE:
        *ret_truth = x->i >= y->i;
        return true;
    default:
        return false;
    }
}

void pt_monitor_eval_atom(const struct pt_atom *atom, uint32_t index, const struct pt_value *values,
                          struct letter *letter)
{
    struct pt_value value;
    uint32_t detail;
    bool truth;
    if (compare_quickly(&atom->code, values, &truth))
        letter->bits |= (uint64_t)truth << index;
    else if (pt_code_run(&atom->code, values, &value, &detail) != PT_CODE_OK)
        letter->unknown |= (uint64_t)1 << index;
    else if (value.i)
        letter->bits |= (uint64_t)1 << index;
}

pt_letter pt_monitor_letter(struct pt_monitor *m, const struct pt_value *values, uint32_t event)
{
    if (m->machine == MACHINE_MODULE) {
        size_t size = m->var_count * sizeof *values;
        char *key = pt_xmalloc(size + sizeof event);
        memcpy(key, values, size);
        memcpy(key + size, &event, sizeof event);
        pt_letter id = pt_strtab_intern(&m->letters, key, size + sizeof event);
        free(key);
        return id;
    }
    struct letter letter = {0, 0};
    for (uint32_t i = 0; i < m->property->atom_count; i++) {
        const struct pt_atom *atom = &m->property->atoms[i];
        if (atom->event == PT_NONE)
            pt_monitor_eval_atom(atom, i, values, &letter);
        else if (event != PT_NONE && m->property->event_sets[event] >> atom->event & 1)
            letter.bits |= (uint64_t)1 << i;
    }
    return letter_intern(m, letter);
}

uint32_t pt_monitor_effect(struct pt_monitor *m, uint32_t var, struct pt_value value)
{
    struct effect effect = {0, 0, 0};
    struct letter letter = {0, 0};
    if (!m->one_value) {
        m->one_value = pt_xcalloc(m->var_count, sizeof *m->one_value);
        m->last_effects = pt_xcalloc(m->var_count, sizeof *m->last_effects);
    }
    m->one_value[var] = value; /* the atoms evaluated here read no other */
    for (uint32_t i = 0; i < m->property->atom_count; i++) {
        const struct pt_atom *atom = &m->property->atoms[i];
        if (atom->event != PT_NONE || atom->var_count != 1 || atom->vars[0] != var)
            continue;
        effect.mask |= (uint64_t)1 << i;
        pt_monitor_eval_atom(atom, i, m->one_value, &letter);
    }
    effect.bits = letter.bits;
    effect.unknown = letter.unknown;
    struct last_effect *last = &m->last_effects[var];
    if (!effect.mask || memcmp(&effect, &last->effect, sizeof effect) != 0)
        *last = (struct last_effect){effect, pt_strtab_intern(&m->effects, (const char *)&effect, sizeof effect)};
    return last->id;
}

uint32_t pt_monitor_constants(const struct pt_monitor *m, uint32_t var, struct pt_value *values, uint32_t most)
{
    uint32_t count = 0;
    for (uint32_t i = 0; m->property && i < m->property->atom_count; i++) {
        const struct pt_atom *atom = &m->property->atoms[i];
        if (atom->event != PT_NONE || atom->var_count != 1 || atom->vars[0] != var)
            continue;
        for (uint32_t k = 0; k < atom->code.count && count < most; k++)
            if (atom->code.insns[k].op == PT_CODE_CONST)
                values[count++] = atom->code.constants[atom->code.insns[k].arg];
    }
    return count;
}

pt_letter pt_monitor_apply(struct pt_monitor *m, pt_letter letter, uint32_t effect)
{
    struct letter l = *pt_monitor_letter_of(m, letter);
    struct effect e;
    memcpy(&e, pt_strtab_text(&m->effects, effect), sizeof e);
    l.bits = (l.bits & ~e.mask) | e.bits;
    l.unknown = (l.unknown & ~e.mask) | e.unknown;
    return letter_intern(m, l);
}

struct pt_joint pt_monitor_eval_joint(const struct pt_monitor *m, const struct pt_value *values)
{
    struct letter l = {0, 0};
    for (uint32_t i = 0; i < m->property->atom_count; i++)
        if (m->property->atoms[i].var_count > 1)
            pt_monitor_eval_atom(&m->property->atoms[i], i, values, &l);
    return (struct pt_joint){l.bits, l.unknown};
}

uint32_t pt_monitor_joint_effect(struct pt_monitor *m, struct pt_joint joint)
{
    struct effect effect = {0, joint.bits, joint.unknown};
    for (uint32_t i = 0; i < m->property->atom_count; i++)
        if (m->property->atoms[i].var_count > 1)
            effect.mask |= (uint64_t)1 << i;
    return pt_strtab_intern(&m->effects, (const char *)&effect, sizeof effect);
}

pt_letter pt_monitor_apply_joint(struct pt_monitor *m, pt_letter letter, uint32_t effect, const struct pt_value *values)
{
    uint32_t joint = pt_monitor_joint_effect(m, pt_monitor_eval_joint(m, values));
    return pt_monitor_apply(m, pt_monitor_apply(m, letter, effect), joint);
}

uint64_t pt_monitor_letter_bits(const struct pt_monitor *m, pt_letter letter)
{
    return pt_monitor_letter_of(m, letter)->bits;
}

pt_letter pt_monitor_with_event(struct pt_monitor *m, pt_letter letter, uint32_t event)
{
    struct letter l = *pt_monitor_letter_of(m, letter);
    for (uint32_t i = 0; i < m->property->atom_count; i++)
        if (m->property->atoms[i].event != PT_NONE && event != PT_NONE &&
            m->property->event_sets[event] >> m->property->atoms[i].event & 1)
            l.bits |= (uint64_t)1 << i;
    return letter_intern(m, l);
}
