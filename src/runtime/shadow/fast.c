#include "runtime/shadow/fast.h"

bool pt_fast_begin_evaluated(struct pt_shadow_self *self, pt_shadow_word *word, uint64_t seen, uintptr_t address,
                             unsigned size, bool write)
{
    if (!pt_fast_teaches_nothing(self, seen, pt_bytes_at(address, size), write))
        return false;
    if (pt_fast_lock_passed(self, word, seen))
        return true;
    pt_fast_leave(self);
    return false;
}

void pt_fast_end_evaluated(struct pt_shadow_self *self, pt_shadow_word *word, uint64_t seen, uintptr_t address,
                           unsigned size, enum pt_event_kind kind, const struct pt_site *site)
{
    bool write = kind != PT_KIND_READ_AT;
    unsigned bytes = pt_bytes_at(address, size);
    if (!pt_fast_kept(self))
        seen = pt_granule_take_changed(self, word, bytes, write);
    struct pt_local_event what = {
        .kind = (uint16_t)kind, .object = PT_NO_OBJECT, .size = size, .address = address, .site = site};
    pt_shadow_hooks.access(self, &what);
    pt_granule_end(self, word, seen, address, bytes, write);
    pt_fast_leave(self);
}

void pt_fast_end_evaluated_sync(struct pt_shadow_self *self, pt_shadow_word *word, uint64_t seen, uintptr_t address,
                                enum pt_event_kind kind, const struct pt_site *site, bool write)
{
    pt_shadow_hooks.sync(self, kind, address, site);
    pt_granule_end(self, word, seen, address, pt_bytes_at(address, 4), write);
    pt_fast_leave(self);
}

/* Whether the thread has passed all that is known of these bytes of a locked granule. */
static bool has_passed_bytes(struct pt_shadow_self *self, const pt_clock_id *access, unsigned size)
{
    pt_clock_id last = 0; /* which is passed */
    for (unsigned i = 0; i < size; i++) {
        if (access[i] != last && !pt_self_is_past(&self->clock, access[i]))
            return false;
        last = access[i];
    }
    return true;
}

bool pt_fast_begin_fine(struct pt_shadow_self *self, pt_shadow_word *word, uint64_t seen, uintptr_t address,
                        unsigned size)
{
    struct pt_fine *fine = &pt_fines[pt_shadow_access(seen)];
    if ((seen & PT_SHADOW_STATE) != PT_SHADOW_FINE || self->fast == PT_NOT_FAST || !self->clock.id ||
        pt_fine_load(&fine->watch))
        return false;
    if (pt_fast_lock(self, word, seen)) {
        if (!fine->watch && !fine->bytes && has_passed_bytes(self, &fine->access[address & 7], size))
            return true;
        pt_granule_unlock(word, seen);
    }
    pt_fast_leave(self);
    return false;
}

/* The thread's clock in place of those of some bytes, equal neighbours at once. */
static void raise_bytes(struct pt_shadow_self *self, pt_clock_id *ids, unsigned size, bool passed)
{
    pt_clock_id clock = self->clock.id;
    for (unsigned i = 0, j; i < size; i = j) {
        pt_clock_id before = ids[i];
        for (j = i; j < size && ids[j] == before; j++)
            atomic_store_explicit((_Atomic pt_clock_id *)&ids[j], clock, memory_order_relaxed);
        if (before == clock)
            continue;
        pt_self_give(&self->clock, j - i);
        if (passed)
            pt_self_pass(&self->clock, before, j - i);
        else
            pt_self_release(&self->clock, before, j - i);
    }
}

void pt_fast_end_fine(struct pt_shadow_self *self, pt_shadow_word *word, uint64_t seen, uintptr_t address,
                      unsigned size, bool write)
{
    struct pt_fine *fine = &pt_fines[pt_shadow_access(seen)];
    if (!pt_fast_kept(self)) {
        pt_granule_end_changed(self, word, address, pt_bytes_at(address, size), write);
    } else {
        raise_bytes(self, &fine->access[address & 7], size, true);
        if (write)
            raise_bytes(self, &fine->write[address & 7], size, false);
        pt_granule_unlock(word, seen);
    }
    pt_fast_leave(self);
}
