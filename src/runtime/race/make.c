/*
 * Plain accesses of granules that have no cell: what one makes of slots, and of a granule.
 *
 * All changes of slots are made under the granule's lock, which is a bit of its first slot. That an access was made
 * before is found without it: nobody else replaces a slot of the thread's present region, but who has learned of it by
 * a read that raced, and then the granule has a cell. An access that would race, or that there is no slot for, is not
 * made here.
 *
 * Guarantee (FastTrack's, by bytes; Flanagan, Freund, PLDI 2009): a slot is replaced only by an access that comes after
 * it, has all its bytes, and writes if it does; or loses the bytes that such an access has. Whoever races with what was
 * replaced races with that access, too, so that there is a race is always seen. If both are of one place, the pair of
 * places is the same. Else what is replaced goes to the log of the thread, where open.c finds it for as long as it is
 * there. Where all slots are in use, one goes there that another one says as much as; or two of the same thread, region
 * and kind become one, which says what bytes they have together, while the log says which has which.
 *
 * Of a busy page, which has sent many slots to logs since they have lost some, as few slots as possible stay, and
 * nothing goes to the log: there an access is not told whose bytes others of the thread's region have, of its kind or
 * of writes before it (fast.h), nor one that a later one says as much as.
 *
 * Cost: a compare-and-swap, a look at what the place's record is, and at four slots: some hundred instructions.
 */
#include "runtime/race/fast.h"

#include <string.h>

#define COLD __attribute__((noinline))

/* Everything but the bytes. */
static inline uint64_t name_of(uint64_t slot)
{
    return slot & ~(uint64_t)UINT8_MAX;
}
static inline uint64_t later_of(uint64_t one, uint64_t other)
{
    return name_of(pt_race_number_of(one) > pt_race_number_of(other) ? one : other);
}

/* ---- busy pages ---- */

/* There is one too many: the new one, which is the first, becomes one with another of the thread's region and kind. */
static COLD bool unite(const struct pt_race_self *self, uint64_t *slots, unsigned count)
{
    for (unsigned i = 1; i < count; i++)
        if (pt_race_is_mine(self, slots[i]) && !((slots[i] ^ slots[0]) & PT_RACE_WROTE)) {
            slots[0] = later_of(slots[i], slots[0]) | PT_RACE_MERGED | (uint8_t)slots[i] | (uint8_t)slots[0];
            slots[i] = slots[count - 1];
            return true;
        }
    return false;
}

/* What is left of a slot that the access comes after: the bytes that it does not have, if it says as much. */
static inline uint64_t cut(uint64_t slot, uint64_t like, unsigned bytes)
{
    if (slot & ~like & PT_RACE_WROTE)
        return slot;
    slot &= ~(uint64_t)bytes;
    return (uint8_t)slot ? slot : 0;
}

/* The new slot comes first: it is what the thread will look for. That memory ends is told, whatever was done to it. */
__attribute__((always_inline)) static inline enum pt_race_turn settle(struct pt_race_self *self, uint64_t *slots,
                                                                      unsigned count, uint64_t like, unsigned bytes)
{
    unsigned left = 1, i, had = bytes, wanted = bytes | (unsigned)(like & PT_RACE_WROTE);
    uint64_t after[PT_RACE_MANY_MOST + 1];
    bool ends = like == self->log.alone;
    for (i = 0; i < count && slots[i]; i++) {
        uint64_t slot = slots[i];
        if (pt_race_is_mine(self, slot)) {
            if (((unsigned)slot & wanted) == wanted && !ends) {
                if (like & PT_RACE_WROTE)
                    pt_race_show(self);
                return PT_RACE_MADE;
            }
            if (pt_race_is_like(slot, like)) {
                had |= (uint8_t)slot;
                continue;
            }
        } else if (!pt_race_knows(self, slot)) {
            if ((slot & bytes) && ((slot | like) & PT_RACE_WROTE))
                return PT_RACE_RACES;
            after[left++] = slot;
            continue;
        }
        if ((slot = cut(slot, like, bytes)))
            after[left++] = slot;
    }
    after[0] = like | had;
    if (left > count && !unite(self, after, left--))
        return PT_RACE_FULL;
    for (unsigned k = 0; k < left; k++)
        slots[k] = after[k];
    for (; left < i; left++)
        slots[left] = 0;
    return PT_RACE_MADE;
}

