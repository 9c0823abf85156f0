/*
 * Plain accesses of several granules: one after the other, the fast path first, then in place (inplace.c), then
 * whatever it takes (granule.c, which has the guarantee).
 */
#include "runtime/race/granule.h"

enum { PAGE = 512 }; /* granules */

/* The words from `word` on that are of this shape, not locked, and of which the thread knows the last write. */
static size_t count_alike(const pt_race_word *word, size_t most, const struct pt_race_entry *entry)
{
    size_t count = 0;
    while (count < most) {
        uint64_t seen = atomic_load_explicit(&word[count], memory_order_relaxed);
        if ((uint32_t)seen != entry->from || entry->base + (seen >> PT_RACE_DELTA_AT) > entry->known)
            break;
        count++;
    }
    return count;
}

/* An access of whole granules that are next to each other and have one shape: the transition is looked up once. Returns
 * how many were made so, from the first on; all of them are in the leaf. */
static size_t run(struct pt_race_self *self, struct pt_race_leaf *leaf, uintptr_t granule, size_t most, unsigned kind,
                  const struct pt_site *site)
{
    pt_race_word *word = &leaf->words[(granule & ((1u << PT_RACE_LEAF_BITS) - 1)) >> 3];
    uint64_t first = atomic_load_explicit(word, memory_order_relaxed);
    if (first & PT_RACE_OWN)
        return 0;
    struct pt_race_entry *entry = pt_race_entry_of(self, pt_race_key(site, PT_CELL_WHOLE, kind), (uint32_t)first);
    if (entry->key != pt_race_key(site, PT_CELL_WHOLE, kind) || entry->from != (uint32_t)first ||
        entry->version != self->version)
        return 0;
    size_t count = count_alike(word, most, entry), done = 0;
    uint64_t delta = self->hb.clock - entry->made;
    bool writes = kind & PT_CELL_WRITES, moves = entry->to != entry->from;
    if (!writes && !moves)
        return count;
    if ((writes && delta > PT_RACE_DELTA_MAX) || (moves && entry->calls != pt_race_calls()) ||
        (!writes && entry->made && entry->made != self->hb.clock))
        return 0;
    if (moves && count >= entry->credit)
        count = entry->credit - 1;
    for (; done < count && (entry->from || pt_race_is_used(leaf, granule + 8 * done)); done++) {
        uint64_t seen = atomic_load_explicit(&word[done], memory_order_relaxed);
        uint64_t made = (writes ? delta << PT_RACE_DELTA_AT : seen & ~(uint64_t)UINT32_MAX) | entry->to;
        if ((uint32_t)seen != entry->from || entry->base + (seen >> PT_RACE_DELTA_AT) > entry->known ||
            !atomic_compare_exchange_strong_explicit(&word[done], &seen, made, memory_order_acq_rel,
                                                     memory_order_relaxed))
            break;
    }
    if (moves)
        entry->credit -= (uint32_t)done;
    return done;
}

/* The same wherever they are: returns the first granule that is to be looked at alone. */
static uintptr_t run_on(struct pt_race_self *self, uintptr_t granule, uintptr_t to, unsigned kind,
                        const struct pt_site *site)
{
    uintptr_t end = (granule | ((1u << PT_RACE_LEAF_BITS) - 1)) + 1;
    struct pt_race_leaf *leaf = pt_race_leaf_of(granule);
    size_t most = ((to < end ? to : end) - granule) / 8, done;
    /* A page at a time: what begins in a page that nothing is known of ends with it. */
    while (leaf && most > 0 && (done = run(self, leaf, granule, most < PAGE ? most : PAGE, kind, site)) > 0) {
        granule += 8 * done;
        most -= done;
    }
    return granule;
}

/* Whether the next granule has the same shape: then there may be more of them. */
static bool is_next_alike(uintptr_t granule, uintptr_t to)
{
    uintptr_t next = granule + 8, mask = (1u << PT_RACE_LEAF_BITS) - 1;
    const struct pt_race_leaf *leaf = next < to && next & mask ? pt_race_leaf_of(granule) : NULL;
    if (!leaf)
        return next < to && !pt_race_leaf_of(granule);
    uint64_t here = atomic_load_explicit(&leaf->words[(granule & mask) >> 3], memory_order_relaxed);
    uint64_t there = atomic_load_explicit(&leaf->words[(next & mask) >> 3], memory_order_relaxed);
    return !(here & PT_RACE_OWN) && (uint32_t)here == (uint32_t)there;
}

/* Whether it has, in the middle of an access of several granules: then the others are checked with what it knew before,
 * whose reference makes that another vector. */
static bool has_learned(const struct pt_race_self *self)
{
    return self->before.clock && self->before.past != self->hb.past;
}

static inline bool is_own(uintptr_t granule)
{
    const struct pt_race_leaf *leaf = pt_race_leaf_of(granule);
    return leaf &&
           atomic_load_explicit(&leaf->words[(granule & ((1u << PT_RACE_LEAF_BITS) - 1)) >> 3], memory_order_relaxed) &
               PT_RACE_OWN;
}

void pt_race_access(struct pt_race_self *self, uintptr_t address, size_t size, unsigned kind,
                    const struct pt_site *site)
{
    uintptr_t to = address + size;
    if (!pt_race_is_address(address, to))
        return;
    struct pt_race_step access = pt_race_step_of(kind, site);
    uintptr_t granule = address & ~(uintptr_t)7;
    self->several = granule + 8 < to;
    for (; granule < to; granule += 8) {
        if (!has_learned(self))
            granule = pt_race_make_own(self, granule, address, to, kind, access.site);
        if (granule < to && granule >= address && to - granule >= 2 * 8)
            granule = run_on(self, granule, to, kind, access.site);
        if (granule >= to)
            break;
        access.cell.bytes = pt_race_bytes_in(granule, address, to);
        if ((is_own(granule) || !pt_race_fast(self, granule, access.cell.bytes, kind, access.site)) &&
            (has_learned(self) || !pt_race_make(self, granule, access.cell.bytes, kind, access.site))) {
            self->alike = is_next_alike(granule, to);
            pt_race_touch(self, granule, &access);
        }
    }
    if (kind & PT_CELL_WRITES)
        pt_hb_tick(&self->hb);
    if (self->before.clock) {
        pt_vec_drop(&self->memory, self->before.past);
        self->before = (struct pt_hb_thread){0};
    }
    self->several = self->alike = self->note_kept = false;
}
