/*
 * Memory for the clocks and cells of the race check: pieces of 16 bytes and multiples, in lists by size, cut from
 * slabs; large ones from malloc. Constant time; what is given back serves the next of its size.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/races.h"

enum { UNIT = 16, SLAB = 256 * 1024, CLASSES = sizeof((struct races_pool *)0)->free / sizeof(void *) };

struct races_slab {
    struct races_slab *next;
    max_align_t bytes[];
};

static void *new_piece(struct races_pool *pool, size_t bytes)
{
    if ((size_t)(pool->end - pool->at) < bytes) { /* the little that is left is lost */
        struct races_slab *slab = pt_xmalloc(sizeof *slab + SLAB);
        slab->next = pool->slabs;
        pool->slabs = slab;
        pool->at = (char *)slab->bytes;
        pool->end = pool->at + SLAB;
        pool->bytes += SLAB;
    }
    void *piece = pool->at;
    pool->at += bytes;
    return piece;
}

static void *take(void *context, size_t bytes)
{
    struct races_pool *pool = context;
    size_t class = (bytes + UNIT - 1) / UNIT;
    if (class >= CLASSES) {
        pool->bytes += bytes;
        return pt_xmalloc(bytes);
    }
    void *piece = pool->free[class];
    if (!piece)
        return new_piece(pool, class * UNIT);
    memcpy(&pool->free[class], piece, sizeof(void *));
    return piece;
}

static void give(void *context, void *piece, size_t bytes)
{
    struct races_pool *pool = context;
    size_t class = (bytes + UNIT - 1) / UNIT;
    if (class >= CLASSES) {
        pool->bytes -= bytes;
        free(piece);
        return;
    }
    memcpy(piece, &pool->free[class], sizeof(void *));
    pool->free[class] = piece;
}

struct pt_race_memory pt_races_memory(struct races_pool *pool)
{
    return (struct pt_race_memory){take, give, pool, false};
}

void pt_races_memory_release(struct races_pool *pool)
{
    for (struct races_slab *slab = pool->slabs, *next; slab; slab = next) {
        next = slab->next;
        free(slab);
    }
    *pool = (struct races_pool){0};
}