/* ---- others ---- */

/* A slot goes to the log. What the thread has made in its region is remembered beside that. */
static COLD void give_up(struct pt_race_self *self, uintptr_t granule, uint64_t slot)
{
    uint32_t code = pt_race_code_in(slot);
    if (pt_race_is_mine(self, slot) && code && !(slot & PT_RACE_MERGED))
        pt_race_filter_put(self, granule, (uint8_t)slot, slot & PT_RACE_WROTE, pt_race_site_at(pt_race_place_at(code)));
    pt_race_evict(self, granule, slot);
}

/* Whether another slot says as much as this one: it is of the same thread, and later, and of its kind. */
static bool is_said(const uint64_t *slots, unsigned count, uint64_t slot)
{
    unsigned bytes = (uint8_t)slot;
    for (unsigned i = 0; i < count; i++)
        if (slots[i] >> PT_RACE_THREAD_AT == slot >> PT_RACE_THREAD_AT && (slots[i] | ~slot) & PT_RACE_WROTE &&
            pt_race_number_of(slots[i]) > pt_race_number_of(slot))
            bytes &= ~(unsigned)slots[i];
    return !bytes;
}

/* All are in use: which one the access may replace; of an earlier region, if there is one. `count`: none. */
static unsigned find_replaced(const struct pt_race_self *self, const uint64_t *slots, unsigned count, uint64_t like,
                              unsigned bytes)
{
    unsigned found = count;
    for (unsigned i = 0; i < count && (found == count || pt_race_is_mine(self, slots[found])); i++)
        if (!((uint8_t)slots[i] & ~bytes || (slots[i] & ~like & PT_RACE_WROTE)) && pt_race_knows(self, slots[i]))
            found = i;
    return found;
}

/* Room is made by what need not have a slot. */
static COLD enum pt_race_turn make_room(struct pt_race_self *self, uintptr_t granule, uint64_t *slots, unsigned count,
                                        uint64_t like, unsigned bytes)
{
    unsigned at = find_replaced(self, slots, count, like, bytes);
    for (unsigned i = 0; i < count && at == count; i++)
        if (is_said(slots, count, slots[i]))
            at = i;
    if (at < count) {
        give_up(self, granule, slots[at]);
        slots[at] = like | bytes;
        return PT_RACE_MADE;
    }
    for (unsigned i = 0; i < count; i++) {
        uint64_t slot = slots[i];
        if (!pt_race_is_mine(self, slot) || (slot ^ like) & PT_RACE_WROTE)
            continue;
        if (!(slot & PT_RACE_MERGED))
            give_up(self, granule, slot);
        give_up(self, granule, like | bytes);
        slots[i] = later_of(slot, like) | PT_RACE_MERGED | (uint8_t)slot | bytes;
        return PT_RACE_MADE;
    }
    return PT_RACE_FULL;
}

/* Slots come into use in their order. One of such accesses does; or one of the same place, which is not told apart from
 * this; or the first that is free. */
__attribute__((always_inline)) static inline enum pt_race_turn turn(struct pt_race_self *self, bool busy,
                                                                    uintptr_t granule, uint64_t *slots, unsigned count,
                                                                    uint64_t like, unsigned bytes)
{
    const uint64_t kind_and_place = (UINT64_C(1) << PT_RACE_NUMBER_AT) - 1 - UINT8_MAX;
    unsigned exact = count, same = count, i;
    if (busy) {
        bool was_full = slots[PT_RACE_SLOTS - 1];
        enum pt_race_turn settled = settle(self, slots, count, like, bytes);
        if (__builtin_expect(was_full && !slots[PT_RACE_SLOTS - 1], 0))
            pt_race_lose_replaced(granule);
        return settled;
    }
    for (i = 0; i < count && slots[i]; i++) {
        uint64_t slot = slots[i], differ = slot ^ like;
        bool own = slot >> PT_RACE_THREAD_AT == self->hb.id;
        if (own && differ <= UINT8_MAX) {
            exact = i;
        } else if (!own && !pt_race_knows(self, slot)) {
            if ((slot & bytes) && ((slot | like) & PT_RACE_WROTE))
                return PT_RACE_RACES;
        } else if (!(differ & kind_and_place) && pt_race_code_in(like) && !((uint8_t)slot & ~bytes) &&
                   (own || !pt_race_looks.threads)) {
            same = i;
        }
    }
    if (exact < count)
        slots[exact] |= bytes;
    else if (same < count)
        slots[same] = like | bytes;
    else if (i < count)
        slots[i] = like | bytes;
    else
        return make_room(self, granule, slots, count, like, bytes);
    return PT_RACE_MADE;
}

