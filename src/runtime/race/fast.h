/*
 * Plain accesses that say nothing new, by far the most: what hooks have inline. It says no more than make.c does.
 */
#ifndef PT_RUNTIME_RACE_FAST_H
#define PT_RUNTIME_RACE_FAST_H

#include "runtime/race/busy.h"

/* Whether the record of the thread's slot, which has the bytes, is of this access. Where a thread goes through much
 * memory the filter has forgotten most of it, and accesses come again in which nothing has changed. */
__attribute__((always_inline)) static inline bool
pt_race_is_latest(struct pt_race_self *self, uint64_t slot, unsigned bytes, bool writes, const struct pt_site *site)
{
    uint64_t number = pt_race_number_of(slot);
    uint32_t place = pt_race_place_home(site);
    if (!pt_race_is_there(self, number) || atomic_load_explicit(&pt_race_places[place], memory_order_relaxed) != site)
        return false;
    struct pt_race_record *record = pt_race_record_at(self->log.ring, number);
    uint64_t about = pt_race_get(&record->about);
    if (!writes)
        return (about >> PT_RACE_COUNT_AT & PT_RACE_COUNT) >= PT_RACE_STEPS ||
               (pt_race_place_in(about) == place && !(bytes & ~(unsigned)(about >> PT_RACE_BYTES_AT)));
    uint64_t wanted = (uint64_t)PT_RACE_RECORD_WRITE << PT_RACE_TYPE_AT | (uint64_t)place << PT_RACE_PLACE_AT |
                      (uint64_t)bytes << PT_RACE_BYTES_AT; /* of one granule, by an access, of these very bytes */
    uint64_t later = self->hb.clock - 1 - number, more = pt_race_get(&record->more);
    if (about >> PT_RACE_RUN_AT != wanted >> PT_RACE_RUN_AT || self->log.read == self->hb.clock)
        return false;
    if ((more & PT_RACE_LATER) != later) /* release: whoever reads what is then written finds this */
        atomic_store_explicit(&record->more, (more & ~PT_RACE_LATER) | later, memory_order_release);
    return true;
}

/* What a look at a plain access within one granule says: nothing is changed for it, so that the thread need not be
 * inside the runtime. A handler of a signal in its middle, or between it and the store, is taken to come after the
 * access, and between a load and it before. */
enum pt_race_glance {
    PT_RACE_KNOWN,  /* the thread has made it in its region before: that is all */
    PT_RACE_NEW,    /* it is to be made (pt_race_read_one, pt_race_write_one) */
    PT_RACE_PERHAPS /* pt_race_fast knows more */
};
__attribute__((always_inline)) static inline enum pt_race_glance pt_race_glance_at(struct pt_race_self *self,
                                                                                   uintptr_t address, unsigned bytes,
                                                                                   unsigned kind,
                                                                                   const struct pt_site *site)
{
    struct pt_race_leaf *leaf = pt_race_leaf_of(address);
    if (__builtin_expect(!leaf, 0))
        return PT_RACE_NEW;
    const struct pt_race_pair *pair = pt_race_pair_in(leaf, address);
    bool writes = kind & PT_CELL_WRITES;
    uint64_t slot = pt_race_get(writes ? &pair->w : &pair->r);
    if (!pt_race_is_mine(self, slot)) {
        /* of what several read: common.c; of lists: many.c; acquire: partner of the release that unlocked one last */
        uint64_t w = atomic_load_explicit(&pair->w, memory_order_acquire);
        bool has_list = pt_race_is_many(w), in_row = slot & PT_RACE_OWN && !(w & PT_RACE_CELL);
        if (!has_list && (writes || !in_row))
            return PT_RACE_NEW;
        if (!writes && pt_race_is_filtered(self, address & ~(uintptr_t)7, bytes, kind, site))
            return PT_RACE_KNOWN;
        if (!pt_race_is_busy(leaf, address) || (writes && !pt_race_is_shown(self)))
            return PT_RACE_NEW;
        bool known = has_list ? pt_race_many_has(self, pair, w, address, bytes, kind)
                              : pt_race_common_is_read(self, slot, bytes);
        return known ? PT_RACE_KNOWN : PT_RACE_NEW;
    }
    if (bytes & ~(unsigned)slot)
        return PT_RACE_PERHAPS;
    if (pt_race_is_busy(leaf, address))
        return !writes || pt_race_is_shown(self) ? PT_RACE_KNOWN : PT_RACE_PERHAPS;
    if (!pt_race_is_filtered(self, address & ~(uintptr_t)7, bytes, kind, site))
        return PT_RACE_PERHAPS;
    return !writes || (pt_race_number_of(slot) == self->hb.clock - 1 && self->log.read != self->hb.clock)
               ? PT_RACE_KNOWN
               : PT_RACE_PERHAPS;
}

