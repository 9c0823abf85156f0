/*
 * What a thread sees when it evaluates: the values of units, its own and those it has heard of; atoms; and programs
 * over them. Truth is three-valued: an expression without a value (division by zero, ...) makes the comparison it
 * stands in have none, and the program around it ends there. Steps run the plan's copy of programs,
 * which takes short cuts for integers; whoever wants to hear of lookups (pt_mttl_explain) gets the block's own.
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

const struct pt_value *pt_mttl_entry_cell(const struct pt_mttl_entry *entry, const struct pt_mttl_unit *unit,
                                          const uint32_t *tuple)
{
    uint32_t fitted[PT_MTTL_PARAMS];
    memcpy(fitted, tuple, sizeof fitted);
    pt_mttl_fit(fitted, unit->params, entry->cap);
    return &entry->cells[pt_mttl_cell_of(unit, fitted, entry->cap)];
}

/* The slot itself and the tuple are fitted together. */
const struct pt_value *pt_mttl_initial_cell(const struct pt_mttl_initial *initial, const struct pt_mttl_unit *unit,
                                            uint32_t slot, const uint32_t *tuple)
{
    uint32_t fitted[PT_MTTL_PARAMS + 1] = {slot};
    memcpy(fitted + 1, tuple, unit->params * sizeof *tuple);
    pt_mttl_fit(fitted, unit->params + 1, initial->cap);
    const struct pt_mttl_entry *entry = pt_mttl_initial_entry(initial, fitted[0]);
    return &entry->cells[pt_mttl_cell_of(unit, fitted + 1, entry->cap)];
}

static SELDOM const struct pt_value *find_cell(const struct run *r, const struct pt_mttl_lookup *lookup, uint32_t slot,
                                               const struct pt_mttl_entry *entry)
{
    const struct pt_mttl_unit *unit = pt_mttl_unit_at(r->m, lookup->unit);
    uint32_t tuple[PT_MTTL_PARAMS] = {0};
    for (uint32_t k = 0; k < unit->params; k++)
        tuple[k] = thread_of(r, lookup->args[k]);
    return entry ? pt_mttl_entry_cell(entry, unit, tuple) : pt_mttl_initial_cell(r->view->initial, unit, slot, tuple);
}

/* The cell where a way leads in an entry. A slot at or beyond the cap is the last one below it, as in pt_mttl_fit. */
static inline const struct pt_value *cell_on(const struct pt_mttl_way *way, const struct pt_mttl_entry *entry,
                                             uint32_t arg)
{
    uint32_t fitted = way->params && arg >= entry->cap ? entry->cap - 1 : arg;
    return &entry->cells[pt_mttl_cells_at(way->cells, entry->cap) + fitted];
}

/* What the newest entry of a thread, or its state 0, has in an export. */
static const struct pt_value *look_up(const struct run *r, uint32_t index)
{
    const struct pt_mttl_way *way = &r->plan->ways[index];
    uint32_t slot = thread_of(r, way->thread);
    const struct pt_mttl_entry *entry = pt_mttl_entry_of(r, slot);
    if (entry && way->params != PT_MTTL_NONE)
        return cell_on(way, entry, way->params ? thread_of(r, way->arg) : 0);
    return find_cell(r, pt_mttl_at(r->m, lookups, struct pt_mttl_lookup, index), slot, entry);
}

static SELDOM void note_lookup(const struct run *r, uint32_t index)
{
    uint32_t slot = thread_of(r, pt_mttl_at(r->m, lookups, struct pt_mttl_lookup, index)->thread);
    const struct pt_mttl_entry *entry = pt_mttl_entry_of(r, slot);
    r->seen(r->context, index, slot, entry == r->next ? NULL : entry, *look_up(r, index));
}

/* --- atoms --- */

/* Where an operand's value is; *room is for one that is nowhere yet. */
static inline const struct pt_value *operand(const struct run *r, const struct pt_mttl_operand *o,
                                             struct pt_value *room)
{
    if (o->kind == PT_MTTL_OPERAND_VAR)
        return &r->view->values[o->index];
    if (o->kind == PT_MTTL_OPERAND_CONSTANT)
        return &r->plan->constants[o->index];
    if (o->kind == PT_MTTL_OPERAND_LOOKUP)
        return look_up(r, o->index);
    const struct pt_mttl_block_state *block = &pt_mttl_block_states(r->thread)[o->index];
    *room = pt_value_int(block->inside ? block->count : 0);
    return room;
}

