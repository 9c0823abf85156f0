/* One step under way: shared by the files of the evaluator, and nothing else. */
#ifndef PT_CORE_MTTL_RUN_H
#define PT_CORE_MTTL_RUN_H

#include "core/mttl_impl.h"

enum truth { NO, YES, FAILED };

/* The byte of a past operator. */
enum {
    VALUE_SHIFT = 0,  /* enum truth of the operator in the last state */
    MEMORY_SHIFT = 2, /* enum truth of what it compares the next state with */
    TRUTH_MASK = 3,
};

/* What a step seldom needs stays out of the functions that it always needs: their frames remain small. */
#define SELDOM __attribute__((noinline, cold))

struct run {
    const struct pt_mttl *m;
    const struct pt_mttl_plan *plan;
    const struct pt_mttl_op *ops;
    const struct pt_mttl_view *view;
    struct pt_mttl_thread *thread;
    struct pt_mttl_entry *next;
    const struct pt_mttl_entry *shown; /* the thread's last entry, if its cells lie as those of `next`; else NULL */
    uint64_t changed; /* needs that may have changed since the last step, as struct pt_mttl_needs has them */
    uint32_t also;
    uint32_t env[PT_MTTL_ENV]; /* slots: of the unit's tuple, then of quantifiers */
    uint8_t fault;             /* enum pt_code_result of what failed in the present program, and the atom */
    uint32_t fault_atom;
    bool marked;       /* the event is */
    bool faulty;       /* a past operator lacks a value, or its operand does */
    bool filling;      /* the table of state 0: `next` holds an earlier pass, ... */
    bool moved;        /* ... from which some cell has now changed */
    pt_mttl_seen seen; /* NULL: nobody asks; otherwise `ops` is the block's */
    uint32_t decided;  /* by variable: loops that go on though they are, where somebody asks, ... */
    uint32_t further;  /* ... for so many threads */
    void *context;
};

static inline void pt_mttl_begin(struct run *r, const struct pt_mttl *m, const struct pt_mttl_view *view,
                                 struct pt_mttl_thread *thread, struct pt_mttl_entry *next)
{
    const struct pt_mttl_entry *shown = view->self < view->known_count ? view->known[view->self] : NULL;
    bool marked = pt_mttl_is_marked(&view->event), whole = thread->whole || view->changed == PT_MTTL_ALL;
    *r = (struct run){.m = m,
                      .plan = view->initial->plan,
                      .ops = view->initial->plan->ops,
                      .view = view,
                      .thread = thread,
                      .next = next,
                      .shown = shown && shown->cap == thread->cap ? shown : NULL,
                      .changed = whole ? PT_MTTL_ALL : view->changed,
                      .also = (whole ? PT_MTTL_ALSO_WHOLE : 0) | (marked || thread->marked ? PT_MTTL_ALSO_EVENT : 0) |
                              (thread->moved ? PT_MTTL_ALSO_PAST : 0),
                      .fault_atom = PT_MTTL_NONE,
                      .marked = marked};
}

/* Whether a unit may have another value than in the last step. */
static inline bool pt_mttl_is_due(const struct run *r, const struct pt_mttl_needs *needs)
{
    return (needs->changed & r->changed) || (needs->also & r->also);
}

/* The thread's units, all but properties, of state 0. */
void pt_mttl_fill_units(struct run *r);

/* The cell of a unit in an entry, and in state 0 of a slot. */
const struct pt_value *pt_mttl_entry_cell(const struct pt_mttl_entry *entry, const struct pt_mttl_unit *unit,
                                          const uint32_t *tuple);
const struct pt_value *pt_mttl_initial_cell(const struct pt_mttl_initial *initial, const struct pt_mttl_unit *unit,
                                            uint32_t slot, const uint32_t *tuple);
struct pt_value pt_mttl_eval_atom(const struct run *r, uint32_t index);
enum truth pt_mttl_eval_program(struct run *r, uint32_t from);
/* A past operator, for all its tuples; true when all its bytes stay as they were. */
bool pt_mttl_step_past(struct run *r, const struct pt_mttl_unit *unit);

/* The newest entry the thread has of a slot: its own values of the present state, or NULL. */
static inline const struct pt_mttl_entry *pt_mttl_entry_of(const struct run *r, uint32_t slot)
{
    if (slot == r->view->self)
        return r->next;
    return slot < r->view->known_count ? r->view->known[slot] : NULL;
}

/* State 0 of a slot by itself: for exports without params. */
static inline const struct pt_mttl_entry *pt_mttl_initial_entry(const struct pt_mttl_initial *initial, uint32_t slot)
{
    uint32_t fitted = slot < initial->cap ? slot : initial->cap - 1; /* as pt_mttl_fit has it */
    return (const void *)((const char *)initial->entries + fitted * initial->entry_bytes);
}

/* The value that stands for "there is none": why, and which atom was to blame. */
static inline struct pt_value pt_mttl_failure(uint32_t result, uint32_t atom)
{
    return (struct pt_value){.kind = PT_VALUE_UNKNOWN, .len = result, .u = atom};
}

#endif
