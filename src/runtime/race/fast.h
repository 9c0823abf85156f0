/*
 * Plain accesses that say nothing new, by far the most: what hooks have inline. It says no more than make.c does.
 */
#ifndef PT_RUNTIME_RACE_FAST_H
#define PT_RUNTIME_RACE_FAST_H

#include "runtime/race/log.h"

/* What a look at a plain access within one granule says: nothing is changed for it, so that the thread need not be
 * inside the runtime. A handler of a signal in its middle, or between it and the store, is taken to come after the
 * access, and between a load and it before. */
enum pt_race_glance {
    PT_RACE_KNOWN, /* the thread has made it in its region before: that is all */
    PT_RACE_NEW,   /* it is to be made (pt_race_read_one, pt_race_write_one) */
};

/* Whether one of the granule's slots, which come into use in their order, is `want` in the bits of `mask`. */
__attribute__((always_inline)) static inline bool pt_race_has(struct pt_race_granule *granule, uint64_t mask,
                                                              uint64_t want)
{
    if ((pt_race_get(&granule->near[0]) & mask) == want)
        return true;
    uint64_t second = pt_race_get(&granule->near[1]);
    if ((second & mask) == want)
        return true;
    return second && ((pt_race_get(pt_race_slot_at(granule, 2)) & mask) == want ||
                      (pt_race_get(pt_race_slot_at(granule, 3)) & mask) == want);
}

/* Of a busy page: whether the thread has made an access of its kind of these bytes in its region, wherever that stands.
 * A read is said by a write: who races with the one races with the other, and on such a page that is enough. */
__attribute__((always_inline)) static inline bool pt_race_says(const struct pt_race_self *self, uint64_t slot,
                                                               unsigned wanted)
{
    return pt_race_is_mine(self, slot) && ((unsigned)slot & wanted) == wanted;
}
__attribute__((always_inline)) static inline bool pt_race_is_busy_said(const struct pt_race_self *self,
                                                                       struct pt_race_granule *granule, unsigned bytes,
                                                                       bool writes)
{
    unsigned wanted = writes ? bytes | (unsigned)PT_RACE_WROTE : bytes;
    uint64_t slot = pt_race_get(&granule->near[0]);
    if (!pt_race_says(self, slot, wanted)) {
        if (!slot || !(slot = pt_race_get(&granule->near[1])))
            return false;
        if (!pt_race_says(self, slot, wanted) && !pt_race_says(self, pt_race_get(pt_race_slot_at(granule, 2)), wanted) &&
            !pt_race_says(self, pt_race_get(pt_race_slot_at(granule, 3)), wanted))
            return false;
    }
    return true;
}

/* Whether the thread has made such an access of a granule that is crowded, or has a list. */
static inline bool pt_race_is_remembered(struct pt_race_self *self, struct pt_race_granule *granule, uintptr_t address,
                                         unsigned bytes, bool writes, const struct pt_site *site)
{
    return ((pt_race_get(&granule->near[1]) && pt_race_get(pt_race_slot_at(granule, PT_RACE_SLOTS - 1))) ||
            pt_race_get(&granule->near[0]) & PT_RACE_OWN) &&
           pt_race_is_filtered(self, address & ~(uintptr_t)7, bytes, writes, site) &&
           (!writes || (pt_race_is_made(self, pt_race_made_of(self, site), site) &&
                        pt_race_is_latest(self, pt_race_made_of(self, site))));
}

/* A read of these bytes by the thread in its region, at a place that slots call so: in which calls does not matter. */
static inline bool pt_race_is_read_so(struct pt_race_self *self, struct pt_race_granule *granule, unsigned bytes,
                                      uint64_t like)
{
    const uint64_t codes = (UINT64_C(1) << PT_RACE_NUMBER_AT) - (1u << PT_RACE_CODE_AT);
    for (unsigned i = 0; i < PT_RACE_SLOTS; i++) {
        uint64_t slot = pt_race_get(pt_race_slot_at(granule, i));
        if (!slot)
            return false;
        if (pt_race_is_mine(self, slot) && ((unsigned)slot & (bytes | (unsigned)PT_RACE_WROTE)) == bytes &&
            !((slot ^ like) & (codes | PT_RACE_MERGED)) && like & codes)
            return true;
    }
    return false;
}

