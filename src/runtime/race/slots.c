/*
 * What an access makes of the slots of a granule.
 *
 * Guarantee (FastTrack's, by bytes; Flanagan, Freund, PLDI 2009): a slot is replaced only by an access that comes after
 * it, has all its bytes, and writes if it does; or loses the bytes that such an access has. Whoever races with what was
 * replaced races with that access, too, so that there is a race is always seen. If both are of one place, the pair of
 * places is the same. Else what is replaced goes to the log of the thread, where open.c finds it for as long as it is
 * there. Where all slots are in use, one goes there that another one says as much as; or two of the same thread, region
 * and kind become one, which says what bytes they have together, while the log says which has which.
 *
 * Of a busy page, which has sent many slots to logs since they have lost some, as few slots as possible stay, and
 * nothing goes to the log: there an access is not told that is of the same kind and bytes as others of the thread's
 * region (fast.h), nor one that a later one says as much as.
 *
 * Cost: some ten instructions for a slot of the thread's own, twenty for one of another.
 */
#include "runtime/race/fast.h"

#define COLD __attribute__((noinline))

/* What has become of some slots, and then the new one. */
struct left {
    uint64_t slots[PT_RACE_MANY_MOST + 1];
    unsigned count;
};

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

/* False: it races. */
static inline bool settle_one(const struct pt_race_self *self, uint64_t slot, uint64_t like, unsigned *bytes,
                              struct left *left)
{
    bool own = slot >> PT_RACE_THREAD_AT == self->hb.id, writes = like & PT_RACE_WROTE;
    if (pt_race_is_like(slot, like)) {
        *bytes |= (uint8_t)slot;
        return true;
    }
    if (!own && !pt_race_knows(self, slot)) {
        if ((slot & *bytes) && ((slot | like) & PT_RACE_WROTE))
            return false;
    } else if ((writes || !(slot & PT_RACE_WROTE)) && !pt_race_is_mine(self, slot)) {
        slot &= ~(uint64_t)*bytes;
    }
    if ((uint8_t)slot)
        left->slots[left->count++] = slot;
    return true;
}

/* There is one too many: the new one, which is the last, becomes one with another of the thread's region and kind. */
static COLD bool unite(const struct pt_race_self *self, struct left *left)
{
    uint64_t made = left->slots[--left->count];
    for (unsigned i = 0; i < left->count; i++) {
        uint64_t slot = left->slots[i];
        if (pt_race_is_mine(self, slot) && !((slot ^ made) & PT_RACE_WROTE)) {
            left->slots[i] = later_of(slot, made) | PT_RACE_MERGED | (uint8_t)slot | (uint8_t)made;
            return true;
        }
    }
    return false;
}

__attribute__((always_inline)) static inline enum pt_race_turn settle(const struct pt_race_self *self, uint64_t *slots,
                                                                      unsigned count, uint64_t like, unsigned bytes)
{
    struct left left;
    left.count = 0;
    for (unsigned i = 0; i < count && slots[i]; i++)
        if (!settle_one(self, slots[i], like, &bytes, &left))
            return PT_RACE_RACES;
    left.slots[left.count++] = like | bytes;
    if (left.count > count && !unite(self, &left))
        return PT_RACE_FULL;
    for (unsigned i = 0; i < count; i++)
        slots[i] = i < left.count ? left.slots[i] : 0;
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
__attribute__((always_inline)) static inline enum pt_race_turn
turn(struct pt_race_self *self, uintptr_t granule, uint64_t *slots, unsigned count, uint64_t like, unsigned bytes)
{
    const uint64_t kind_and_place = (UINT64_C(1) << PT_RACE_NUMBER_AT) - 1 - UINT8_MAX;
    unsigned exact = count, same = count, i;
    if (pt_race_is_busy(pt_race_leaf_of(granule), granule))
        return settle(self, slots, count, like, bytes);
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
    return count == PT_RACE_SLOTS ? turn(self, granule, slots, PT_RACE_SLOTS, like, bytes)
                                  : turn(self, granule, slots, count, like, bytes);
}
