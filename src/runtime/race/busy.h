/*
 * Pages that take many records. Once logs have begun to lose what is in them, most of what pushes it out is of few
 * pages, which a thread works on for long, and each of whose granules it accesses at many places. Such a page is a busy
 * one: there, of the accesses of a granule that a thread makes in one region, only the first is logged, of each kind
 * and of bytes that were not accessed before. In a long region (PT_RACE_BLOCK records) not even that takes a record of
 * its own: all such accesses at one place share a *proxy*.
 *
 * A free of such memory has one record for all granules that follow each other, and nothing of what was before it.
 *
 * Guarantee: make.c's: slots say the same, so that there is a race is always seen, and what is told of it is true. Not
 * told, from granules of busy pages, are the further places of a region, and those of regions before the latest. When a
 * granule has raced its page is no busy one, until it has taken as many records again. A write of a busy page is made
 * again without a note of when: who reads it in a race learns of the writer's region as far as it went when it last
 * wrote to such a page. Cost: some 30 instructions for what was accessed in the region before, a compare-and-swap of 16
 * bytes more for what was not.
 */
#ifndef PT_RUNTIME_RACE_BUSY_H
#define PT_RUNTIME_RACE_BUSY_H

#include "runtime/race/log.h"

/* Some records are gone: from here on those of each page are counted. */
extern _Atomic bool pt_race_is_short;

/* In what is counted of a page: it is, or was, a busy one. */
enum { PT_RACE_WAS_BUSY = 0x8000, PT_RACE_PUTS = PT_RACE_WAS_BUSY - 1 };

static inline unsigned pt_race_puts_of(const struct pt_race_leaf *leaf, uintptr_t granule)
{
    return atomic_load_explicit(&leaf->puts[pt_race_page_of(granule)], memory_order_relaxed);
}
static inline bool pt_race_is_busy(const struct pt_race_leaf *leaf, uintptr_t granule)
{
    return (pt_race_puts_of(leaf, granule) & PT_RACE_PUTS) >= PT_RACE_BUSY;
}
/* A record of the granule is about to be put: whether its page is a busy one. Of two threads that count at once one may
 * be lost, which is no matter. */
static inline bool pt_race_count_put(uintptr_t granule)
{
    if (!atomic_load_explicit(&pt_race_is_short, memory_order_relaxed))
        return false;
    struct pt_race_leaf *leaf = pt_race_leaf_of(granule);
    unsigned puts = pt_race_puts_of(leaf, granule);
    if ((puts & PT_RACE_PUTS) >= PT_RACE_BUSY)
        return true;
    puts += 1;
    puts |= (puts & PT_RACE_PUTS) == PT_RACE_BUSY ? PT_RACE_WAS_BUSY : 0;
    atomic_store_explicit(&leaf->puts[pt_race_page_of(granule)], (uint16_t)puts, memory_order_relaxed);
    return false;
}
/* A granule of the page has raced, or is about to have a cell. */
static inline void pt_race_calm(uintptr_t granule)
{
    struct pt_race_leaf *leaf = pt_race_leaf_of(granule);
    if (leaf && pt_race_puts_of(leaf, granule))
        atomic_fetch_and_explicit(&leaf->puts[pt_race_page_of(granule)], PT_RACE_WAS_BUSY, memory_order_relaxed);
}
/* Whether writes of the page may have been made again without a note of it. */
static inline bool pt_race_was_busy(uintptr_t granule)
{
    const struct pt_race_leaf *leaf = pt_race_leaf_of(granule);
    return leaf && pt_race_puts_of(leaf, granule) & PT_RACE_WAS_BUSY;
}

/* The thread writes to a busy page without a note of when: who reads that learns all it has done until now. */
static inline void pt_race_show(struct pt_race_self *self)
{
    self->hb.clock += self->log.read == self->hb.clock; /* what was read in a cell comes before it */
    /* release: whoever reads what is then written finds this */
    atomic_store_explicit(self->log.shown, self->hb.clock - 1, memory_order_release);
}

/* Whether that would change nothing. */
static inline bool pt_race_is_shown(const struct pt_race_self *self)
{
    return self->log.read != self->hb.clock && pt_race_get(self->log.shown) == self->hb.clock - 1;
}

/* ---- proxies ---- */

/* Whether an access, whose kind has this slot, is to be logged by a proxy. */
static inline bool pt_race_wants_proxy(const struct pt_race_self *self, uintptr_t granule, unsigned kind, uint64_t slot)
{
    return self->hb.clock - self->region >= PT_RACE_BLOCK && !(kind >> PT_RACE_OP_AT) && !pt_race_is_mine(self, slot) &&
           pt_race_is_busy(pt_race_leaf_of(granule), granule);
}
static inline uint64_t pt_race_proxy_key(const struct pt_race_self *self, unsigned kind, uint32_t place)
{
    return place | (uint64_t)(kind & PT_CELL_WRITES) << 32 | self->log.epoch;
}
static inline struct pt_race_proxy *pt_race_proxy_of(struct pt_race_self *self, uint64_t key)
{
    return &self->log.proxies[key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - PT_RACE_PROXY_BITS)];
}
/* The number of the thread's proxy of such accesses in its region, made by the same calls; 0: there is none. */
static inline uint64_t pt_race_have_proxy(struct pt_race_self *self, unsigned kind, uint32_t place)
{
    uint64_t key = pt_race_proxy_key(self, kind, place);
    const struct pt_race_proxy *proxy = pt_race_proxy_of(self, key);
    bool has = proxy->key == key && proxy->calls == pt_race_calls() && pt_race_is_there(self, proxy->number);
    return has ? proxy->number : 0;
}
uint64_t pt_race_put_proxy(struct pt_race_self *self, unsigned kind, uint32_t place);
static inline uint64_t pt_race_find_proxy(struct pt_race_self *self, unsigned kind, uint32_t place)
{
    uint64_t number = pt_race_have_proxy(self, kind, place);
    if (__builtin_expect(!number, 0))
        number = pt_race_put_proxy(self, kind, place);
    if (kind & PT_CELL_WRITES)
        pt_race_show(self);
    return number;
}
/* Whether the thread's slot of its region is of its proxy of such plain accesses, so that it may have further bytes. */
static inline bool pt_race_is_of_proxy(struct pt_race_self *self, uint64_t slot, unsigned kind, uint32_t place)
{
    return pt_race_number_of(slot) == pt_race_have_proxy(self, kind, place);
}
/* A plain access of further bytes, at the place of the proxy that the thread's slot of its region is of. False: nothing
 * has happened. */
bool pt_race_busy_widen(struct pt_race_self *self, struct pt_race_pair *pair, unsigned bytes, unsigned kind,
                        const struct pt_site *site);
/* Accesses of all bytes of granules that follow each other, all of one busy page: where the first ends that is not
 * made. */
uintptr_t pt_race_busy_run(struct pt_race_self *self, struct pt_race_pair *pair, uintptr_t granule, uintptr_t end,
                           unsigned kind, const struct pt_site *site);

#endif
