/*
 * Owned pages: what is seldom of them (owned.h).
 *
 * Guarantee: owned.h. Cost: a look at each page of an access that locks its granules.
 */
#include "runtime/shadow/owned.h"

struct pt_owned_page *_Atomic *pt_owned_leaves;

static bool covers_page(const struct pt_shadow_self *self, uintptr_t address, bool write)
{
    const struct pt_owned_page *page = pt_owned_page_at(address);
    uint32_t of = page ? atomic_load_explicit(&page->state, memory_order_acquire) >> PT_OWNED_STATE_AT : 0;
    return of == PT_OWNED_SHARED || (page && pt_owned_may(self, page, write));
}

bool pt_owned_covers(const struct pt_shadow_self *self, uintptr_t from, uintptr_t to, bool write)
{
    for (uintptr_t at = from & ~(uintptr_t)(PT_OWNED_PAGE - 1); at < to; at += PT_OWNED_PAGE)
        if (!covers_page(self, at, write))
            return false;
    return true;
}

/* The granules of the access that is under way, or was when it had its fault. */
static void granules_of(const struct pt_shadow_self *self, uintptr_t *ret_low, uintptr_t *ret_high)
{
    uintptr_t address = self->owned_at & ((UINT64_C(1) << PT_ADDRESS_BITS) - 1);
    *ret_low = address & ~(uintptr_t)7;
    *ret_high = (address + (self->owned_at >> PT_ADDRESS_BITS) + 7) & ~(uintptr_t)7;
}

static void unlock(struct pt_shadow_self *self)
{
    uintptr_t low, high;
    granules_of(self, &low, &high);
    for (; low < high && self->owned_held; low += 8) {
        pt_shadow_word *word = pt_shadow_peek(low);
        pt_granule_unlock(word, atomic_load_explicit(word, memory_order_relaxed) & ~PT_SHADOW_LOCKED);
    }
    self->owned_held = false;
}

bool pt_owned_suspend(struct pt_shadow_self *self)
{
    uintptr_t low, high;
    if (self->owned_held) {
        unlock(self);
        return true;
    }
    if (!(atomic_load_explicit(&self->owning, memory_order_relaxed) & 1))
        return false;
    pt_owned_close(self);
    granules_of(self, &low, &high);
    pt_shadow_hooks.shares(self, low, high);
    return true;
}

/* Where there is no memory for a word, nobody else has locked it either. */
void pt_owned_resume(struct pt_shadow_self *self)
{
    uintptr_t low, high;
    granules_of(self, &low, &high);
    self->owned_held = true;
    for (; low < high; low += 8) {
        pt_shadow_word *word = pt_shadow_word_of(low);
        if (word)
            pt_granule_lock(word);
        else
            self->owned_held = false;
    }
}

void pt_owned_end_disturbed(struct pt_shadow_self *self, uint64_t what, const struct pt_site *site, uintptr_t address,
                            uint64_t value)
{
    self->disturbed = false;
    pt_shadow_hooks.recorded(self, what, site, address, value);
    unlock(self);
}

bool pt_owned_begin_piece(struct pt_shadow_self *self, uintptr_t address, size_t size, bool write)
{
    if (!self->records || self->steps || self->busy || self->care || pt_shadow_gated || size > PT_OWNED_PAGE)
        return false;
    const struct pt_owned_page *first = pt_owned_page_at(address), *last = pt_owned_page_at(address + size - 1);
    if (!first || !last || !pt_owned_may(self, first, write) || !pt_owned_may(self, last, write))
        return false;
    pt_sys_touch_stack();
    pt_enter(self);
    self->owned_at = address | (uint64_t)size << PT_ADDRESS_BITS;
    atomic_store_explicit(&self->owning, atomic_load_explicit(&self->owning, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst); /* as in pt_owned_begin */
    if (pt_owned_may(self, first, write) && pt_owned_may(self, last, write))
        return true;
    pt_owned_close(self);
    pt_leave(self);
    return false;
}

void pt_owned_end_piece(struct pt_shadow_self *self, enum pt_event_kind kind, uintptr_t address, size_t size,
                        const struct pt_site *site)
{
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(self->disturbed, 0)) {
        self->disturbed = false;
        pt_shadow_hooks.access(
            self, &(struct pt_local_event){.kind = (uint16_t)kind, .site = site, .address = address, .size = size});
        unlock(self);
    } else {
        pt_shadow_hooks.owned_piece(self, kind, site, address, size);
        pt_owned_close(self);
    }
    pt_leave(self);
}