static SELDOM struct pt_value run_code(const struct run *r, uint32_t index)
{
    const struct pt_mttl_atom *atom = pt_mttl_at(r->m, atoms, struct pt_mttl_atom, index);
    struct pt_value values[PT_MTTL_OPERANDS], result = {0};
    uint32_t detail = 0;
    for (uint32_t k = 0; k < atom->operand_count; k++) {
        const struct pt_mttl_operand *o = pt_mttl_at(r->m, operands, struct pt_mttl_operand, atom->operands + k);
        values[k] = *operand(r, o, &values[k]);
        if (r->seen && o->kind == PT_MTTL_OPERAND_LOOKUP)
            note_lookup(r, o->index);
    }
    struct pt_code code = {
        .insns = pt_mttl_at(r->m, insns, struct pt_insn, atom->insns), .count = atom->insn_count, .depth = atom->depth};
    enum pt_code_result status = pt_code_run(&code, values, &result, &detail);
    if (status == PT_CODE_OK)
        return result;
    if (status == PT_CODE_UNKNOWN_VALUE && values[detail].len != PT_CODE_OK)
        return values[detail]; /* it failed elsewhere, and says so */
    return pt_mttl_failure(status, index);
}

struct pt_value pt_mttl_eval_atom(const struct run *r, uint32_t index)
{
    const struct pt_mttl_form *form = &r->plan->forms[index];
    struct pt_value room;
    const struct pt_value *value = form->kind == PT_MTTL_FORM_COPY ? operand(r, &form->a, &room) : NULL;
    if (value && (value->kind != PT_VALUE_UNKNOWN || value->len != PT_CODE_OK))
        return *value;
    return run_code(r, index);
}

/* --- programs --- */

static enum truth fail(struct run *r, uint32_t result, uint32_t atom)
{
    r->fault = (uint8_t)result;
    r->fault_atom = atom;
    return FAILED;
}

static enum truth truth_of(struct run *r, struct pt_value value)
{
    if (value.kind != PT_VALUE_UNKNOWN)
        return value.kind == PT_VALUE_BOOL && value.i ? YES : NO;
    return fail(r, value.len, (uint32_t)value.u);
}

static SELDOM enum truth test_atom(struct run *r, uint32_t index)
{
    return truth_of(r, run_code(r, index));
}

static inline enum truth compare(const struct pt_mttl_form *form, int64_t a, int64_t b)
{
    return form->accepts >> ((a >= b) + (a > b)) & 1 ? YES : NO;
}

/* Most atoms compare two integers. */
static inline enum truth test_comparison(struct run *r, uint32_t index)
{
    const struct pt_mttl_form *form = &r->plan->forms[index];
    struct pt_value room[2];
    const struct pt_value *a = operand(r, &form->a, &room[0]), *b = operand(r, &form->b, &room[1]);
    return a->kind == PT_VALUE_INT && b->kind == PT_VALUE_INT ? compare(form, a->i, b->i) : test_atom(r, index);
}

static enum truth test_past(struct run *r, const struct pt_mttl_lookup *lookup, const struct pt_mttl_unit *unit)
{
    uint32_t tuple[PT_MTTL_PARAMS] = {0}, cap = r->thread->cap;
    for (uint32_t k = 0; k < unit->params; k++)
        tuple[k] = thread_of(r, lookup->args[k]);
    pt_mttl_fit(tuple, unit->params, cap);
    uint8_t byte = pt_mttl_past_bytes(r->m, r->thread)[pt_mttl_cell_of(unit, tuple, cap)];
    enum truth truth = byte >> VALUE_SHIFT & TRUTH_MASK;
    return truth == FAILED ? fail(r, r->thread->fault, r->thread->fault_atom) : truth;
}

static enum truth test_lookup(struct run *r, uint32_t index)
{
    const struct pt_mttl_lookup *lookup = pt_mttl_at(r->m, lookups, struct pt_mttl_lookup, index);
    const struct pt_mttl_unit *unit = pt_mttl_unit_at(r->m, lookup->unit);
    if (pt_mttl_is_past(unit->kind))
        return test_past(r, lookup, unit);
    if (r->seen)
        note_lookup(r, index);
    return truth_of(r, *look_up(r, index));
}

