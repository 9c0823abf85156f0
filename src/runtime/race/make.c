/*
 * Plain accesses of granules that have no cell.
 *
 * All changes of slots are made under the granule's lock, which is a bit of its first slot. That an access was made
 * before is found without it: nobody else replaces a slot of the thread's present region, but who has learned of it by
 * a read that raced, and then the granule has a cell. An access that would race, or that there is no slot for, is not
 * made here.
 *
 * Guarantee: slots.c's. Cost: a compare-and-swap, a look at what the place's record is, and at four slots: some hundred
 * instructions.
 */
#include "runtime/race/fast.h"

#define COLD __attribute__((noinline))

static inline uint64_t lock(pt_race_word *word)
{
    uint64_t seen = pt_race_get(word);
    /* acquire: partner of the release that unlocked it last */
    if (__builtin_expect(!(seen & PT_RACE_LOCKED) &&
                             atomic_compare_exchange_strong_explicit(word, &seen, seen | PT_RACE_LOCKED,
                                                                     memory_order_acquire, memory_order_relaxed),
                         1))
        return seen;
    return pt_race_lock_word(word);
}

/* Of a granule that is locked: its slots, the first without the lock, and what becomes of them. */
static inline void load(const struct pt_race_granule *granule, uint64_t first, uint64_t *out)
{
    out[0] = first;
    for (unsigned i = 1; i < PT_RACE_SLOTS; i++)
        out[i] = pt_race_get(&granule->slots[i]);
}
static inline void store_and_unlock(struct pt_race_granule *granule, const uint64_t *before, const uint64_t *after)
{
    for (unsigned i = 1; i < PT_RACE_SLOTS; i++)
        if (after[i] != before[i])
            pt_race_put(&granule->slots[i], after[i]);
    pt_race_unlock_word(&granule->slots[0], after[0]);
}

/* A granule that is locked, with this first slot, which becomes another. */
static COLD enum pt_race_turn make_many(struct pt_race_self *self, struct pt_race_granule *granule, uintptr_t address,
                                        uint64_t first, unsigned bytes, uint64_t like, const struct pt_site *site)
{
    enum pt_race_turn turn = PT_RACE_FULL;
    if ((uint32_t)first & PT_RACE_MANY)
        turn = pt_race_many_make(self, &first, granule, address, bytes, like, site);
    pt_race_unlock_word(&granule->slots[0], first);
    return turn;
}

static COLD enum pt_race_turn begin_many(struct pt_race_self *self, struct pt_race_granule *granule, uintptr_t address,
                                         const uint64_t *slots, unsigned bytes, uint64_t like,
                                         const struct pt_site *site)
{
    uint64_t word = pt_race_many_begin(self, slots);
    for (unsigned i = 1; i < PT_RACE_SLOTS && word; i++)
        pt_race_put(&granule->slots[i], 0);
    return make_many(self, granule, address, word ? word : slots[0], bytes, like, site);
}

bool pt_race_make(struct pt_race_self *self, struct pt_race_granule *granule, uintptr_t address, unsigned bytes,
                  uint64_t like, const struct pt_site *site)
{
    uint64_t before[PT_RACE_SLOTS], after[PT_RACE_SLOTS], first = lock(&granule->slots[0]);
    if (__builtin_expect(first & PT_RACE_OWN, 0))
        return make_many(self, granule, address, first, bytes, like, site) == PT_RACE_MADE;
    load(granule, first, before);
    load(granule, first, after);
    enum pt_race_turn turn = pt_race_turn(self, address, after, PT_RACE_SLOTS, like, bytes);
    if (__builtin_expect(turn == PT_RACE_FULL, 0))
        return begin_many(self, granule, address, before, bytes, like, site) == PT_RACE_MADE;
    if (turn == PT_RACE_MADE)
        pt_race_follow_if(self, before, PT_RACE_SLOTS, like, bytes);
    store_and_unlock(granule, before, turn == PT_RACE_MADE ? after : before);
    return turn == PT_RACE_MADE;
}

bool pt_race_make_whole(struct pt_race_self *self, struct pt_race_granule *granule, uintptr_t address, uint64_t like,
                        struct pt_race_change *change)
{
    uint64_t first = lock(&granule->slots[0]);
    load(granule, first, change->before);
    load(granule, first, change->after);
    bool made = !(first & PT_RACE_OWN) &&
                pt_race_turn(self, address, change->after, PT_RACE_SLOTS, like, PT_CELL_WHOLE) == PT_RACE_MADE;
    if (made)
        pt_race_follow_if(self, change->before, PT_RACE_SLOTS, like, PT_CELL_WHOLE);
    store_and_unlock(granule, change->before, made ? change->after : change->before);
    return made;
}

static inline bool has_cell(uint64_t first)
{
    return first & PT_RACE_OWN && !((uint32_t)first & PT_RACE_MANY);
}

__attribute__((always_inline)) static inline bool make_at(struct pt_race_self *self, struct pt_race_granule *granule,
                                                          uintptr_t address, unsigned bytes, bool writes,
                                                          const struct pt_site *site)
{
    if (pt_race_is_remembered(self, granule, address, bytes, writes, site))
        return true;
    uint64_t like =
        writes ? pt_race_find_written(self, site)->slot | PT_RACE_WROTE : pt_race_find_made(self, site)->slot;
    return pt_race_make(self, granule, address, bytes, like, site);
}

/* Where nothing of the page is known yet, or the access races, or the thread has no log. */
static COLD void make_somehow(struct pt_race_self *self, uintptr_t address, unsigned bytes, bool writes,
                              const struct pt_site *site, bool races)
{
    unsigned kind = writes ? PT_RACE_WRITE : PT_RACE_READ;
    struct pt_race_granule *granule = pt_race_is_address(address, address + 1) ? pt_race_granule_of(address) : NULL;
    if (!granule || pt_race_is_said_again(self, granule, bytes, kind, site) ||
        (!races && self->log.ring && !has_cell(pt_race_get(&granule->slots[0])) &&
         make_at(self, granule, address, bytes, writes, site)))
        return;
    struct pt_race_step access = pt_race_step_of(kind, site);
    access.cell.bytes = (uint8_t)bytes;
    pt_race_touch(self, address, &access);
    if (writes)
        pt_hb_tick(&self->hb);
}

__attribute__((always_inline)) static inline void access_one(struct pt_race_self *self, uintptr_t address,
                                                             unsigned bytes, bool writes, const struct pt_site *site)
{
    struct pt_race_leaf *leaf = address >> PT_RACE_ADDRESS_BITS ? NULL : pt_race_leaf_of(address);
    uintptr_t start = address & ~(uintptr_t)7;
    bool races = false;
    if (__builtin_expect(leaf && self->log.ring && pt_race_is_used(leaf, address), 1)) {
        struct pt_race_granule *granule = pt_race_granule_in(leaf, address);
        if (__builtin_expect(!has_cell(pt_race_get(&granule->slots[0])), 1)) {
            if (__builtin_expect(make_at(self, granule, start, bytes, writes, site), 1))
                return;
            races = true;
        }
    }
    make_somehow(self, start, bytes, writes, site, races);
}

void pt_race_read_one(struct pt_race_self *self, uintptr_t address, unsigned bytes, const struct pt_site *site)
{
    access_one(self, address, bytes, false, site);
}

void pt_race_write_one(struct pt_race_self *self, uintptr_t address, unsigned bytes, const struct pt_site *site)
{
    access_one(self, address, bytes, true, site);
}
