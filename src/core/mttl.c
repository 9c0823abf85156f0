/*
 * The evaluator of decentralised properties: one linear pass over a thread's units per state, operands first, so that
 * each subformula is computed once; past operators as in Havelund and Roşu, one remembered truth value each. Truth is
 * three-valued inside: an expression without a value (division by zero, ...) makes the comparison it stands in have
 * none, the program around it ends there, and past operators combine such values as Kleene's logic does, so that a
 * property fails only if its truth depends on it.
 *
 * Cost of a step: the sum over the thread's units of cap^params times the program's length; quantifiers multiply by the
 * number of threads known. No allocation, no lock, no recursion.
 */
#include "core/mttl.h"

#include <string.h>

#include "core/mttl_impl.h"

enum truth { NO, YES, FAILED };

/* The byte of a past operator. */
enum {
    VALUE_SHIFT = 0,  /* enum truth of the operator in the last state */
    MEMORY_SHIFT = 2, /* enum truth of what it compares the next state with */
    TRUTH_MASK = 3,
};

struct run {
    const struct pt_mttl *m;
    const struct pt_mttl_view *view;
    struct pt_mttl_thread *thread;
    struct pt_mttl_entry *next;
    uint32_t env[PT_MTTL_ENV];
    uint8_t fault; /* enum pt_code_result of what failed in the present program, and the atom */
    uint32_t fault_atom;
    bool filling;      /* the table of state 0: `next` holds an earlier pass, ... */
    bool moved;        /* ... from which some cell has now changed */
    pt_mttl_seen seen; /* NULL: nobody asks */
    void *context;
};

/* --- looking up --- */

static uint32_t thread_of(const struct run *r, uint32_t reference)
{
    if (reference == PT_MTTL_SELF)
        return r->view->self;
    return reference & PT_MTTL_ENV0 ? r->env[reference - PT_MTTL_ENV0] : reference;
}

/* The newest entry the thread has of a slot: its own values of the present state, or NULL. */
static const struct pt_mttl_entry *entry_of(const struct run *r, uint32_t slot)
{
    if (slot == r->view->self)
        return r->next;
    return slot < r->view->known_count ? r->view->known[slot] : NULL;
}

