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

struct run pt_mttl_begin(const struct pt_mttl *m, const struct pt_mttl_view *view, struct pt_mttl_thread *thread,
                         struct pt_mttl_entry *next);
/* The thread's units, all but properties; PT_MTTL_EXPORTED and PT_MTTL_STABLE. */
unsigned pt_mttl_step_units(struct run *r);

/* The value of a unit in an entry, and in state 0 of a slot. */
struct pt_value pt_mttl_read_entry(const struct pt_mttl_entry *entry, const struct pt_mttl_unit *unit,
                                   const uint32_t *tuple);
struct pt_value pt_mttl_read_initial(const struct pt_mttl_initial *initial, const struct pt_mttl_unit *unit,
                                     uint32_t slot, const uint32_t *tuple);
struct pt_value pt_mttl_eval_atom(struct run *r, uint32_t index);
/* What race_free(*) exports: the present event's access, if it counts. */
struct pt_value pt_mttl_present_access(const struct run *r);
enum truth pt_mttl_eval_program(struct run *r, uint32_t from);
/* True when the byte stays as it was. */
bool pt_mttl_step_past(struct run *r, const struct pt_mttl_unit *unit, uint8_t *byte);

/* The newest entry the thread has of a slot: its own values of the present state, or NULL. */
static inline const struct pt_mttl_entry *pt_mttl_entry_of(const struct run *r, uint32_t slot)
{
    if (slot == r->view->self)
        return r->next;
    return slot < r->view->known_count ? r->view->known[slot] : NULL;
}

/* The value that stands for "there is none": why, and which atom was to blame. */
static inline struct pt_value pt_mttl_failure(uint32_t result, uint32_t atom)
{
    return (struct pt_value){.kind = PT_VALUE_UNKNOWN, .len = result, .u = atom};
}

#endif
