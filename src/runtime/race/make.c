/*
 * Plain accesses of granules that have no cell: of what each granule was accessed by, four slots.
 *
 * Guarantee (FastTrack's, by bytes; Flanagan, Freund, PLDI 2009): a slot is replaced only by an access that comes after
 * it, has all its bytes, and writes if it does. Whoever races with what was replaced races with that access, too, so
 * that there is a race is always seen; if both are of one place, the pair of places is the same. Else what is replaced
 * goes to the log of the thread, where open.c finds it for as long as it is there. Where all four are in use, one goes
 * there that another one says as much as; or two of the same thread, region and kind become one, which says what bytes
 * they have together, while the log says which has which. Once the log has lost something, of a granule whose slots are
 * all in use an access is not told that is of the same kind and bytes as others of the thread's region. An access that
 * would race, or for which no slot does, is not made here.
 *
 * All changes are made under the granule's lock, which is a bit of its first slot. That an access was made before is
 * found without it: nobody else replaces a slot of the thread's present region, but who has learned of it by a read
 * that raced, and then the granule has a cell.
 *
 * Cost: a compare-and-swap, a look at four slots and at what is known of their threads: some 80 instructions.
 */
#include "runtime/race/fast.h"

#define COLD __attribute__((noinline))

/* All slots are in use: which may be replaced; of an earlier region, if there is one. */
static COLD void choose_replaced(const struct pt_race_self *self, const uint64_t *slots, unsigned count, uint64_t like,
                                 unsigned bytes, struct pt_race_choice_of *choice)
{
    bool is_old = false;
    choice->turn = PT_RACE_FULL;
    for (unsigned i = 0; i < count && !is_old; i++) {
        if ((uint8_t)slots[i] & ~bytes || (slots[i] & ~like & PT_RACE_WROTE) || !pt_race_knows(self, slots[i]))
            continue;
        choice->turn = PT_RACE_MADE;
        choice->evicts = true;
        choice->at = i;
        is_old = !pt_race_is_mine(self, slots[i]);
    }
}

/* Of a busy page: what becomes of all slots, of which as few as possible stay. How many there are then, of at most one
 * more than there were; -1: it races. */
static COLD int settle(const struct pt_race_self *self, uint64_t *slots, unsigned count, uint64_t like, unsigned bytes)
{
    bool writes = like & PT_RACE_WROTE;
    unsigned left = 0, all = bytes;
    bool merged = false;
    uint64_t made = like;
    for (unsigned i = 0; i < count && slots[i]; i++)
        if (slots[i] >> PT_RACE_THREAD_AT != self->hb.id && (slots[i] & bytes) && ((slots[i] | like) & PT_RACE_WROTE) &&
            !pt_race_knows(self, slots[i]))
            return -1;
    for (unsigned i = 0; i < count && slots[i]; i++) {
        uint64_t slot = slots[i];
        if (pt_race_is_mine(self, slot) && !((slot ^ like) & PT_RACE_WROTE)) {
            all |= (uint8_t)slot;
            made = pt_race_number_of(slot) > pt_race_number_of(made) ? slot & ~(uint64_t)UINT8_MAX : made;
            merged |= !pt_race_is_like(slot, like) && (uint8_t)slot != bytes;
            continue;
        }
        if ((writes || !(slot & PT_RACE_WROTE)) && pt_race_knows(self, slot)) {
            slot &= ~(uint64_t)bytes;
            if (!(uint8_t)slot)
                continue;
        }
        slots[left++] = slot;
    }
    slots[left++] = made | all | (merged ? PT_RACE_MERGED : 0);
    for (unsigned i = left; i < count; i++)
        slots[i] = 0;
    return (int)left;
}

/* Which of the slots does: one of such accesses; one of the same place, which is not told apart from this; a free one;
 * one that may be replaced, of an earlier region if there is one. */
__attribute__((always_inline)) static inline struct pt_race_choice_of
choose(const struct pt_race_self *self, const uint64_t *slots, unsigned count, uint64_t like, unsigned bytes)
{
    const uint64_t kind_and_place = (UINT64_C(1) << PT_RACE_NUMBER_AT) - 1 - UINT8_MAX;
    unsigned exact = count, same = count, i;
    for (i = 0; i < count && slots[i]; i++) {
        uint64_t slot = slots[i], differ = slot ^ like;
        bool own = slot >> PT_RACE_THREAD_AT == self->hb.id;
        if (own && differ <= UINT8_MAX) {
            exact = i;
        } else if (!own && !pt_race_knows(self, slot)) {
            if ((slot & bytes) && ((slot | like) & PT_RACE_WROTE))
                return (struct pt_race_choice_of){.turn = PT_RACE_RACES};
        } else if (!(differ & kind_and_place) && pt_race_code_in(like) && !((uint8_t)slot & ~bytes) &&
                   (own || !pt_race_looks.threads)) {
            same = i;
        }
    }
    if (exact < count)
        return (struct pt_race_choice_of){.at = exact, .slot = slots[exact] | bytes};
    struct pt_race_choice_of choice = {.at = same < count ? same : i, .slot = like | bytes};
    if (__builtin_expect(choice.at == count, 0))
        choose_replaced(self, slots, count, like, bytes, &choice);
    return choice;
}

struct pt_race_choice_of pt_race_choose_slot(const struct pt_race_self *self, const uint64_t *slots, unsigned count,
                                             uint64_t like, unsigned bytes)
{
    return choose(self, slots, count, like, bytes);
}

