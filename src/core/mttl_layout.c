/*
 * How large the evaluator's memory is and how it grows. A unit with params has a cell for each tuple of slots below a
 * cap.
 *
 * The cap always leaves as many slots unused as a tuple has places, and an unused slot is a thread that nobody has
 * heard of. Such threads cannot be told apart, so the value for a slot beyond the cap is that for any unused one
 * (pt_mttl_fit): a memory of fixed size answers for any number of threads, and grows without history being replayed.
 */
#include <string.h>

#include "core/mttl_impl.h"

static uint64_t saturating_power(uint64_t base, uint32_t exponent)
{
    uint64_t x = 1;
    while (exponent-- > 0)
        if (__builtin_mul_overflow(x, base, &x))
            return UINT64_MAX;
    return x;
}

uint64_t pt_mttl_cells(const uint32_t *counts, uint64_t cap)
{
    uint64_t sum = 0;
    for (uint32_t k = 0; k <= PT_MTTL_PARAMS; k++) {
        uint64_t x;
        if (counts[k] && (__builtin_mul_overflow(saturating_power(cap, k), (uint64_t)counts[k], &x) ||
                          __builtin_add_overflow(sum, x, &sum)))
            return UINT64_MAX;
    }
    return sum;
}

void pt_mttl_fit(uint32_t *slots, uint32_t count, uint32_t cap)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t old = slots[i], free = cap;
        if (old < cap)
            continue;
        for (bool taken = true; taken && free > 0;) {
            free--;
            taken = false;
            for (uint32_t k = 0; k < count; k++)
                taken |= slots[k] == free;
        }
        for (uint32_t k = 0; k < count; k++)
            if (slots[k] == old)
                slots[k] = free;
    }
}

bool pt_mttl_advance(uint32_t *tuple, uint32_t params, uint32_t cap)
{
    for (uint32_t k = params; k-- > 0;) {
        if (++tuple[k] < cap)
            return true;
        tuple[k] = 0;
    }
    return false;
}

static uint32_t max_params(const struct pt_mttl *m)
{
    for (uint32_t k = PT_MTTL_PARAMS; k > 0; k--)
        if (m->past[k] || m->exports[k])
            return k;
    return 0;
}

enum { ABSURD = 1 << 30 };

static size_t size_of(uint64_t fixed, uint64_t count, uint64_t each)
{
    uint64_t bytes;
    if (__builtin_mul_overflow(count, each, &bytes) || __builtin_add_overflow(bytes, fixed, &bytes) || bytes > ABSURD)
        return SIZE_MAX;
    return (size_t)(bytes + 7) & ~(size_t)7;
}

uint32_t pt_mttl_least_cap(const struct pt_mttl *m, uint32_t used)
{
    uint32_t params = max_params(m);
    return params ? used + params : 0;
}

size_t pt_mttl_entry_size(const struct pt_mttl *m, uint32_t cap)
{
    return size_of(sizeof(struct pt_mttl_entry), pt_mttl_cells(m->exports, cap), sizeof(struct pt_value));
}

size_t pt_mttl_thread_size(const struct pt_mttl *m, uint32_t cap)
{
    return size_of(sizeof(struct pt_mttl_thread) + m->blocks.count * sizeof(struct pt_mttl_block_state) + 8,
                   pt_mttl_cells(m->past, cap), 1);
}

uint32_t pt_mttl_initial_cap(const struct pt_mttl *m)
{
    return m->threads.count + max_params(m) + 1;
}

size_t pt_mttl_initial_size(const struct pt_mttl *m)
{
    uint32_t cap = pt_mttl_initial_cap(m);
    size_t entry = pt_mttl_entry_size(m, cap);
    return entry == SIZE_MAX ? SIZE_MAX : size_of(sizeof(struct pt_mttl_initial) + pt_mttl_plan_size(m), cap, entry);
}

size_t pt_mttl_scratch_size(const struct pt_mttl *m)
{
    return pt_mttl_thread_size(m, pt_mttl_initial_cap(m));
}

bool pt_mttl_steps(const struct pt_mttl *m, uint32_t slot)
{
    for (uint32_t u = 0; u < m->units.count; u++)
        if (pt_mttl_is_kept_by(pt_mttl_unit_at(m, u), slot))
            return true;
    return false;
}

bool pt_mttl_tracks(const struct pt_mttl *m, uint32_t slot)
{
    if (m->flags & PT_MTTL_THREADS)
        return true;
    for (uint32_t i = 0; i < m->lookups.count; i++)
        if (pt_mttl_at(m, lookups, struct pt_mttl_lookup, i)->thread == slot)
            return true;
    return false;
}

void pt_mttl_thread_init(const struct pt_mttl *m, struct pt_mttl_thread *thread, uint32_t slot, uint32_t cap)
{
    memset(thread, 0, pt_mttl_thread_size(m, cap));
    thread->slot = slot;
    thread->cap = cap;
    thread->whole = true;
    thread->fault_atom = PT_MTTL_NONE;
}

void pt_mttl_thread_grow(const struct pt_mttl *m, const struct pt_mttl_thread *from, struct pt_mttl_thread *to,
                         uint32_t cap)
{
    struct pt_mttl_thread *old = (struct pt_mttl_thread *)(void *)from; /* only read */
    pt_mttl_thread_init(m, to, from->slot, cap);
    to->started = from->started;
    to->fault = from->fault;
    to->fault_atom = from->fault_atom;
    memcpy(to->bytes, from->bytes, m->blocks.count * sizeof(struct pt_mttl_block_state));
    for (uint32_t u = 0; u < m->units.count; u++) {
        const struct pt_mttl_unit *unit = pt_mttl_unit_at(m, u);
        uint32_t tuple[PT_MTTL_PARAMS] = {0}, fitted[PT_MTTL_PARAMS];
        if (!pt_mttl_is_past(unit->kind))
            continue;
        do {
            memcpy(fitted, tuple, sizeof fitted);
            pt_mttl_fit(fitted, unit->params, from->cap);
            pt_mttl_past_bytes(m, to)[pt_mttl_cell_of(unit, tuple, cap)] =
                pt_mttl_past_bytes(m, old)[pt_mttl_cell_of(unit, fitted, from->cap)];
        } while (pt_mttl_advance(tuple, unit->params, cap));
    }
}
