/*
 * The index of a hash-consed array: which of the array's elements have a given hash. The array, its elements and what
 * makes two of them equal are the owner's; equal elements then have equal ids, their places in the array. To find an
 * element or to learn that it is new:
 *
 *     for (uint32_t at = hash, id; (id = pt_unique_next(&index, hash, &at)) != PT_NONE;)
 *         if (array[id] is the element)
 *             return id;
 *     pt_unique_add(&index, hash, count);
 *     PT_PUSH(array, count, cap, element);
 */
#ifndef PT_BASE_UNIQUE_H
#define PT_BASE_UNIQUE_H

#include <stdint.h>

#include "base/table.h"

struct pt_unique {
    struct pt_unique_slot {
        uint32_t hash;
        uint32_t id1; /* id + 1; 0: free */
    } * slots;
    uint32_t count, mask;
};

/* Room for half of `slots` elements, a power of two, before it grows for the first time. */
void pt_unique_init(struct pt_unique *index, uint32_t slots);
void pt_unique_release(struct pt_unique *index);
/* Adds an id; whether it is there already is not asked. */
void pt_unique_add(struct pt_unique *index, uint32_t hash, uint32_t id);
/* The next id with this hash, PT_NONE after the last; *at is `hash` to begin with. */
static inline uint32_t pt_unique_next(const struct pt_unique *index, uint32_t hash, uint32_t *at)
{
    for (;;) {
        const struct pt_unique_slot *slot = &index->slots[(*at)++ & index->mask];
        if (!slot->id1)
            return PT_NONE;
        if (slot->hash == hash)
            return slot->id1 - 1;
    }
}

/* A hash of three numbers, for nodes with an operator and two operands. */
static inline uint32_t pt_unique_hash(uint32_t a, uint32_t b, uint32_t c)
{
    return (uint32_t)pt_mix64(((uint64_t)a << 32 | b) ^ (uint64_t)c * UINT64_C(0x9e3779b97f4a7c15));
}

#endif
