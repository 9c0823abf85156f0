/* How the values of units lie in memory; shared by the files of the evaluator, and nothing else. */
#ifndef PT_CORE_MTTL_IMPL_H
#define PT_CORE_MTTL_IMPL_H

#include "core/mttl.h"

struct pt_mttl_block_state {
    uint32_t inside; /* executions entered and not left */
    uint32_t count;  /* executions so far, outermost ones */
};

static inline bool pt_mttl_is_past(uint32_t kind)
{
    return kind <= PT_MTTL_INTERVAL_WEAK;
}

static inline bool pt_mttl_is_export(uint32_t kind)
{
    return kind == PT_MTTL_FORMULA || kind == PT_MTTL_VALUE || kind == PT_MTTL_ACCESS;
}

static inline bool pt_mttl_is_binary(uint32_t kind)
{
    return kind == PT_MTTL_SINCE || kind == PT_MTTL_INTERVAL || kind == PT_MTTL_INTERVAL_WEAK;
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

/* The index of a tuple's cell. */
static inline uint64_t pt_mttl_cell_of(const struct pt_mttl_unit *unit, const uint32_t *tuple, uint32_t cap)
{
    _Static_assert(PT_MTTL_PARAMS == 3, "written out below");
    uint64_t index = 0;
    for (uint32_t k = 0; k < unit->params; k++)
        index = index * cap + tuple[k];
    /* pt_mttl_cells(unit->before, cap), which does not overflow: there is memory for so many */
    return index + unit->before[0] +
           cap * (unit->before[1] + cap * (unit->before[2] + (uint64_t)cap * unit->before[3]));
}

static inline struct pt_mttl_block_state *pt_mttl_block_states(struct pt_mttl_thread *thread)
{
    return (struct pt_mttl_block_state *)(void *)thread->bytes;
}

static inline uint8_t *pt_mttl_past_bytes(const struct pt_mttl *m, struct pt_mttl_thread *thread)
{
    return (uint8_t *)(pt_mttl_block_states(thread) + m->blocks.count);
}

#endif
