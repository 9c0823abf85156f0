/*
 * Past operators as in Havelund and Roşu: one remembered truth value each. They combine values that are missing as
 * Kleene's logic does, so that a property fails only if its truth depends on one.
 *
 * Why one of them has no value is remembered once for all, by the operand that failed last. So where one fails or has
 * no value, the order of evaluation shows, and nothing may be left out of the next step: `faulty`.
 */
#include <string.h>

#include "core/mttl_run.h"

static enum truth not3(enum truth a)
{
    return a == FAILED ? FAILED : a == YES ? NO : YES;
}

static enum truth and3(enum truth a, enum truth b)
{
    return a == NO || b == NO ? NO : a == FAILED || b == FAILED ? FAILED : YES;
}

static enum truth or3(enum truth a, enum truth b)
{
    return not3(and3(not3(a), not3(b)));
}

/* The operator's value from its operands and, unless this is the first state, what was remembered. */
static enum truth past_value(uint32_t kind, bool first, enum truth a, enum truth b, enum truth memory,
                             enum truth *ret_memory)
{
    enum truth value = NO;
    *ret_memory = a;
    switch (kind) {
    case PT_MTTL_PREVIOUSLY:
        return first ? a : memory;
    case PT_MTTL_START:
        return first ? NO : and3(a, not3(memory));
    case PT_MTTL_END:
        return first ? NO : and3(not3(a), memory);
    case PT_MTTL_ONCE:
        value = first ? a : or3(a, memory);
        break;
    case PT_MTTL_HISTORICALLY:
        value = first ? a : and3(a, memory);
        break;
    case PT_MTTL_SINCE:
        value = first ? b : or3(b, and3(a, memory));
        break;
    default: /* [a, b): !b since (a && !b); the weak one as if it had begun before the first state */
        value = and3(not3(b), or3(a, first ? (kind == PT_MTTL_INTERVAL_WEAK ? YES : NO) : memory));
        break;
    }
    *ret_memory = value;
    return value;
}

static enum truth eval_operand(struct run *r, uint32_t program)
{
    enum truth truth = pt_mttl_eval_program(r, program);
    if (truth == FAILED) {
        r->faulty = true;
        r->thread->fault = r->fault;
        r->thread->fault_atom = r->fault_atom;
    }
    return truth;
}

/* True when the byte stays as it was. */
static bool step_byte(struct run *r, const struct pt_mttl_unit *unit, uint8_t *byte)
{
    enum truth a = eval_operand(r, unit->a), b = pt_mttl_is_binary(unit->kind) ? eval_operand(r, unit->b) : NO;
    enum truth memory = *byte >> MEMORY_SHIFT & TRUTH_MASK, keep;
    enum truth value = past_value(unit->kind, !r->thread->started, a, b, memory, &keep);
    uint8_t now = (uint8_t)((unsigned)value << VALUE_SHIFT | (unsigned)keep << MEMORY_SHIFT);
    bool same = now == *byte;
    r->faulty |= value == FAILED || keep == FAILED;
    *byte = now;
    return same;
}

bool pt_mttl_step_past(struct run *r, const struct pt_mttl_unit *unit)
{
    uint32_t cap = r->thread->cap, tuple[PT_MTTL_PARAMS] = {0};
    uint8_t *byte = pt_mttl_past_bytes(r->m, r->thread) + pt_mttl_first_cell(unit, cap);
    bool same = true;
    do {
        memcpy(r->env, tuple, sizeof tuple);
        same &= step_byte(r, unit, byte++);
    } while (pt_mttl_advance(tuple, unit->params, cap));
    return same;
}
