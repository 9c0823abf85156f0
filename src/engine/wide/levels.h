/* The states of a level: by their keys, and by how many events they have. */
#ifndef PT_ENGINE_WIDE_LEVELS_H
#define PT_ENGINE_WIDE_LEVELS_H

#include <stdlib.h>
#include <string.h>

#include "engine/wide/wide_impl.h"

static inline void wide_level_release(struct wide_level *level)
{
    free(level->keys);
    free(level->nodes);
    free(level->slots);
    free(level->order);
    free(level->list);
    *level = (struct wide_level){0};
}

/* Empty, with its memory kept. */
static inline void wide_level_clear(struct wide_level *level)
{
    level->count = level->order_count = level->edge_count = 0;
    level->lowest = UINT64_MAX;
    level->highest = 0;
    if (level->slots)
        memset(level->slots, 0, ((size_t)level->mask + 1) * sizeof *level->slots);
}

static inline size_t wide_level_bytes(const struct wide_level *level, uint32_t words)
{
    size_t state = words * sizeof *level->keys + sizeof *level->nodes;
    return level->cap * state + (level->slots ? ((size_t)level->mask + 1) * sizeof *level->slots : 0) +
           level->order_cap * sizeof *level->order + level->edge_cap * sizeof *level->list;
}

static inline void wide_level_grow(struct wide_level *level, uint32_t words)
{
    uint32_t cap = level->cap ? 2 * level->cap : 64;
    level->keys = pt_xrealloc(level->keys, (size_t)cap * words * sizeof *level->keys);
    level->nodes = pt_xrealloc(level->nodes, cap * sizeof *level->nodes);
    level->cap = cap;
}

/* Counts that are close together get far from each other in the upper bits, which are what is taken. */
static inline uint32_t wide_hash_key(const uint64_t *key, uint32_t words)
{
    uint64_t hash = 0;
    for (uint32_t k = 0; k < words; k++)
        hash = (hash ^ hash >> 32 ^ key[k]) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(hash >> 32);
}

static inline uint32_t wide_slot_of(const struct wide_level *level, const uint64_t *key, uint32_t words)
{
    return (uint32_t)((wide_hash_key(key, words) * ((uint64_t)level->mask + 1)) >> 32);
}

static inline void wide_level_rehash(struct wide_level *level, uint32_t words)
{
    uint32_t size = level->slots ? 2 * (level->mask + 1) : 128;
    free(level->slots);
    level->slots = pt_xcalloc(size, sizeof *level->slots);
    level->mask = size - 1;
    for (uint32_t i = 0; i < level->count; i++) {
        uint32_t at = wide_slot_of(level, level->keys + (size_t)i * words, words);
        while (level->slots[at])
            at = (at + 1) & level->mask;
        level->slots[at] = i + 1;
    }
}

/* A state of so many events waits to be expanded. */
static inline void wide_wait(struct wide_level *level, uint32_t *waiting, uint32_t state, uint64_t total)
{
    level->nodes[state].waits = waiting[total];
    waiting[total] = state + 1;
    level->lowest = total < level->lowest ? total : level->lowest;
    level->highest = total > level->highest ? total : level->highest;
}

/* One with the fewest events; PT_NONE: none waits. Those that come later have more than the one that was given last. */
static inline uint32_t wide_next_waiting(struct wide_level *level, uint32_t *waiting)
{
    for (; level->lowest <= level->highest; level->lowest++) {
        uint32_t first = waiting[level->lowest];
        if (!first)
            continue;
        waiting[level->lowest] = level->nodes[first - 1].waits;
        return first - 1;
    }
    return PT_NONE;
}

static inline bool wide_is_same(const struct wide_level *level, uint32_t state, const uint64_t *key, uint32_t words)
{
    if (level->nodes[state].first != key[0])
        return false;
    const uint64_t *known = level->keys + (size_t)state * words;
    uint64_t differs = 0;
    for (uint32_t k = 1; k < words; k++)
        differs |= known[k] ^ key[k];
    return !differs;
}

/* There is room for so many more states. */
static inline void wide_level_reserve(struct wide_level *level, uint32_t words, uint32_t more)
{
    while (!level->slots || level->count + more > level->mask / 2)
        wide_level_rehash(level, words);
    while (level->count + more > level->cap)
        wide_level_grow(level, words);
}

/* The state of the key, of so many events; a new one, without a set, if there is none: there is room for it. */
static inline struct wide_node *wide_level_state(struct wide_level *level, const uint64_t *key, uint32_t words,
                                                 uint32_t *waiting, uint64_t total)
{
    uint32_t at = wide_slot_of(level, key, words);
    for (; level->slots[at]; at = (at + 1) & level->mask)
        if (wide_is_same(level, level->slots[at] - 1, key, words))
            return &level->nodes[level->slots[at] - 1];
    uint32_t state = level->count++;
    level->slots[at] = state + 1;
    for (uint32_t k = 0; k < words; k++)
        level->keys[(size_t)state * words + k] = key[k];
    level->nodes[state] = (struct wide_node){.first = key[0], .set = PT_SET_EMPTY};
    wide_wait(level, waiting, state, total);
    return &level->nodes[state];
}

#endif
