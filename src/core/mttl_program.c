/*
 * What a thread sees when it evaluates: the values of units, its own and those it has heard of; atoms; and programs
 * over them. Truth is three-valued: an expression without a value (division by zero, ...) makes the comparison it
 * stands in have none, and the program around it ends there.
 *
 * Cost of a program: its length; each quantifier multiplies what is inside it by the number of threads known.
 */
#include <string.h>

#include "core/mttl_run.h"

/* --- looking up --- */

static uint32_t thread_of(const struct run *r, uint32_t reference)
{
    if (reference == PT_MTTL_SELF)
        return r->view->self;
    return reference & PT_MTTL_ENV0 ? r->env[reference - PT_MTTL_ENV0] : reference;
}

struct pt_value pt_mttl_read_entry(const struct pt_mttl_entry *entry, const struct pt_mttl_unit *unit,
                                   const uint32_t *tuple)
{
    uint32_t fitted[PT_MTTL_PARAMS];
    if (unit->params == 0 || (unit->params == 1 && tuple[0] < entry->cap)) /* they fit */
        return entry->cells[pt_mttl_cell_of(unit, tuple, entry->cap)];
    memcpy(fitted, tuple, sizeof fitted);
    pt_mttl_fit(fitted, unit->params, entry->cap);
    return entry->cells[pt_mttl_cell_of(unit, fitted, entry->cap)];
}

/* State 0 of a slot: the slot itself and the tuple are fitted together. */
struct pt_value pt_mttl_read_initial(const struct pt_mttl_initial *initial, const struct pt_mttl_unit *unit,
                                     uint32_t slot, const uint32_t *tuple)
{
    uint32_t fitted[PT_MTTL_PARAMS + 1] = {slot};
    memcpy(fitted + 1, tuple, unit->params * sizeof *tuple);
    pt_mttl_fit(fitted, unit->params + 1, initial->cap);
    const struct pt_mttl_entry *entry =
        (const void *)((const char *)initial->entries + fitted[0] * initial->entry_bytes);
    return entry->cells[pt_mttl_cell_of(unit, fitted + 1, entry->cap)];
}

static struct pt_value look_up(struct run *r, uint32_t index)
{
    const struct pt_mttl_lookup *lookup = pt_mttl_at(r->m, lookups, struct pt_mttl_lookup, index);
    const struct pt_mttl_unit *unit = pt_mttl_unit_at(r->m, lookup->unit);
    uint32_t tuple[PT_MTTL_PARAMS] = {0};
    for (uint32_t k = 0; k < unit->params; k++)
        tuple[k] = thread_of(r, lookup->args[k]);
    if (pt_mttl_is_past(unit->kind)) {
        pt_mttl_fit(tuple, unit->params, r->thread->cap);
        uint8_t byte = pt_mttl_past_bytes(r->m, r->thread)[pt_mttl_cell_of(unit, tuple, r->thread->cap)];
        enum truth truth = byte >> VALUE_SHIFT & TRUTH_MASK;
        if (truth != FAILED)
            return pt_value_bool(truth == YES);
        return (struct pt_value){.kind = PT_VALUE_UNKNOWN, .len = r->thread->fault, .u = r->thread->fault_atom};
    }
    uint32_t slot = thread_of(r, lookup->thread);
    const struct pt_mttl_entry *entry = pt_mttl_entry_of(r, slot);
    struct pt_value value =
        entry ? pt_mttl_read_entry(entry, unit, tuple) : pt_mttl_read_initial(r->view->initial, unit, slot, tuple);
    if (r->seen)
        r->seen(r->context, index, slot, entry == r->next ? NULL : entry, value);
    return value;
}

/* --- atoms --- */

static struct pt_value constant(const struct pt_mttl *m, uint32_t index)
{
    const struct pt_mttl_constant *c = pt_mttl_at(m, constants, struct pt_mttl_constant, index);
    struct pt_value v = {.kind = c->kind, .len = c->len, .u = c->bits};
    if (c->kind == PT_VALUE_STRING)
        v.s = pt_mttl_string(m, (uint32_t)c->bits);
    return v;
}

static struct pt_value operand(struct run *r, const struct pt_mttl_operand *o)
{
    switch (o->kind) {
    case PT_MTTL_OPERAND_CONSTANT:
        return constant(r->m, o->index);
    case PT_MTTL_OPERAND_VAR:
        return r->view->values[o->index];
    case PT_MTTL_OPERAND_LOOKUP:
        return look_up(r, o->index);
    default: {
        const struct pt_mttl_block_state *block = &pt_mttl_block_states(r->thread)[o->index];
        return pt_value_int(block->inside ? block->count : 0);
    }
    }
}

