#include "runtime/pool.h"

#include <string.h>

#include "runtime/sys.h"
#include "runtime/thread.h"

enum { SMALLEST = 6, BATCH = 16, CHUNK = 1 << 20 };

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
} common;

static void **link_of(void *memory)
{
    return memory;
}

static void *carve(uint32_t size_class)
{
    size_t bytes = (size_t)1 << (SMALLEST + size_class);
    if (common.left < bytes) {
        common.chunk = pt_sys_reserve(CHUNK);
        common.left = common.chunk ? CHUNK : 0;
        if (!common.chunk)
            return NULL;
    }
    struct head *head = (void *)common.chunk;
    common.chunk += bytes;
    common.left -= bytes;
    head->size_class = size_class;
    return head + 1;
}

/* Moves a few pieces of the class to the thread's list. */
static void refill(struct pt_thread *self, uint32_t size_class)
{
    pt_spin_lock(&common.lock);
    for (unsigned i = 0; i < BATCH; i++) {
        void *memory = common.free[size_class];
        if (memory)
            common.free[size_class] = *link_of(memory);
        else
            memory = carve(size_class);
        if (!memory)
            break;
        *link_of(memory) = self->pool.free[size_class].first;
        self->pool.free[size_class].first = memory;
        self->pool.free[size_class].count++;
    }
    pt_spin_unlock(&common.lock);
}

static void *take_large(size_t bytes)
{
    size_t pages = (bytes + sizeof(struct head) + 4095) / 4096;
    struct head *head = pages >> 31 ? NULL : pt_sys_reserve(pages * 4096);
    if (!head)
        return NULL;
    *head = (struct head){PT_POOL_CLASSES, (uint32_t)pages};
    return head + 1;
}

void *pt_pool_take(struct pt_thread *self, size_t bytes)
{
    size_t needed = (bytes + sizeof(struct head) - 1) >> SMALLEST;
    uint32_t size_class = needed ? 64 - (uint32_t)__builtin_clzll(needed) : 0;
    if (size_class > PT_POOL_CLASSES)
        size_class = PT_POOL_CLASSES;
    void *memory = NULL;
    if (size_class == PT_POOL_CLASSES) {
        memory = take_large(bytes);
    } else {
        if (!self->pool.free[size_class].first)
            refill(self, size_class);
        memory = self->pool.free[size_class].first;
        if (memory) {
            self->pool.free[size_class].first = *link_of(memory);
            self->pool.free[size_class].count--;
        }
    }
    if (!memory)
        pt_runtime_give_up();
    return memory;
}

void pt_pool_give(struct pt_thread *self, void *memory)
{
    if (!memory)
        return;
    struct head *head = (struct head *)memory - 1;
    uint32_t size_class = head->size_class;
    if (size_class == PT_POOL_CLASSES) {
        pt_sys_release(head, (size_t)head->pages * 4096);
        return;
    }
    *link_of(memory) = self->pool.free[size_class].first;
    self->pool.free[size_class].first = memory;
    if (++self->pool.free[size_class].count < 4 * BATCH)
        return;
    pt_spin_lock(&common.lock);
    while (self->pool.free[size_class].count > 2 * BATCH) {
        void *given = self->pool.free[size_class].first;
        self->pool.free[size_class].first = *link_of(given);
        self->pool.free[size_class].count--;
        *link_of(given) = common.free[size_class];
        common.free[size_class] = given;
    }
    pt_spin_unlock(&common.lock);
}

void pt_pool_flush(struct pt_thread *self)
{
    pt_spin_lock(&common.lock);
    for (uint32_t c = 0; c < PT_POOL_CLASSES; c++) {
        for (void *memory = self->pool.free[c].first, *next; memory; memory = next) {
            next = *link_of(memory);
            *link_of(memory) = common.free[c];
            common.free[c] = memory;
        }
    }
    memset(&self->pool, 0, sizeof self->pool);
    pt_spin_unlock(&common.lock);
}
