/*
 * Accesses of one granule that the program records by itself, and of which nothing else is to be known: nothing is
 * watched there, and the thread has no clock. Locking the granule and handing the event on (`recorded` in hooks.h) is
 * then all there is to do. In between the thread is inside the runtime.
 */
#ifndef PT_RUNTIME_SHADOW_SMALL_H
#define PT_RUNTIME_SHADOW_SMALL_H

#include "runtime/shadow/fast.h"
#include "runtime/shadow/hooks.h"
#include "runtime/shadow/owned.h"
#include "runtime/shadow/self.h"
#include "runtime/shadow/shadow.h"
#include "runtime/shadow/slow.h"
#include "runtime/sys/sys.h"

#define SMALL_INLINE static inline __attribute__((always_inline))

/* NULL: it is none, or somebody has locked the granule; the slow path is for all of these. */
SMALL_INLINE pt_shadow_word *pt_small_begin(struct pt_shadow_self *self, uintptr_t address, size_t size, bool write)
{
    if (__builtin_expect(!self || !self->records || self->steps || self->busy || self->care || pt_shadow_gated ||
                             (address & 7) + size > 8 || !pt_address_ok(address),
                         0))
        return NULL;
    pt_shadow_word *word = pt_shadow_peek(address);
    uint64_t seen = 0;
    if (__builtin_expect(!word, 0))
        return NULL;
    pt_sys_touch_stack();
    self->busy = 1;
    atomic_signal_fence(memory_order_seq_cst);
    /* acquire: partner of the release store that unlocked it last */
    if (__builtin_expect(!atomic_compare_exchange_strong_explicit(word, &seen, PT_SHADOW_LOCKED, memory_order_acquire,
                                                                  memory_order_relaxed),
                         0)) {
        pt_fast_leave(self);
        return NULL;
    }
    pt_rank_take(PT_RANK_GRANULE);
    atomic_thread_fence(memory_order_release); /* partner: that of a fast read, as in pt_granule_lock */
    self->locked_word = word;
    pt_owned_check(self, address, address + size, write);
    if (write)
        pt_shadow_hooks.opens(self, address, size);
    return word;
}

SMALL_INLINE void pt_small_unlock(struct pt_shadow_self *self, pt_shadow_word *word)
{
    self->locked_word = NULL;
    self->disturbed = false;
    pt_granule_unlock(word, atomic_load_explicit(word, memory_order_relaxed) & ~PT_SHADOW_LOCKED);
    pt_fast_leave(self);
}

/* `kind` is of memory, a read, a write or an update; `value` is what it has read, or left. */
SMALL_INLINE void pt_small_end(struct pt_shadow_self *self, pt_shadow_word *word, enum pt_event_kind kind, int order,
                               uintptr_t address, size_t size, const struct pt_site *site, uint64_t value)
{
    uint8_t as = pt_slow_order(order);
    bool stores = as && kind == PT_KIND_WRITE_AT; /* as in pt_slow_end_write */
    unsigned marks = (unsigned)as << PT_MARK_ORDER | (stores ? PT_MARK_STORE : 0);
    pt_shadow_hooks.recorded(self, pt_shadow_what(stores ? PT_KIND_UPDATE_AT : kind, marks, size), site, address,
                             value);
    pt_small_unlock(self, word);
}

#undef SMALL_INLINE

#endif
