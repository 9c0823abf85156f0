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

/* Whether a slot of the thread's region, of that kind and these bytes, says all of an access at this place: it is of
 * that place; or no slot of the granule is free, and the log has lost something (make.c). In which calls a read was
 * does not matter; of a write it does: its record says when it was made last. */
__attribute__((always_inline)) static inline bool pt_race_says(struct pt_race_self *self,
                                                               const struct pt_race_leaf *leaf, uintptr_t address,
                                                               uint64_t slot, bool writes, const struct pt_site *site)
{
    const uint64_t codes = (UINT64_C(1) << PT_RACE_NUMBER_AT) - (1u << PT_RACE_CODE_AT);
    const struct pt_race_made *made = pt_race_made_of(self, site);
    uint64_t differ = slot ^ made->slot;
    bool latest = !writes || pt_race_is_latest(self, made);
    atomic_signal_fence(memory_order_seq_cst); /* a handler may make it another place's: so whose it is comes last */
    if (!(differ & (writes ? ~(uint64_t)(PT_RACE_WROTE | UINT8_MAX) : codes | PT_RACE_MERGED)) && slot & codes &&
        latest && pt_race_is_made(self, made, site))
        return true;
    if (!pt_race_is_busy(leaf, address))
        return false;
    if (writes)
        pt_race_show(self);
    return true;
}

/* Whether the thread has made such an access of a granule that is crowded, or has a list. */
static inline bool pt_race_is_remembered(struct pt_race_self *self, const struct pt_race_granule *granule,
                                         uintptr_t address, unsigned bytes, bool writes, const struct pt_site *site)
{
    return (pt_race_get(&granule->slots[PT_RACE_SLOTS - 1]) || pt_race_get(&granule->slots[0]) & PT_RACE_OWN) &&
           pt_race_is_filtered(self, address & ~(uintptr_t)7, bytes, writes, site) &&
           (!writes || (pt_race_is_made(self, pt_race_made_of(self, site), site) &&
                        pt_race_is_latest(self, pt_race_made_of(self, site))));
}

/* A slot of the thread's region says that nobody else has been there in a way that matters: who knows of it has it
 * from a moment that ended the region, and who does not has raced, and made a cell. Most accesses end here, so it is
 * to need few instructions, and few registers. */
__attribute__((always_inline)) static inline enum pt_race_glance pt_race_glance_at(struct pt_race_self *self,
                                                                                   uintptr_t address, unsigned bytes,
                                                                                   unsigned kind,
                                                                                   const struct pt_site *site)
{
    struct pt_race_leaf *leaf = pt_race_leaf_of(address);
    bool writes = kind & PT_CELL_WRITES;
    if (__builtin_expect(!leaf, 0))
        return PT_RACE_NEW;
    const struct pt_race_granule *granule = pt_race_granule_in(leaf, address);
    unsigned wanted = writes ? bytes | (unsigned)PT_RACE_WROTE : bytes;
    for (unsigned i = 0; i < PT_RACE_SLOTS; i++) {
        uint64_t slot = pt_race_get(&granule->slots[i]);
        if (pt_race_is_mine(self, slot) && ((unsigned)slot & (bytes | (unsigned)PT_RACE_WROTE)) == wanted &&
            pt_race_says(self, leaf, address, slot, writes, site))
            return PT_RACE_KNOWN;
    }
    return PT_RACE_NEW;
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
    const struct pt_race_granule *granule = pt_race_granule_in(leaf, address);
    for (unsigned i = 0; i < PT_RACE_SLOTS; i++) {
        uint64_t slot = atomic_load_explicit(&granule->slots[i], memory_order_acquire);
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
