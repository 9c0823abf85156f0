/* How the values of units lie in memory, and the plan; shared by the files of the evaluator, and nothing else. */
#ifndef PT_CORE_MTTL_IMPL_H
#define PT_CORE_MTTL_IMPL_H

#include "core/mttl.h"

struct pt_mttl_block_state {
    uint32_t inside; /* executions entered and not left */
    uint32_t count;  /* executions so far, outermost ones */
};

static inline bool pt_mttl_is_past(uint32_t kind)
{
    return kind < PT_MTTL_FORMULA;
}

static inline bool pt_mttl_is_export(uint32_t kind)
{
    return kind == PT_MTTL_FORMULA || kind == PT_MTTL_VALUE;
}

static inline bool pt_mttl_is_binary(uint32_t kind)
{
    switch (kind) {
#define PT_OPERATOR_PAST(name, operands, ...)                                                                          \
    case PT_MTTL_##name:                                                                                               \
        return (operands) == 2;
#include "core/operators.def"
    default:
        return false;
    }
}

static inline const struct pt_mttl_unit *pt_mttl_unit_at(const struct pt_mttl *m, uint32_t index)
{
    return pt_mttl_at(m, units, struct pt_mttl_unit, index);
}

static inline bool pt_mttl_is_kept_by(const struct pt_mttl_unit *unit, uint32_t slot)
{
    return unit->self == PT_MTTL_ANY || unit->self == slot;
}

/* The sum of counts[k] * cap^k, saturating. */
uint64_t pt_mttl_cells(const uint32_t *counts, uint64_t cap);
/* Slots at or beyond the cap become unused ones below it; equal ones stay equal, different ones different. */
void pt_mttl_fit(uint32_t *slots, uint32_t count, uint32_t cap);
/* The next tuple in the order of their cells; false after the last. */
bool pt_mttl_advance(uint32_t *tuple, uint32_t params, uint32_t cap);
/* State 0 is tabulated for the named threads and as many nameless ones as a thread and a tuple can be. */
uint32_t pt_mttl_initial_cap(const struct pt_mttl *m);

/* Where a unit's cells begin: pt_mttl_cells(unit->before, cap), which does not overflow: there is memory for so many.
 */
static inline uint64_t pt_mttl_first_cell(const struct pt_mttl_unit *unit, uint64_t cap)
{
    _Static_assert(PT_MTTL_PARAMS == 3, "written out below");
    uint64_t cell = unit->before[0] + cap * unit->before[1];
    if (unit->before[2] | unit->before[3])
        cell += cap * cap * (unit->before[2] + cap * unit->before[3]);
    return cell;
}

/* The index of a tuple's cell. */
static inline uint64_t pt_mttl_cell_of(const struct pt_mttl_unit *unit, const uint32_t *tuple, uint32_t cap)
{
    uint64_t index = 0;
    for (uint32_t k = 0; k < unit->params; k++)
        index = index * cap + tuple[k];
    return index + pt_mttl_first_cell(unit, cap);
}

/* --- the plan: see mttl_plan.c --- */

/* What besides view->changed a unit may depend on. */
enum pt_mttl_also {
    PT_MTTL_ALSO_WHOLE = 1, /* that everything is evaluated: so does every unit */
    PT_MTTL_ALSO_EVENT = 2, /* the event, or the atomic blocks that events enter and leave */
    PT_MTTL_ALSO_PAST = 4,  /* the thread's past operators, which move while it is not stable */
};

/* Where cells begin in memory of some cap: at base + per_cap * cap. */
struct pt_mttl_cells {
    uint32_t base, per_cap;
};

static inline uint64_t pt_mttl_cells_at(struct pt_mttl_cells cells, uint32_t cap)
{
    return cells.base + (uint64_t)cells.per_cap * cap;
}

enum pt_mttl_how {
    PT_MTTL_HOW_ANY,    /* by its program or atom, for each tuple */
    PT_MTTL_HOW_PAST,   /* a past operator */
    PT_MTTL_HOW_COPIED, /* `x`: the value of a variable */
    PT_MTTL_HOW_HANDED, /* `@i x`: what each thread exports in a unit */
};

/* When a unit has to be evaluated: transitively, through all that it looks up in its own thread. And how it is. */
struct pt_mttl_needs {
    uint64_t changed;          /* bits of view->changed */
    uint32_t also;             /* enum pt_mttl_also */
    uint32_t how;              /* enum pt_mttl_how */
    struct pt_mttl_cells to;   /* COPIED, HANDED, SHOWN: the unit's cells, ... */
    struct pt_mttl_cells from; /* ... and HANDED: those handed on; COPIED: base is the variable */
};

enum pt_mttl_form_kind {
    PT_MTTL_FORM_CODE,    /* none of these: its code has to be run */
    PT_MTTL_FORM_COPY,    /* the value of operand a */
    PT_MTTL_FORM_COMPARE, /* whether a and b compare so; integers: whether bit (a >= b) + (a > b) of `accepts` is set */
};

/* What an atom's code comes to, where it is simple. */
struct pt_mttl_form {
    uint8_t kind; /* enum pt_mttl_form_kind */
    uint8_t accepts;
    struct pt_mttl_operand a, b;
};

/* Where a lookup of an export finds its cell in an entry: at `cells`, plus the slot of `arg`. */
struct pt_mttl_way {
    uint32_t thread, arg; /* references */
    struct pt_mttl_cells cells;
    uint32_t params; /* of the unit: 0 (no arg) or 1; PT_MTTL_NONE: not found that simply */
};

/*
 * More special ops of the plan's programs, which take the same places and args. EXISTS_COMPARE and FORALL_COMPARE are
 * for quantifiers around nothing but a COMPARE of which operand b is a lookup and a is none, as in `exists j != i: busy
 * == @j busy`.
 */
enum {
    PT_MTTL_OP_COMPARE = PT_MTTL_OP_COUNT, /* an ATOM of form COMPARE */
    PT_MTTL_OP_IMPLIES,                    /* NOT before IF_TRUE: both */
    PT_MTTL_OP_EXISTS_COMPARE,
    PT_MTTL_OP_FORALL_COMPARE,
};

struct pt_mttl_plan {
    struct pt_mttl_needs *needs; /* by unit */
    struct pt_mttl_form *forms;  /* by atom */
    struct pt_mttl_way *ways;    /* by lookup */
    struct pt_mttl_op *ops;      /* the block's, some more special */
    struct pt_value *constants;  /* the block's, then an integer 0 */
    uint32_t *kept;      /* units but for properties, by who keeps them, in order; PT_MTTL_NONE ends each list */
    uint32_t *kept_from; /* by named thread where its list begins; then that of any thread */
};

size_t pt_mttl_plan_size(const struct pt_mttl *m);
/* Makes the plan in pt_mttl_plan_size(m) bytes. */
const struct pt_mttl_plan *pt_mttl_plan_make(const struct pt_mttl *m, void *memory);

static inline struct pt_mttl_block_state *pt_mttl_block_states(struct pt_mttl_thread *thread)
{
    return (struct pt_mttl_block_state *)(void *)thread->bytes;
}

static inline uint8_t *pt_mttl_past_bytes(const struct pt_mttl *m, struct pt_mttl_thread *thread)
{
    return (uint8_t *)(pt_mttl_block_states(thread) + m->blocks.count);
}

#endif
