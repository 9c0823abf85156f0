/*
 * Whether a loop goes on for ever. A thread that spins (spin.c) has a state: its stack and the registers that calls
 * preserve, at a point. If it comes to the same point with the same state, and neither it nor anybody else has written
 * in between, it does the same again and again. A loop that counts its turns never does, and may end by itself.
 *
 * States are compared by a hash with one that was kept, which is replaced after 1, 2, 4, ... points (Brent), so that
 * a loop of any length is found. The runtime's own frames in between are part of it: they do the same each time.
 *
 * Guarantee: of a loop that changes its thread's stack, registers or memory in each turn nobody says that it never
 * ends. What code that is not instrumented counts in memory of its own is not seen. Cost: linear in the stack, only
 * while nobody but spinning threads could go on for long.
 */
#include "runtime/explore/impl.h"

#include "core/hash.h"

extern void *__libc_stack_end;

enum { MOST = 1 << 18 };

/* 0: it is not on its own stack, or that is too large. Above its first frames a thread has what is thread-local, the
 * runtime's included; the program's stores to that are seen. */
static uint64_t hash_stack(uintptr_t from, uintptr_t to)
{
    if (!to)
        to = (uintptr_t)__libc_stack_end;
    uint64_t hash = from;
    if (from >= to || to - from > MOST)
        return 0;
    for (const uintptr_t *word = (const uintptr_t *)from; (uintptr_t)(word + 1) <= to; word++)
        hash = pt_mix64(hash * 31 + *word);
    return hash ? hash : 1;
}

/* All registers that calls preserve are saved in this frame: right below its address, or above. */
__attribute__((noinline)) void pt_recur_note(uint32_t slot, const struct pt_explore_op *op)
{
    enum { SAVED = 5 * sizeof(uintptr_t) };
    struct pt_explore_slot *self = &pt_run.slots[slot];
    __builtin_unwind_init();
    uint64_t hash = hash_stack((uintptr_t)__builtin_frame_address(0) - SAVED, self->stack_top);
    uint64_t state = hash ? pt_mix64(hash ^ (uintptr_t)op->object ^ op->kind) : 0;
    if (self->recur_writes != pt_run.writes || self->recur_stores != self->stores) {
        self->recurs = false;
        self->recur_state = self->recur_points = self->recur_most = 0;
        self->recur_writes = pt_run.writes;
        self->recur_stores = self->stores;
    }
    if (state && state == self->recur_state) {
        self->recurs = true;
    } else if (self->recur_points++ >= self->recur_most) {
        self->recur_state = state;
        self->recur_most = self->recur_most ? 2 * self->recur_most : 1;
        self->recur_points = 0;
    }
}

/* A signal on its way is something else to do. */
static bool is_recurring(uint32_t slot)
{
    const struct pt_explore_slot *self = &pt_run.slots[slot];
    return self->recurs && !pt_explore_has(&pt_run.signals, slot) && self->recur_writes == pt_run.writes &&
           self->recur_stores == self->stores;
}

bool pt_recur_all(void)
{
    for (uint32_t slot = 0; slot < pt_run.slot_count; slot++)
        if (pt_explore_has(&pt_run.enabled, slot) && !is_recurring(slot))
            return false;
    return true;
}

void pt_recur_leave_out(void)
{
    struct pt_explore_set rest = {0};
    for (uint32_t slot = 0; slot < pt_run.slot_count; slot++)
        if (pt_explore_has(&pt_run.enabled, slot) && !is_recurring(slot))
            pt_explore_add(&rest, slot);
    if (!pt_explore_is_empty(&rest))
        pt_run.enabled = rest;
}