static bool is_access(const struct run *r, uint32_t op, uint32_t var)
{
    const struct pt_mttl_event *event = &r->view->event;
    if (event->name != var)
        return false;
    return event->what == PT_MTTL_UPDATE || event->what == (op == PT_MTTL_OP_READ ? PT_MTTL_READ : PT_MTTL_WRITE);
}

/* All threads known have smaller slots. */
static inline uint32_t known_end(const struct run *r)
{
    return r->view->known_count > r->view->self ? r->view->known_count : r->view->self + 1;
}

/* The first known thread from `slot` on that the loop ranges over, or PT_MTTL_NONE. */
static uint32_t next_known(const struct run *r, const struct pt_mttl_loop *loop, uint32_t slot)
{
    uint32_t except = loop->except == PT_MTTL_NO_EXCEPTION ? PT_MTTL_NONE : thread_of(r, loop->except);
    for (uint32_t end = known_end(r); slot < end; slot++)
        if (pt_mttl_entry_of(r, slot) && slot != except)
            return slot;
    return PT_MTTL_NONE;
}

/* What one op without operands says: an atom, a past operator's or an exported formula's value, an access. */
static enum truth eval_leaf(struct run *r, const struct pt_mttl_op *op)
{
    switch (op->op) {
    case PT_MTTL_OP_CONST:
        return op->arg ? YES : NO;
    case PT_MTTL_OP_ATOM:
        return test_atom(r, op->arg);
    case PT_MTTL_OP_LOOKUP:
        return test_lookup(r, op->arg);
    case PT_MTTL_OP_EVENT:
        return r->view->event.what == PT_MTTL_USER && r->view->event.name == op->arg ? YES : NO;
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

/* EXISTS or FORALL at `op`; returns where to go on. */
static const struct pt_mttl_op *enter_loop(struct run *r, const struct pt_mttl_op *op, enum truth *acc)
{
    const struct pt_mttl_loop *loop = pt_mttl_at(r->m, loops, struct pt_mttl_loop, op->arg);
    return iterate(r, loop, op->op == PT_MTTL_OP_EXISTS, 0, acc) ? op + 1 : op + (loop->to + 1 - loop->from);
}

/*
 * EXISTS_COMPARE or FORALL_COMPARE: one pass over the threads known. In the lookup the loop's variable may be the
 * thread asked (`@j x`), the one asked about (`@i @j x`), both or neither; all else stays the same.
 */
static enum truth compare_each(struct run *r, const struct pt_mttl_op *op, bool exists)
{
    const struct pt_mttl_loop *loop = pt_mttl_at(r->m, loops, struct pt_mttl_loop, op->arg);
    const struct pt_mttl_form *form = &r->plan->forms[op[1].arg];
    const struct pt_mttl_way *way = &r->plan->ways[form->b.index];
    struct pt_value room;
    const struct pt_value *a = operand(r, &form->a, &room);
    uint32_t variable = PT_MTTL_ENV0 + loop->variable, arg = way->params ? thread_of(r, way->arg) : 0;
    bool ask_each = way->thread == variable, about_each = way->params && way->arg == variable;
    const struct pt_mttl_entry *asked = ask_each ? NULL : pt_mttl_entry_of(r, thread_of(r, way->thread));
    uint32_t except = loop->except == PT_MTTL_NO_EXCEPTION ? PT_MTTL_NONE : thread_of(r, loop->except);
    for (uint32_t slot = 0, end = known_end(r); slot < end; slot++) {
        const struct pt_mttl_entry *known = pt_mttl_entry_of(r, slot), *entry = ask_each ? known : asked;
        if (!known || slot == except)
            continue;
        const struct pt_value *b = entry ? cell_on(way, entry, about_each ? slot : arg) : NULL;
        enum truth truth;
        if (b && a->kind == PT_VALUE_INT && b->kind == PT_VALUE_INT) {
            truth = compare(form, a->i, b->i);
        } else {
            r->env[loop->variable] = slot;
            truth = test_atom(r, op[1].arg);
        }
        if (truth == FAILED || (truth == YES) == exists)
            return truth;
    }
    return exists ? NO : YES;
}

/* Whether the loop is one that atomic_block stands for. */
static SELDOM bool is_for_finding(const struct run *r, const struct pt_mttl_op *from, const struct pt_mttl_op *to)
{
    bool any = false;
    for (const struct pt_mttl_op *op = from; op < to; op++) {
        any |= op->op == PT_MTTL_OP_LOOKUP && pt_mttl_is_for_finding(r->m, op->arg);
        if (op->op != PT_MTTL_OP_ATOM)
            continue;
        const struct pt_mttl_atom *atom = pt_mttl_at(r->m, atoms, struct pt_mttl_atom, op->arg);
        for (uint32_t k = 0; k < atom->operand_count; k++) {
            const struct pt_mttl_operand *o = pt_mttl_at(r->m, operands, struct pt_mttl_operand, atom->operands + k);
            any |= o->kind == PT_MTTL_OPERAND_LOOKUP && pt_mttl_is_for_finding(r->m, o->index);
        }
    }
    return any;
}

/* Whoever asks why hears of other threads that race or disturb, too, and not only of the first one, which decides. */
static SELDOM const struct pt_mttl_op *go_round_all(struct run *r, const struct pt_mttl_loop *loop,
                                                    const struct pt_mttl_op *from, const struct pt_mttl_op *op,
                                                    bool exists, enum truth *acc)
{
    enum { FURTHER = 64 }; /* threads that are looked at once it is decided: there may be thousands */
    uint32_t bit = 1u << loop->variable;
    if (!(r->decided & bit) && (*acc == YES) == exists) {
        r->decided |= bit;
        r->further = is_for_finding(r, from, op) ? FURTHER : 0;
    }
    bool decided = r->decided & bit, more = !decided || r->further > 0;
    r->further -= decided && more;
    if (more && iterate(r, loop, exists, r->env[loop->variable] + 1, acc))
        return from + 1;
    if (decided)
        *acc = exists ? YES : NO;
    r->decided &= ~bit;
    return op + 1;
}

/* NEXT at `op`: the loop's body has come to *acc. */
static const struct pt_mttl_op *go_round(struct run *r, const struct pt_mttl_op *op, enum truth *acc)
{
    const struct pt_mttl_loop *loop = pt_mttl_at(r->m, loops, struct pt_mttl_loop, op->arg);
    const struct pt_mttl_op *from = op - (loop->to - loop->from);
    bool exists = from->op == PT_MTTL_OP_EXISTS;
    if (r->seen)
        return go_round_all(r, loop, from, op, exists, acc);
    if ((*acc == YES) != exists && iterate(r, loop, exists, r->env[loop->variable] + 1, acc))
        return from + 1;
    return op + 1;
}

enum truth pt_mttl_eval_program(struct run *r, uint32_t from)
{
    const struct pt_mttl_op *ops = r->ops, *op = ops + from;
    uint64_t stack = 0; /* of truth values, the top in bit 0 */
    enum truth acc = NO;
    while (acc != FAILED) {
        switch (op->op) {
        case PT_MTTL_OP_END:
            return acc;
        case PT_MTTL_OP_COMPARE:
            acc = test_comparison(r, op->arg);
            op++;
            break;
        case PT_MTTL_OP_NOT:
            acc = acc == YES ? NO : YES;
            op++;
            break;
        case PT_MTTL_OP_IMPLIES:
            op = acc == NO ? ops + op[1].arg : op + 2;
            acc = acc == NO ? YES : NO;
            break;
        case PT_MTTL_OP_IF_TRUE:
            op = acc == YES ? ops + op->arg : op + 1;
            break;
        case PT_MTTL_OP_IF_FALSE:
            op = acc == NO ? ops + op->arg : op + 1;
            break;
        case PT_MTTL_OP_PUSH:
            stack = stack << 1 | (acc == YES);
            op++;
            break;
        case PT_MTTL_OP_IFF:
            acc = (stack & 1) == (acc == YES) ? YES : NO;
            stack >>= 1;
            op++;
            break;
        case PT_MTTL_OP_EXISTS:
        case PT_MTTL_OP_FORALL:
            op = enter_loop(r, op, &acc);
            break;
        case PT_MTTL_OP_EXISTS_COMPARE:
        case PT_MTTL_OP_FORALL_COMPARE:
            acc = compare_each(r, op, op->op == PT_MTTL_OP_EXISTS_COMPARE);
            op += 3;
            break;
        case PT_MTTL_OP_NEXT:
            op = go_round(r, op, &acc);
            break;
        default:
            acc = eval_leaf(r, op++);
            break;
        }
    }
    return FAILED;
}