/* A slot of the thread's region says that nobody else has been there in a way that matters: who knows of it has it
 * from a moment that ended the region, and who does not has raced, and made a cell. Most accesses end here, so it is
 * to need few instructions, and few registers. Of a write it matters when it was made last, which its record says. */
__attribute__((always_inline)) static inline enum pt_race_glance pt_race_glance_at(struct pt_race_self *self,
                                                                                   uintptr_t address, unsigned bytes,
                                                                                   unsigned kind,
                                                                                   const struct pt_site *site)
{
    struct pt_race_leaf *leaf = pt_race_leaf_of(address);
    bool writes = kind & PT_CELL_WRITES;
    if (__builtin_expect(!leaf, 0))
        return PT_RACE_NEW;
    struct pt_race_granule *granule = pt_race_granule_in(leaf, address);
    if (pt_race_is_busy(leaf, address)) {
        bool said = pt_race_is_busy_said(self, granule, bytes, writes);
        return (said && (!writes || pt_race_is_shown(self))) || (!writes && pt_race_is_constant(leaf, address))
                   ? PT_RACE_KNOWN
                   : PT_RACE_NEW;
    }
    const struct pt_race_made *made = pt_race_made_of(self, site);
    uint64_t want = made->slot | (writes ? (uint64_t)PT_RACE_WROTE : 0) | bytes;
    bool known = pt_race_has(granule, ~(uint64_t)UINT8_MAX | bytes, want) &&
                 (!writes || pt_race_is_latest(self, made));
    atomic_signal_fence(memory_order_seq_cst); /* a handler may make it another place's: so whose it is comes last */
    return known && pt_race_is_made(self, made, site) ? PT_RACE_KNOWN : PT_RACE_NEW;
}

/* A read that its thread follows up by a write of the same bytes, at the same place, with nothing between. True:
 * nothing is to be done. Who races with the read then, a write that does not know it, races with the write, too, which
 * is the same pair of places; and since the read has not raced, the thread learns nothing by it. `own`: loads alone say
 * so. What the thread knows of others may move in a handler of a signal, so that only a thread inside the runtime may
 * look there. */
static inline bool pt_race_peeks(struct pt_race_self *self, uintptr_t address, unsigned bytes, bool own)
{
    struct pt_race_leaf *leaf = pt_race_leaf_of(address);
    if (!leaf)
        return true;
    struct pt_race_granule *granule = pt_race_granule_in(leaf, address);
    for (unsigned i = 0; i < PT_RACE_SLOTS; i++) {
        uint64_t slot = atomic_load_explicit(pt_race_slot_at(granule, i), memory_order_acquire);
        if (!slot)
            break;
        if (slot & PT_RACE_CELL)
            return false;
        if (slot & PT_RACE_WROTE && slot & bytes && slot >> PT_RACE_THREAD_AT != self->hb.id &&
            (own || !pt_race_knows(self, slot)))
            return false;
    }
    return true;
}
static inline bool pt_race_peeks_own(struct pt_race_self *self, uintptr_t address, unsigned bytes)
{
    return pt_race_peeks(self, address, bytes, true);
}
static inline bool pt_race_may_peek(struct pt_race_self *self, uintptr_t address, unsigned bytes)
{
    return pt_race_peeks(self, address, bytes, false);
}

/* A plain access, which is made as a whole here. */
static inline void pt_race_plain(struct pt_race_self *self, uintptr_t address, unsigned size, unsigned kind,
                                 const struct pt_site *site)
{
    unsigned low = address & 7;
    if (low + size > 8) {
        pt_race_access(self, address, size, kind, site);
        return;
    }
    unsigned bytes = ((1u << size) - 1) << low;
    if (pt_race_glance_at(self, address, bytes, kind, site) == PT_RACE_KNOWN)
        return;
    if (kind == PT_RACE_READ)
        pt_race_read_one(self, address, bytes, site);
    else
        pt_race_write_one(self, address, bytes, site);
}

#endif
