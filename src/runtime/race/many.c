/*
 * Granules for which four slots do not do: several threads have read them that know nothing of each other, or their
 * bytes were accessed one by one. Such a granule has a list of slots; what is made of one follows make.c's rule.
 *
 * Guarantee: make.c's. Cost: the granule's lock, and a look at each slot; a list of seven has a cache line.
 */
#include "runtime/race/log.h"

#include <string.h>

/* A list of that size with these slots, and its word; 0: there is no more room. */
static uint64_t make_list(struct pt_race_self *self, unsigned size, const uint64_t *slots, unsigned count)
{
    uint32_t at = size < PT_RACE_MANY_SIZES ? pt_race_many_new(self, size) : 0;
    if (!at)
        return 0;
    struct pt_race_many *many = pt_race_many_at(at);
    for (unsigned i = 0; i < count; i++)
        many->slots[i] = slots[i];
    many->count = (uint8_t)count;
    return PT_RACE_OWN | PT_RACE_MANY | at;
}

uint64_t pt_race_many_begin(struct pt_race_self *self, const uint64_t *slots)
{
    return make_list(self, 1, slots, PT_RACE_SLOTS);
}

void pt_race_many_end(struct pt_race_self *self, uint64_t word)
{
    pt_race_many_free(self, (uint32_t)word & ~PT_RACE_MANY);
}

bool pt_race_many_is_known(const struct pt_race_self *self, uint64_t word)
{
    const struct pt_race_many *many = pt_race_many_of(word);
    for (unsigned i = 0; i < many->count; i++)
        if (!pt_race_knows(self, many->slots[i]))
            return false;
    return true;
}

/* A longer list with the same slots; false: there is none. */
static bool grow(struct pt_race_self *self, uint64_t *word)
{
    const struct pt_race_many *many = pt_race_many_of(*word);
    uint64_t longer = make_list(self, many->size + 1u, many->slots, many->count);
    if (!longer)
        return false;
    pt_race_many_end(self, *word);
    *word = longer;
    return true;
}

/* Four slots do again. */
static void shrink(struct pt_race_self *self, uint64_t *word, struct pt_race_granule *granule, const uint64_t *slots)
{
    pt_race_many_end(self, *word);
    for (unsigned i = 1; i < PT_RACE_SLOTS; i++)
        pt_race_put(pt_race_slot_at(granule, i), slots[i]);
    *word = slots[0];
}

enum pt_race_turn pt_race_many_make(struct pt_race_self *self, uint64_t *word, struct pt_race_granule *granule,
                                    uintptr_t address, unsigned bytes, uint64_t like, const struct pt_site *site)
{
    struct pt_race_many *many = pt_race_many_of(*word);
    uint64_t slots[PT_RACE_MANY_MOST] = {0};
    unsigned room = pt_race_many_room(many->size), count = many->count;
    memcpy(slots, many->slots, count * sizeof *slots);
    enum pt_race_turn turn = pt_race_turn(self, address, slots, room, like, bytes);
    if (turn == PT_RACE_FULL && grow(self, word)) {
        many = pt_race_many_of(*word);
        room = pt_race_many_room(many->size);
        turn = pt_race_turn(self, address, slots, room, like, bytes);
    }
    if (turn != PT_RACE_MADE)
        return turn;
    pt_race_follow_if(self, many->slots, count, like, bytes);
    if (pt_race_is_busy(pt_race_leaf_of(address), address) && !slots[PT_RACE_SLOTS]) {
        shrink(self, word, granule, slots);
        return turn;
    }
    for (count = 0; count < room && slots[count]; count++)
        many->slots[count] = slots[count];
    many->count = (uint8_t)count;
    pt_race_filter_put(self, address, bytes, like & PT_RACE_WROTE, site);
    return turn;
}