COLD void pt_race_give_up(struct pt_race_self *self, uintptr_t granule, uint64_t slot)
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

/* An access becomes one with another of the thread's region. Which was of which bytes is in the log. */
static void merge(struct pt_race_self *self, uintptr_t granule, uint64_t slot, uint64_t like, unsigned bytes,
                  struct pt_race_choice_of *choice)
{
    if (!(slot & PT_RACE_MERGED))
        pt_race_give_up(self, granule, slot);
    pt_race_give_up(self, granule, like | bytes);
    uint64_t latest = pt_race_number_of(slot) > pt_race_number_of(like) ? slot & ~(uint64_t)UINT8_MAX : like;
    choice->slot = latest | PT_RACE_MERGED | (uint8_t)slot | bytes;
}

COLD bool pt_race_make_room(struct pt_race_self *self, uintptr_t granule, uint64_t like, unsigned bytes,
                            const uint64_t *slots, unsigned count, struct pt_race_choice_of *choice)
{
    choice->turn = PT_RACE_MADE;
    choice->slot = like | bytes;
    for (choice->at = 0; choice->at < count; choice->at++)
        if (is_said(slots, count, slots[choice->at])) {
            pt_race_give_up(self, granule, slots[choice->at]);
            return true;
        }
    for (choice->at = 0; choice->at < count; choice->at++) {
        uint64_t slot = slots[choice->at];
        if (pt_race_is_mine(self, slot) && !((slot ^ like) & PT_RACE_WROTE)) {
            merge(self, granule, slot, like, bytes, choice);
            return true;
        }
    }
    choice->turn = PT_RACE_FULL;
    return false;
}

/* Under the lock: four slots do not do. What becomes of the first one. */
static COLD enum pt_race_turn make_many(struct pt_race_self *self, struct pt_race_granule *granule, uintptr_t address,
                                        const uint64_t *slots, unsigned bytes, uint64_t like,
                                        const struct pt_site *site, uint64_t *first)
{
    uint64_t word = pt_race_many_begin(self, slots);
    if (!word)
        return PT_RACE_FULL;
    for (unsigned i = 1; i < PT_RACE_SLOTS; i++)
        pt_race_put(&granule->slots[i], 0);
    *first = word;
    return pt_race_many_make(self, first, address, bytes, like, site);
}

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

__attribute__((always_inline)) static inline bool make(struct pt_race_self *self, struct pt_race_granule *granule,
                                                       uintptr_t address, unsigned bytes, uint64_t like,
                                                       const struct pt_site *site)
{
    uint64_t slots[PT_RACE_SLOTS];
    enum pt_race_turn turn;
    uint64_t first = slots[0] = lock(&granule->slots[0]);
    if (__builtin_expect(first & PT_RACE_OWN, 0)) {
        turn =
            (uint32_t)first & PT_RACE_MANY ? pt_race_many_make(self, &first, address, bytes, like, site) : PT_RACE_FULL;
        pt_race_unlock_word(&granule->slots[0], first);
        return turn == PT_RACE_MADE;
    }
    for (unsigned i = 1; i < PT_RACE_SLOTS; i++)
        slots[i] = pt_race_get(&granule->slots[i]);
    if (pt_race_is_busy(pt_race_leaf_of(address), address)) {
        uint64_t more[PT_RACE_SLOTS + 1];
        for (unsigned i = 0; i < PT_RACE_SLOTS; i++)
            more[i] = slots[i];
        int count = settle(self, more, PT_RACE_SLOTS, like, bytes);
        if (count >= 0 && count <= PT_RACE_SLOTS) {
            pt_race_follow_if(self, slots, PT_RACE_SLOTS, like, bytes);
            for (unsigned i = 1; i < PT_RACE_SLOTS; i++)
                if (more[i] != slots[i])
                    pt_race_put(&granule->slots[i], more[i]);
            pt_race_unlock_word(&granule->slots[0], more[0]);
            return true;
        }
    }
    struct pt_race_choice_of choice = choose(self, slots, PT_RACE_SLOTS, like, bytes);
    if (__builtin_expect(choice.turn == PT_RACE_FULL, 0))
        pt_race_make_room(self, address, like, bytes, slots, PT_RACE_SLOTS, &choice);
    turn = choice.turn;
    if (__builtin_expect(turn == PT_RACE_MADE, 1)) {
        pt_race_follow_if(self, slots, PT_RACE_SLOTS, like, bytes);
        if (__builtin_expect(choice.evicts, 0))
            pt_race_give_up(self, address, slots[choice.at]);
        if (choice.at)
            pt_race_put(&granule->slots[choice.at], choice.slot);
        else
            first = choice.slot;
    } else if (turn == PT_RACE_FULL) {
        turn = make_many(self, granule, address, slots, bytes, like, site, &first);
    }
    pt_race_unlock_word(&granule->slots[0], first);
    return turn == PT_RACE_MADE;
}

int pt_race_settle(const struct pt_race_self *self, uint64_t *slots, unsigned count, uint64_t like, unsigned bytes)
{
    return settle(self, slots, count, like, bytes);
}

bool pt_race_make(struct pt_race_self *self, struct pt_race_granule *granule, uintptr_t address, unsigned bytes,
                  uint64_t like, const struct pt_site *site)
{
    return make(self, granule, address, bytes, like, site);
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
    return make(self, granule, address, bytes, like, site);
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