static struct pt_value read_entry(const struct pt_mttl_entry *entry, const struct pt_mttl_unit *unit,
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
static struct pt_value read_initial(const struct pt_mttl_initial *initial, const struct pt_mttl_unit *unit,
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
    const struct pt_mttl_entry *entry = entry_of(r, slot);
    struct pt_value value = entry ? read_entry(entry, unit, tuple) : read_initial(r->view->initial, unit, slot, tuple);
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

/* The value that stands for "there is none": why, and which atom was to blame. */
static struct pt_value failure(uint32_t result, uint32_t atom)
{
    return (struct pt_value){.kind = PT_VALUE_UNKNOWN, .len = result, .u = atom};
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

static struct pt_value eval_atom(struct run *r, uint32_t index)
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
    return failure(status, index);
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

static struct pt_value present_access(const struct run *r)
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
    struct pt_value mine = present_access(r);
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
        if (entry_of(r, slot) && !(excepts && slot == except))
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
        return truth_of(r, eval_atom(r, op->arg));
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

static enum truth eval_program(struct run *r, uint32_t from)
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

/* --- past operators --- */

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
    enum truth truth = eval_program(r, program);
    if (truth == FAILED) {
        r->thread->fault = r->fault;
        r->thread->fault_atom = r->fault_atom;
    }
    return truth;
}

/* True when the byte stays as it was. */
static bool step_past(struct run *r, const struct pt_mttl_unit *unit, uint8_t *byte)
{
    enum truth a = eval_operand(r, unit->a), b = pt_mttl_is_binary(unit->kind) ? eval_operand(r, unit->b) : NO;
    enum truth memory = *byte >> MEMORY_SHIFT & TRUTH_MASK, keep;
    enum truth value = past_value(unit->kind, !r->thread->started, a, b, memory, &keep);
    uint8_t now = (uint8_t)((unsigned)value << VALUE_SHIFT | (unsigned)keep << MEMORY_SHIFT);
    bool same = now == *byte;
    *byte = now;
    return same;
}

/* --- a step --- */

static struct pt_value eval_export(struct run *r, const struct pt_mttl_unit *unit)
{
    if (unit->kind == PT_MTTL_ACCESS)
        return present_access(r);
    if (unit->kind == PT_MTTL_VALUE)
        return eval_atom(r, unit->a);
    enum truth truth = eval_program(r, unit->a);
    return truth == FAILED ? failure(r->fault, r->fault_atom) : pt_value_bool(truth == YES);
}

static bool same_value(struct pt_value a, struct pt_value b)
{
    if (a.kind != b.kind || a.len != b.len)
        return false;
    return a.kind == PT_VALUE_STRING ? a.len == 0 || memcmp(a.s, b.s, a.len) == 0 : a.u == b.u;
}

/* Whether the export differs from the entry that the thread showed last. */
static bool is_news(const struct run *r, const struct pt_mttl_unit *unit, const uint32_t *tuple, uint64_t cell,
                    struct pt_value value)
{
    uint32_t self = r->view->self;
    const struct pt_mttl_entry *last = self < r->view->known_count ? r->view->known[self] : NULL;
    if (last && last->cap == r->thread->cap)
        return !same_value(last->cells[cell], value);
    if (last)
        return !same_value(read_entry(last, unit, tuple), value);
    return r->thread->started && !same_value(read_initial(r->view->initial, unit, self, tuple), value);
}

/*
 * The commonest export with a parameter is another thread's plain value handed on, `@i x`: its cells are those of the
 * entries known, and need no program. Returns the unit that is handed on, or NULL.
 */
static const struct pt_mttl_unit *handed_on(const struct run *r, const struct pt_mttl_unit *unit)
{
    if (unit->kind != PT_MTTL_VALUE || unit->params != 1 || r->filling)
        return NULL;
    const struct pt_mttl_atom *atom = pt_mttl_at(r->m, atoms, struct pt_mttl_atom, unit->a);
    const struct pt_mttl_operand *o = pt_mttl_at(r->m, operands, struct pt_mttl_operand, atom->operands);
    if (atom->insn_count != 1 || atom->operand_count != 1 || o->kind != PT_MTTL_OPERAND_LOOKUP)
        return NULL;
    const struct pt_mttl_lookup *lookup = pt_mttl_at(r->m, lookups, struct pt_mttl_lookup, o->index);
    const struct pt_mttl_unit *from = pt_mttl_unit_at(r->m, lookup->unit);
    return lookup->thread == PT_MTTL_ENV0 && from->params == 0 ? from : NULL;
}

static unsigned hand_on(struct run *r, const struct pt_mttl_unit *unit, const struct pt_mttl_unit *from)
{
    unsigned flags = PT_MTTL_STABLE;
    uint32_t cap = r->thread->cap, self = r->view->self, tuple[PT_MTTL_PARAMS] = {0};
    const struct pt_mttl_entry *last = self < r->view->known_count ? r->view->known[self] : NULL;
    struct pt_value *cells = r->next->cells + pt_mttl_cell_of(unit, tuple, cap);
    const struct pt_value *shown = last && last->cap == cap ? last->cells + (cells - r->next->cells) : NULL;
    for (uint32_t *slot = tuple; *slot < cap; ++*slot) {
        const struct pt_mttl_entry *entry = entry_of(r, *slot);
        struct pt_value value = entry ? entry->cells[pt_mttl_cell_of(from, tuple, entry->cap)]
                                      : read_initial(r->view->initial, from, *slot, tuple);
        if (value.kind == PT_VALUE_UNKNOWN && value.len == PT_CODE_OK) /* without a value from here on, as any atom */
            value = failure(PT_CODE_UNKNOWN_VALUE, unit->a);
        if (shown ? !same_value(shown[*slot], value)
                  : is_news(r, unit, tuple, (uint64_t)(cells - r->next->cells) + *slot, value))
            flags |= PT_MTTL_EXPORTED;
        cells[*slot] = value;
    }
    return flags;
}

/* One unit for all its tuples; returns PT_MTTL_EXPORTED, and PT_MTTL_STABLE unless a past operator moved. */
static unsigned step_unit(struct run *r, const struct pt_mttl_unit *unit)
{
    unsigned flags = PT_MTTL_STABLE;
    uint32_t cap = r->thread->cap, tuple[PT_MTTL_PARAMS] = {0};
    uint64_t cell = pt_mttl_cell_of(unit, tuple, cap);
    const struct pt_mttl_unit *from = handed_on(r, unit);
    if (from)
        return hand_on(r, unit, from);
    do {
        memcpy(r->env, tuple, sizeof tuple);
        if (pt_mttl_is_past(unit->kind)) {
            if (!step_past(r, unit, &pt_mttl_past_bytes(r->m, r->thread)[cell]))
                flags &= ~(unsigned)PT_MTTL_STABLE;
        } else {
            struct pt_value value = eval_export(r, unit);
            if (r->filling)
                r->moved |= !same_value(r->next->cells[cell], value);
            else if (is_news(r, unit, tuple, cell, value))
                flags |= PT_MTTL_EXPORTED;
            r->next->cells[cell] = value;
        }
        cell++;
    } while (pt_mttl_advance(tuple, unit->params, cap));
    return flags;
}

static void enter_or_leave(const struct run *r)
{
    const struct pt_mttl_event *event = &r->view->event;
    if (event->name >= r->m->blocks.count)
        return;
    struct pt_mttl_block_state *block = &pt_mttl_block_states(r->thread)[event->name];
    if (event->what == PT_MTTL_ENTER && block->inside++ == 0)
        block->count++;
    if (event->what == PT_MTTL_LEAVE && block->inside > 0)
        block->inside--;
}

static unsigned judge(struct run *r, uint32_t index, struct pt_mttl_verdict *ret)
{
    const struct pt_mttl_property *property = pt_mttl_at(r->m, properties, struct pt_mttl_property, index);
    *ret = (struct pt_mttl_verdict){.kind = PT_MTTL_NOT_HERE, .atom = PT_MTTL_NONE};
    if (property->at != PT_MTTL_ANY && property->at != r->view->self)
        return 0;
    enum truth truth = eval_program(r, pt_mttl_unit_at(r->m, property->unit)->a);
    ret->kind = truth == YES ? PT_MTTL_HOLDS : truth == NO ? PT_MTTL_VIOLATED : PT_MTTL_FAILED;
    if (truth == FAILED) {
        ret->result = r->fault;
        ret->atom = r->fault_atom;
    }
    return truth == YES ? 0 : PT_MTTL_BROKEN;
}

static struct run begin(const struct pt_mttl *m, const struct pt_mttl_view *view, struct pt_mttl_thread *thread,
                        struct pt_mttl_entry *next)
{
    return (struct run){.m = m, .view = view, .thread = thread, .next = next, .fault_atom = PT_MTTL_NONE};
}

static unsigned step_units(struct run *r)
{
    unsigned flags = PT_MTTL_STABLE;
    r->next->slot = r->view->self;
    r->next->cap = r->thread->cap;
    r->next->used = r->view->used;
    if (r->view->event.what == PT_MTTL_ENTER || r->view->event.what == PT_MTTL_LEAVE)
        enter_or_leave(r);
    for (uint32_t u = 0; u < r->m->units.count; u++) {
        const struct pt_mttl_unit *unit = pt_mttl_unit_at(r->m, u);
        if (unit->kind == PT_MTTL_PROPERTY || !pt_mttl_is_kept_by(unit, r->view->self))
            continue;
        unsigned now = step_unit(r, unit);
        flags = (flags & now & PT_MTTL_STABLE) | ((flags | now) & PT_MTTL_EXPORTED);
    }
    return r->thread->started ? flags : flags & ~(unsigned)PT_MTTL_STABLE;
}

unsigned pt_mttl_step(const struct pt_mttl *m, const struct pt_mttl_view *view, struct pt_mttl_thread *thread,
                      struct pt_mttl_entry *next, struct pt_mttl_verdict *verdicts)
{
    struct run r = begin(m, view, thread, next);
    unsigned flags = step_units(&r);
    for (uint32_t p = 0; p < m->properties.count; p++)
        flags |= judge(&r, p, &verdicts[p]);
    thread->started = true;
    return flags;
}

void pt_mttl_explain(const struct pt_mttl *m, const struct pt_mttl_view *view, struct pt_mttl_thread *thread,
                     struct pt_mttl_entry *next, uint32_t property, pt_mttl_seen seen, void *context)
{
    struct run r = begin(m, view, thread, next);
    r.seen = seen;
    r.context = context;
    (void)eval_program(&r, pt_mttl_unit_at(m, pt_mttl_at(m, properties, struct pt_mttl_property, property)->unit)->a);
}

/* --- state 0 --- */

static struct pt_mttl_entry *initial_entry(struct pt_mttl_initial *initial, uint32_t slot)
{
    return (void *)((char *)initial->entries + slot * initial->entry_bytes);
}

/* State 0 of one thread, in which the other threads are as the table has them so far; true when a cell has changed. */
static bool fill_slot(const struct pt_mttl *m, const struct pt_value *values, struct pt_mttl_thread *thread,
                      struct pt_mttl_initial *initial, uint32_t slot)
{
    struct pt_mttl_view view = {.self = slot,
                                .event = {.what = PT_MTTL_OTHER, .name = PT_MTTL_NONE},
                                .values = values,
                                .used = m->threads.count,
                                .initial = initial};
    pt_mttl_thread_init(m, thread, slot, initial->cap);
    struct run r = begin(m, &view, thread, initial_entry(initial, slot));
    r.filling = true;
    (void)step_units(&r);
    return r.moved;
}

/*
 * An export that asks about no other thread is right after the first pass, one that asks about such exports after the
 * second, and so on: as many passes as @ are nested, and one in which nothing changes.
 */
void pt_mttl_initial_fill(const struct pt_mttl *m, const struct pt_value *values, void *scratch,
                          struct pt_mttl_initial *ret_initial)
{
    uint32_t cap = pt_mttl_initial_cap(m);
    uint64_t entry_bytes = pt_mttl_entry_size(m, cap);
    memset(ret_initial, 0, sizeof *ret_initial);
    memset(ret_initial->entries, 0, cap * entry_bytes);
    ret_initial->cap = cap;
    ret_initial->entry_bytes = entry_bytes;
    for (uint32_t slot = 0; slot < cap; slot++)
        initial_entry(ret_initial, slot)->cap = cap;
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t slot = 0; slot < cap; slot++)
            moved |= fill_slot(m, values, scratch, ret_initial, slot);
    }
}