/* Most atoms compare two integers: what pt_code_run says of them; false where it has to be asked. */
static bool compare_integers(const struct pt_insn *code, const struct pt_value *values, struct pt_value *ret)
{
    if (code[0].op != PT_CODE_VAR || code[1].op != PT_CODE_VAR || code[2].op < PT_CODE_EQ || code[2].op > PT_CODE_GE)
        return false;
    struct pt_value a = values[code[0].arg], b = values[code[1].arg];
    if (a.kind != PT_VALUE_INT || b.kind != PT_VALUE_INT)
        return false;
    bool less = a.i < b.i, equal = a.i == b.i;
    *ret = pt_value_bool(code[2].op == PT_CODE_EQ   ? equal
                         : code[2].op == PT_CODE_NE ? !equal
                         : code[2].op == PT_CODE_LT ? less
                         : code[2].op == PT_CODE_LE ? less || equal
                         : code[2].op == PT_CODE_GT ? !less && !equal
                                                    : !less);
    return true;
}

struct pt_value pt_mttl_eval_atom(struct run *r, uint32_t index)
{
    const struct pt_mttl_atom *atom = pt_mttl_at(r->m, atoms, struct pt_mttl_atom, index);
    struct pt_value values[PT_MTTL_OPERANDS], result = {0};
    uint32_t detail = 0;
    if (atom->insn_count == 1 && atom->operand_count == 1) { /* a variable, or what another thread has of one */
        result = operand(r, pt_mttl_at(r->m, operands, struct pt_mttl_operand, atom->operands));
        if (result.kind != PT_VALUE_UNKNOWN || result.len != PT_CODE_OK)
            return result;
    }
    for (uint32_t k = 0; k < atom->operand_count; k++)
        values[k] = operand(r, pt_mttl_at(r->m, operands, struct pt_mttl_operand, atom->operands + k));
    if (atom->insn_count == 3 &&
        compare_integers(pt_mttl_at(r->m, insns, struct pt_insn, atom->insns), values, &result))
        return result;
    struct pt_code code = {
        .insns = pt_mttl_at(r->m, insns, struct pt_insn, atom->insns), .count = atom->insn_count, .depth = atom->depth};
    enum pt_code_result status = pt_code_run(&code, values, &result, &detail);
    if (status == PT_CODE_OK)
        return result;
    if (status == PT_CODE_UNKNOWN_VALUE && values[detail].len != PT_CODE_OK)
        return values[detail]; /* it failed elsewhere, and says so */
    return pt_mttl_failure(status, index);
}

/* --- programs --- */

static enum truth truth_of(struct run *r, struct pt_value value)
{
    if (value.kind != PT_VALUE_UNKNOWN)
        return value.kind == PT_VALUE_BOOL && value.i ? YES : NO;
    r->fault = (uint8_t)value.len;
    r->fault_atom = (uint32_t)value.u;
    return FAILED;
}

static bool is_access(const struct run *r, uint32_t op, uint32_t var)
{
    const struct pt_mttl_event *event = &r->view->event;
    if (event->name != var)
        return false;
    switch (op) {
    case PT_MTTL_OP_READ:
        return event->what == PT_MTTL_READ || event->what == PT_MTTL_UPDATE;
    case PT_MTTL_OP_WRITE:
        return event->what == PT_MTTL_WRITE || event->what == PT_MTTL_UPDATE;
    case PT_MTTL_OP_PLAIN_R:
        return event->what == PT_MTTL_READ && !event->atomic;
    default:
        return event->what == PT_MTTL_WRITE && !event->atomic;
    }
}

/* What race_free(*) exports: which variable, and whether it was written, or read by a thread that had written it. */
enum { ACCESS_NONE, ACCESS_WRITE, ACCESS_READ };

struct pt_value pt_mttl_present_access(const struct run *r)
{
    const struct pt_mttl_event *event = &r->view->event;
    uint32_t access = event->atomic                                 ? ACCESS_NONE
                      : event->what == PT_MTTL_WRITE                ? ACCESS_WRITE
                      : event->what == PT_MTTL_READ && event->wrote ? ACCESS_READ
                                                                    : ACCESS_NONE;
    return (struct pt_value){.kind = PT_VALUE_INT, .len = access, .u = access == ACCESS_NONE ? 0 : event->object};
}