enum pt_race_turn pt_race_turn(struct pt_race_self *self, uintptr_t granule, uint64_t *slots, unsigned count,
                               uint64_t like, unsigned bytes)
{
    return turn(self, pt_race_is_busy(pt_race_leaf_of(granule), granule), granule, slots, count, like, bytes);
}

/* ---- granules ---- */

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
static inline void load(struct pt_race_granule *granule, uint64_t first, uint64_t *out)
{
    out[0] = first;
    out[1] = pt_race_get(&granule->near[1]);
    for (unsigned i = PT_RACE_NEAR; i < PT_RACE_SLOTS; i++)
        out[i] = out[1] ? pt_race_get(pt_race_slot_at(granule, i)) : 0;
}
static inline void store_and_unlock(struct pt_race_granule *granule, const uint64_t *before, const uint64_t *after)
{
    for (unsigned i = 1; i < PT_RACE_SLOTS; i++)
        if (after[i] != before[i])
            pt_race_put(pt_race_slot_at(granule, i), after[i]);
    pt_race_unlock_word(&granule->near[0], after[0]);
}

/* A granule that is locked, with this first slot, which becomes another. */
static COLD enum pt_race_turn make_many(struct pt_race_self *self, struct pt_race_granule *granule, uintptr_t address,
                                        uint64_t first, unsigned bytes, uint64_t like, const struct pt_site *site)
{
    enum pt_race_turn turn = PT_RACE_FULL;
    if ((uint32_t)first & PT_RACE_MANY)
        turn = pt_race_many_make(self, &first, granule, address, bytes, like, site);
    pt_race_unlock_word(&granule->near[0], first);
    return turn;
}

static COLD enum pt_race_turn begin_many(struct pt_race_self *self, struct pt_race_granule *granule, uintptr_t address,
                                         const uint64_t *slots, unsigned bytes, uint64_t like,
                                         const struct pt_site *site)
{
    uint64_t word = pt_race_many_begin(self, slots);
    for (unsigned i = 1; i < PT_RACE_SLOTS && word; i++)
        pt_race_put(pt_race_slot_at(granule, i), 0);
    return make_many(self, granule, address, word ? word : slots[0], bytes, like, site);
}

__attribute__((always_inline)) static inline bool make(struct pt_race_self *self, bool busy,
                                                       struct pt_race_granule *granule, uintptr_t address,
                                                       unsigned bytes, uint64_t like, const struct pt_site *site)
{
    uint64_t before[PT_RACE_SLOTS], after[PT_RACE_SLOTS], first = lock(&granule->near[0]);
    if (__builtin_expect(first & PT_RACE_OWN, 0))
        return make_many(self, granule, address, first, bytes, like, site) == PT_RACE_MADE;
    load(granule, first, before);
    memcpy(after, before, sizeof after);
    enum pt_race_turn made = turn(self, busy, address, after, PT_RACE_SLOTS, like, bytes);
    if (__builtin_expect(made != PT_RACE_MADE, 0)) {
        if (made == PT_RACE_FULL)
            return begin_many(self, granule, address, before, bytes, like, site) == PT_RACE_MADE;
        pt_race_unlock_word(&granule->near[0], first);
        return false;
    }
    pt_race_follow_if(self, before, PT_RACE_SLOTS, like, bytes);
    store_and_unlock(granule, before, after);
    return true;
}

