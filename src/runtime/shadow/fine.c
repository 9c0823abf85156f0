/*
 * The records of granules whose bytes have different clocks.
 *
 * Guarantee: a record is one granule's, from pt_fine_new to pt_fine_free, and is all zero in between but for `life`.
 * Cost: a few instructions; each thread keeps some, so that the lock is taken once for many.
 */
#include <string.h>

#include "runtime/shadow/granule.h"

enum { BATCH = 16, KEEPS = 64 };

struct pt_fine *pt_fines;
_Atomic uint32_t pt_fines_out;

static struct {
    struct pt_spin lock;
    uint32_t used; /* record 0 is none */
    uint32_t free;
} fines = {.lock = PT_SPIN(PT_RANK_FINE), .used = 1};

bool pt_fine_start(void)
{
    pt_fines = pt_sys_reserve_table(sizeof *pt_fines << PT_FINE_BITS);
    return pt_fines;
}

void pt_fine_restart(void)
{
    pt_sys_empty(pt_fines, sizeof *pt_fines << PT_FINE_BITS);
    pt_spin_reset(&fines.lock);
    fines.used = 1;
    fines.free = 0;
    atomic_store_explicit(&pt_fines_out, 0, memory_order_relaxed);
}

static void keep(struct pt_shadow_self *self, uint32_t id)
{
    pt_fines[id].next_free = self->fines.first;
    self->fines.first = id;
    self->fines.count++;
}

static uint32_t take_kept(struct pt_shadow_self *self)
{
    uint32_t id = self->fines.first;
    if (id) {
        self->fines.first = pt_fines[id].next_free;
        self->fines.count--;
    }
    return id;
}

/* relaxed: it is changed by who has the lock, and whoever else looks may be late */
static void count_out(uint32_t more)
{
    uint32_t out = atomic_load_explicit(&pt_fines_out, memory_order_relaxed);
    atomic_store_explicit(&pt_fines_out, out + more, memory_order_relaxed);
}

static void fetch(struct pt_shadow_self *self)
{
    pt_spin_lock(&fines.lock);
    for (unsigned i = 0; i < BATCH; i++) {
        uint32_t id = fines.free;
        if (id)
            fines.free = pt_fines[id].next_free;
        else if (!(fines.used >> PT_FINE_BITS))
            id = fines.used++;
        else
            break;
        keep(self, id);
        count_out(1);
    }
    pt_spin_unlock(&fines.lock);
}

static void give_back(struct pt_shadow_self *self, uint32_t count)
{
    pt_spin_lock(&fines.lock);
    for (uint32_t id; count && (id = take_kept(self)); count--) {
        pt_fines[id].next_free = fines.free;
        fines.free = id;
        count_out(UINT32_MAX);
    }
    pt_spin_unlock(&fines.lock);
}

uint32_t pt_fine_new(struct pt_shadow_self *self)
{
    if (!self->fines.first)
        fetch(self);
    uint32_t id = take_kept(self);
    if (!id)
        pt_runtime_give_up();
    atomic_thread_fence(memory_order_release); /* partner: that in pt_narrow_still; no instruction on x86 */
    return id;
}

void pt_fine_free(struct pt_shadow_self *self, uint32_t id)
{
    struct pt_fine *fine = &pt_fines[id];
    memset(fine->access, 0, sizeof fine->access);
    memset(fine->write, 0, sizeof fine->write);
    fine->watch = 0;
    fine->readers = 0;
    fine->bytes = 0;
    /* release: whoever sees what it comes to have next sees this (narrow.h) */
    atomic_store_explicit(&fine->life, atomic_load_explicit(&fine->life, memory_order_relaxed) + 1,
                          memory_order_release);
    keep(self, id);
    if (self->fines.count > KEEPS)
        give_back(self, KEEPS / 2);
}

void pt_fine_drop(struct pt_shadow_self *self)
{
    give_back(self, self->fines.count);
}