/* The paper's three conjuncts (section 3), for the one variable that the present event accesses. */
static bool races(const struct run *r, struct pt_value theirs)
{
    struct pt_value mine = pt_mttl_present_access(r);
    return mine.len != ACCESS_NONE && theirs.len != ACCESS_NONE && mine.u == theirs.u &&
           (mine.len == ACCESS_WRITE || theirs.len == ACCESS_WRITE);
}

/* The first known thread from `slot` on that the loop ranges over, or PT_MTTL_NONE. */
static uint32_t next_known(const struct run *r, const struct pt_mttl_loop *loop, uint32_t slot)
{
    uint32_t self = r->view->self, count = r->view->known_count > self ? r->view->known_count : self + 1;
    bool excepts = loop->except != PT_MTTL_NO_EXCEPTION;
    uint32_t except = excepts ? thread_of(r, loop->except) : 0;
    for (; slot < count; slot++)
        if (pt_mttl_entry_of(r, slot) && !(excepts && slot == except))
            return slot;
    return PT_MTTL_NONE;
}

/* A past operator's or an exported formula's value, an access: what one op without operands says. */
static enum truth eval_leaf(struct run *r, const struct pt_mttl_op *op)
{
    switch (op->op) {
    case PT_MTTL_OP_CONST:
        return op->arg ? YES : NO;
    case PT_MTTL_OP_ATOM:
        return truth_of(r, pt_mttl_eval_atom(r, op->arg));
    case PT_MTTL_OP_LOOKUP:
        return truth_of(r, look_up(r, op->arg));
    case PT_MTTL_OP_EVENT:
        return r->view->event.what == PT_MTTL_USER && r->view->event.name == op->arg ? YES : NO;
    case PT_MTTL_OP_NO_RACE:
        return races(r, look_up(r, op->arg)) ? NO : YES;
    default:
        return is_access(r, op->op, op->arg) ? YES : NO;
    }
}

/* Enters a loop or goes on with it; false when it is over, with its outcome in *acc. */
static bool iterate(struct run *r, const struct pt_mttl_loop *loop, bool exists, uint32_t from, enum truth *acc)
{
    uint32_t slot = next_known(r, loop, from);
    if (slot == PT_MTTL_NONE) {
        *acc = exists ? NO : YES;
        return false;
    }
    r->env[loop->variable] = slot;
    return true;
}

enum truth pt_mttl_eval_program(struct run *r, uint32_t from)
{
    const struct pt_mttl_op *ops = pt_mttl_at(r->m, ops, struct pt_mttl_op, 0);
    uint64_t stack = 0; /* of truth values, the top in bit 0 */
    enum truth acc = NO;
    for (uint32_t pc = from;;) {
        const struct pt_mttl_op *op = &ops[pc++];
        const struct pt_mttl_loop *loop;
        bool exists;
        switch (op->op) {
        case PT_MTTL_OP_END:
            return acc;
        case PT_MTTL_OP_NOT:
            acc = acc == YES ? NO : YES;
            break;
        case PT_MTTL_OP_IF_TRUE:
            pc = acc == YES ? op->arg : pc;
            break;
        case PT_MTTL_OP_IF_FALSE:
            pc = acc == NO ? op->arg : pc;
            break;
        case PT_MTTL_OP_PUSH:
            stack = stack << 1 | (acc == YES);
            break;
        case PT_MTTL_OP_IFF:
            acc = (stack & 1) == (acc == YES) ? YES : NO;
            stack >>= 1;
            break;
        case PT_MTTL_OP_EXISTS:
        case PT_MTTL_OP_FORALL:
            loop = pt_mttl_at(r->m, loops, struct pt_mttl_loop, op->arg);
            if (!iterate(r, loop, op->op == PT_MTTL_OP_EXISTS, 0, &acc))
                pc = loop->to + 1;
            break;
        case PT_MTTL_OP_NEXT:
            loop = pt_mttl_at(r->m, loops, struct pt_mttl_loop, op->arg);
            exists = ops[loop->from].op == PT_MTTL_OP_EXISTS;
            if ((acc == YES) != exists && iterate(r, loop, exists, r->env[loop->variable] + 1, &acc))
                pc = loop->from + 1;
            break;
        default:
            if ((acc = eval_leaf(r, op)) == FAILED)
                return FAILED;
            break;
        }
    }
}