/* A plain access within one granule, if the thread has made it in its region before. False: nothing has happened.
 * A slot of the thread's region says that nobody else has been there in a way that matters: who knows of it has it
 * from a moment that ended the region, and who does not has raced, and made a cell. Most accesses end here, so it is
 * to need few registers. */
__attribute__((always_inline)) static inline bool
pt_race_fast(struct pt_race_self *self, uintptr_t address, unsigned bytes, unsigned kind, const struct pt_site *site)
{
    struct pt_race_leaf *leaf = pt_race_leaf_of(address);
    if (__builtin_expect(!leaf, 0))
        return false;
    struct pt_race_pair *pair = pt_race_pair_in(leaf, address);
    bool writes = kind & PT_CELL_WRITES;
    uint64_t slot = atomic_load_explicit(writes ? &pair->w : &pair->r, memory_order_relaxed);
    uintptr_t granule = address & ~(uintptr_t)7;
    if (!pt_race_is_mine(self, slot)) {
        if (writes || (slot && !(slot & PT_RACE_OWN)))
            return false;
        uint64_t w = atomic_load_explicit(&pair->w, memory_order_relaxed); /* of what several read: common.c, many.c */
        return (slot ? !(w & PT_RACE_CELL) : pt_race_is_many(w)) &&
               pt_race_is_filtered(self, granule, bytes, kind, site);
    }
    bool has_bytes = !(bytes & ~(unsigned)slot);
    if (has_bytes && pt_race_is_busy(leaf, address)) {
        if (writes)
            pt_race_show(self);
        return true;
    }
    struct pt_race_filter *filter = pt_race_filter_of(self, granule, site);
    if (!pt_race_is_filter(self, filter, granule, kind, site))
        return has_bytes ? pt_race_is_latest(self, slot, bytes, writes, site)
                         : pt_race_busy_widen(self, pair, bytes, kind, site);
    if (bytes & ~((unsigned)(filter->where >> 48) & (unsigned)slot))
        return pt_race_widen(self, pair, filter, bytes, kind, site);
    return !writes || (pt_race_number_of(slot) == self->hb.clock - 1 && self->log.read != self->hb.clock) ||
           pt_race_rewrite(self, slot, bytes, site);
}

/* Whether loads alone say that pt_race_may_peek is true. What the thread knows of others may move in a handler of a
 * signal, so that only a thread inside the runtime may look there. */
static inline bool pt_race_peeks_own(const struct pt_race_self *self, uintptr_t address, unsigned bytes)
{
    struct pt_race_leaf *leaf = pt_race_leaf_of(address);
    uint64_t w = leaf ? atomic_load_explicit(&pt_race_pair_in(leaf, address)->w, memory_order_acquire) : 0;
    return !(w & PT_RACE_CELL) && (!(w & bytes) || pt_race_is_mine(self, w));
}

/* A read that its thread follows up by a write of the same bytes, at the same place, with nothing between. True:
 * nothing is to be done. Who races with the read then, a write that does not know it, races with the write, too, which
 * is the same pair of places; and since the read has not raced, the thread learns nothing by it. */
static inline bool pt_race_may_peek(struct pt_race_self *self, uintptr_t address, unsigned bytes)
{
    struct pt_race_leaf *leaf = pt_race_leaf_of(address);
    uint64_t w = leaf ? atomic_load_explicit(&pt_race_pair_in(leaf, address)->w, memory_order_acquire) : 0;
    return !(w & PT_RACE_CELL) && (!(w & bytes) || pt_race_is_mine(self, w) || pt_race_knows_write(self, w));
}

/* The same of any plain access, which is made as a whole here. */
static inline void pt_race_plain(struct pt_race_self *self, uintptr_t address, unsigned size, unsigned kind,
                                 const struct pt_site *site)
{
    unsigned low = address & 7;
    if (low + size > 8) {
        pt_race_access(self, address, size, kind, site);
        return;
    }
    unsigned bytes = ((1u << size) - 1) << low;
    enum pt_race_glance known = pt_race_glance_at(self, address, bytes, kind, site);
    if (known == PT_RACE_KNOWN || (known == PT_RACE_PERHAPS && pt_race_fast(self, address, bytes, kind, site)))
        return;
    if (kind == PT_RACE_READ)
        pt_race_read_one(self, address, bytes, site);
    else
        pt_race_write_one(self, address, bytes, site);
}

#endif
