/*
 * The pool: free lists by size, first the thread's own, then common ones under a lock. A piece is preceded by its
 * size class, so whoever gives it back need not say how large it was.
 *
 * Guarantee: a piece that was taken is nobody else's until it is given back, by whatever thread. Cost: a push or a pop,
 * and one lock for each MOVED pieces; pieces beyond the largest class are mapped and unmapped for themselves.
 */
#include "runtime/pool/pool.h"

#include <string.h>

#include "runtime/sys/runtime.h"
#include "runtime/sys/sys.h"

/* Sizes are multiples of a line up to LINEAR of them, then powers of two. Pieces are moved a few at a time: no more
 * than a page of new ones, since pages that are touched for the first time are what a short thread pays for. */
enum { LINE = 64, LINEAR = 8, MOVED = 16, KEPT = 64, PAGE = 4096, CHUNK = 1 << 20 };

/* In front of each piece. In a free one the next of its list follows. */
struct head {
    uint32_t size_class; /* PT_POOL_CLASSES: mapped for itself ... */
    uint32_t pages;      /* ... with so many pages */
};

static struct {
    struct pt_spin lock;
    unsigned char *chunk;
    size_t left;
    void *free[PT_POOL_CLASSES];
} common = {.lock = PT_SPIN(PT_RANK_POOL)};

static void **link_of(void *memory)
{
    return memory;
}

static size_t bytes_in(uint32_t size_class)
{
    return size_class < LINEAR ? (size_t)LINE * (size_class + 1) : (size_t)LINE * LINEAR << (size_class - LINEAR + 1);
}

static uint32_t class_of(size_t bytes)
{
    if (bytes > bytes_in(PT_POOL_CLASSES - 1) - sizeof(struct head))
        return PT_POOL_CLASSES;
    uint32_t further = (uint32_t)(bytes + sizeof(struct head) - 1) / LINE; /* lines beside the first */
    return further < LINEAR ? further : LINEAR + 31 - (uint32_t)__builtin_clz(further / LINEAR);
}

/* Memory for a few pieces of the class, not touched; fewer at the end of a chunk, NULL without memory. */
static unsigned char *carve(uint32_t size_class, unsigned *count)
{
    size_t bytes = bytes_in(size_class);
    *count = bytes * MOVED <= PAGE ? MOVED : bytes < PAGE ? (unsigned)(PAGE / bytes) : 1;
    if (common.left < bytes) {
        common.chunk = pt_sys_reserve(CHUNK);
        common.left = common.chunk ? CHUNK : 0;
        if (!common.chunk)
            return NULL;
    }
    if (*count * bytes > common.left)
        *count = (unsigned)(common.left / bytes);
    unsigned char *pieces = common.chunk;
    common.chunk += *count * bytes;
    common.left -= *count * bytes;
    return pieces;
}

static void keep(struct pt_pool_cache *cache, uint32_t size_class, void *memory)
{
    *link_of(memory) = cache->free[size_class].first;
    cache->free[size_class].first = memory;
    cache->free[size_class].count++;
}

/* Moves a few pieces of the class to the thread's list. New ones are touched, page by page, when the lock is free
 * again. */
static void refill(struct pt_pool_cache *cache, uint32_t size_class)
{
    unsigned moved = 0, made = 0;
    unsigned char *pieces = NULL;
    pt_spin_lock(&common.lock);
    for (void *memory; moved < MOVED && (memory = common.free[size_class]); moved++) {
        common.free[size_class] = *link_of(memory);
        keep(cache, size_class, memory);
    }
    if (!moved)
        pieces = carve(size_class, &made);
    pt_spin_unlock(&common.lock);
    for (unsigned i = 0; pieces && i < made; i++) {
        struct head *head = (void *)(pieces + i * bytes_in(size_class));
        head->size_class = size_class;
        keep(cache, size_class, head + 1);
    }
}

static void *take_large(size_t bytes)
{
    size_t pages = (bytes + sizeof(struct head) + PAGE - 1) / PAGE;
    struct head *head = pages >> 31 ? NULL : pt_sys_reserve(pages * PAGE);
    if (!head)
        return NULL;
    *head = (struct head){PT_POOL_CLASSES, (uint32_t)pages};
    return head + 1;
}

void *pt_pool_take(struct pt_pool_cache *cache, size_t bytes)
{
    uint32_t size_class = class_of(bytes);
    void *memory = NULL;
    if (size_class == PT_POOL_CLASSES) {
        memory = take_large(bytes);
    } else {
        if (!cache->free[size_class].first)
            refill(cache, size_class);
        memory = cache->free[size_class].first;
        if (memory) {
            cache->free[size_class].first = *link_of(memory);
            cache->free[size_class].count--;
        }
    }
    if (!memory)
        pt_runtime_give_up();
    return memory;
}

void pt_pool_give(struct pt_pool_cache *cache, void *memory)
{
    if (!memory)
        return;
    struct head *head = (struct head *)memory - 1;
    uint32_t size_class = head->size_class;
    if (size_class == PT_POOL_CLASSES) {
        pt_sys_release(head, (size_t)head->pages * PAGE);
        return;
    }
    *link_of(memory) = cache->free[size_class].first;
    cache->free[size_class].first = memory;
    if (++cache->free[size_class].count < KEPT)
        return;
    pt_spin_lock(&common.lock);
    while (cache->free[size_class].count > KEPT / 2) {
        void *given = cache->free[size_class].first;
        cache->free[size_class].first = *link_of(given);
        cache->free[size_class].count--;
        *link_of(given) = common.free[size_class];
        common.free[size_class] = given;
    }
    pt_spin_unlock(&common.lock);
}

void pt_pool_flush(struct pt_pool_cache *cache)
{
    pt_spin_lock(&common.lock);
    for (uint32_t c = 0; c < PT_POOL_CLASSES; c++) {
        for (void *memory = cache->free[c].first, *next; memory; memory = next) {
            next = *link_of(memory);
            *link_of(memory) = common.free[c];
            common.free[c] = memory;
        }
    }
    memset(cache, 0, sizeof *cache);
    pt_spin_unlock(&common.lock);
}
