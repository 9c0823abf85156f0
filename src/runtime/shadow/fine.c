/*
 * The records of granules whose bytes have different clocks.
 *
 * Guarantee: a record is one granule's, from pt_fine_new to pt_fine_free, and is all zero in between but for `life`.
 * Cost: a few instructions; each thread keeps some, so that the lock is taken once for many.
 */
#include <string.h>

#include "runtime/shadow/granule.h"

enum { BATCH = 16 };

struct pt_fine *pt_fines;
_Atomic uint32_t pt_fines_out;

/* Numbers of free records lie side by side: those that are linked through themselves are a miss of the cache each. */
static struct {
    struct pt_spin lock;
    uint32_t used; /* record 0 is none */
    uint32_t count;
    uint32_t *free;
} fines = {.lock = PT_SPIN(PT_RANK_FINE), .used = 1};

bool pt_fine_start(void)
{
    pt_fines = pt_sys_reserve_table(sizeof *pt_fines << PT_FINE_BITS);
    fines.free = pt_sys_reserve_table(sizeof *fines.free << PT_FINE_BITS);
    return pt_fines && fines.free;
}

void pt_fine_restart(void)
{
    pt_sys_empty(pt_fines, sizeof *pt_fines << PT_FINE_BITS);
    pt_spin_reset(&fines.lock);
    fines.used = 1;
    fines.count = 0;
    atomic_store_explicit(&pt_fines_out, 0, memory_order_relaxed);
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
        uint32_t id = 0;
        if (fines.count)
            id = fines.free[--fines.count];
        else if (!(fines.used >> PT_FINE_BITS))
            id = fines.used++;
        else
            break;
        self->fines.ids[self->fines.count++] = id;
        count_out(1);
    }
    pt_spin_unlock(&fines.lock);
}

/* Those that were freed last stay. */
static void give_back(struct pt_shadow_self *self, uint32_t count)
{
    pt_spin_lock(&fines.lock);
    memcpy(fines.free + fines.count, self->fines.ids, count * sizeof *fines.free);
    fines.count += count;
    count_out(-count);
    pt_spin_unlock(&fines.lock);
    self->fines.count -= count;
    memmove(self->fines.ids, self->fines.ids + count, self->fines.count * sizeof *self->fines.ids);
}

uint32_t pt_fine_new(struct pt_shadow_self *self)
{
    if (!self->fines.count)
        fetch(self);
    uint32_t id = self->fines.count ? self->fines.ids[--self->fines.count] : 0;
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
    self->fines.ids[self->fines.count++] = id;
    if (self->fines.count == PT_FINES_KEPT)
        give_back(self, PT_FINES_KEPT / 2);
}

void pt_fine_drop(struct pt_shadow_self *self)
{
    give_back(self, self->fines.count);
}