bool pt_race_make(struct pt_race_self *self, struct pt_race_granule *granule, uintptr_t address, unsigned bytes,
                  uint64_t like, const struct pt_site *site)
{
    return make(self, pt_race_is_busy(pt_race_leaf_of(address), address), granule, address, bytes, like, site);
}

bool pt_race_make_whole(struct pt_race_self *self, struct pt_race_granule *granule, uintptr_t address, uint64_t like,
                        struct pt_race_change *change)
{
    uint64_t first = lock(&granule->near[0]);
    load(granule, first, change->before);
    memcpy(change->after, change->before, sizeof change->after);
    bool made = !(first & PT_RACE_OWN) && turn(self, pt_race_is_busy(pt_race_leaf_of(address), address), address,
                                               change->after, PT_RACE_SLOTS, like, PT_CELL_WHOLE) == PT_RACE_MADE;
    if (made)
        pt_race_follow_if(self, change->before, PT_RACE_SLOTS, like, PT_CELL_WHOLE);
    store_and_unlock(granule, change->before, made ? change->after : change->before);
    return made;
}

static inline bool has_cell(uint64_t first)
{
    return first & PT_RACE_OWN && !((uint32_t)first & PT_RACE_MANY);
}

/* 0: the thread has no log any more. */
static inline uint64_t like_of(struct pt_race_self *self, bool writes, const struct pt_site *site)
{
    uint64_t slot = (writes ? pt_race_find_written(self, site) : pt_race_find_made(self, site))->slot;
    return slot ? slot | (writes ? PT_RACE_WROTE : 0) : 0;
}

/* Whether the thread has made such an access, as far as a glance has not said it. */
static inline bool is_known(struct pt_race_self *self, bool busy, struct pt_race_granule *granule, uintptr_t address,
                            unsigned bytes, bool writes, const struct pt_site *site)
{
    if (busy && !(pt_race_get(&granule->near[0]) & PT_RACE_OWN)) {
        bool said = pt_race_is_busy_said(self, granule, bytes, writes);
        if (said && writes)
            pt_race_show(self);
        return said;
    }
    if (pt_race_is_remembered(self, granule, address, bytes, writes, site))
        return true;
    const struct pt_race_made *made = pt_race_made_of(self, site);
    return !busy && !writes && pt_race_is_made(self, made, site) &&
           pt_race_is_read_so(self, granule, bytes, made->slot);
}

__attribute__((always_inline)) static inline bool make_at(struct pt_race_self *self, struct pt_race_leaf *leaf,
                                                          struct pt_race_granule *granule, uintptr_t address,
                                                          unsigned bytes, bool writes, const struct pt_site *site)
{
    bool busy = pt_race_is_busy(leaf, address);
    if (is_known(self, busy, granule, address, bytes, writes, site))
        return true;
    uint64_t like = like_of(self, writes, site);
    if (__builtin_expect(!like, 0))
        return false;
    return busy ? make(self, true, granule, address, bytes, like, site)
                : make(self, false, granule, address, bytes, like, site);
}

/* Where nothing of the page is known yet, or the access races, or the thread has no log. */
static COLD void make_somehow(struct pt_race_self *self, uintptr_t address, unsigned bytes, bool writes,
                              const struct pt_site *site, bool races)
{
    unsigned kind = writes ? PT_RACE_WRITE : PT_RACE_READ;
    struct pt_race_granule *granule = pt_race_is_address(address, address + 1) ? pt_race_granule_of(address) : NULL;
    if (granule && writes)
        pt_race_is_written(address);
    if (granule && races)
        pt_race_calm(address);
    if (!granule || pt_race_is_said_again(self, granule, bytes, kind, site) ||
        (!races && self->log.ring && !has_cell(pt_race_get(&granule->near[0])) &&
         make_at(self, pt_race_leaf_of(address), granule, address, bytes, writes, site)))
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
    if (__builtin_expect(
            leaf && self->log.ring && !pt_race_is_constant(leaf, address) && pt_race_is_used(leaf, address), 1)) {
        struct pt_race_granule *granule = pt_race_granule_in(leaf, address);
        if (__builtin_expect(!has_cell(pt_race_get(&granule->near[0])), 1)) {
            if (__builtin_expect(make_at(self, leaf, granule, start, bytes, writes, site), 1))
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
