/*
 * Memory for what comes and goes while the program runs: what threads know (knowledge.h). A few sizes, each thread
 * with free lists of its own, so that it seldom takes a lock; what one thread makes and another gives back moves
 * through a common list. Nothing is given back to the kernel except very large pieces: the bound is the most that was
 * ever in use at a time.
 */
#ifndef PT_RUNTIME_POOL_POOL_H
#define PT_RUNTIME_POOL_POOL_H

#include <stddef.h>
#include <stdint.h>

enum { PT_POOL_CLASSES = 15 }; /* 64 bytes to 64 KiB */

/* A thread's own free lists. */
struct pt_pool_cache {
    struct {
        void *first;
        uint32_t count;
    } free[PT_POOL_CLASSES];
};

/* 8-aligned, not cleared; NULL when there is no more memory: recording has then stopped. */
void *pt_pool_take(struct pt_pool_cache *cache, size_t bytes);
void pt_pool_give(struct pt_pool_cache *cache, void *memory);
/* In a child that begins anew: all that its parent had taken is forgotten. */
void pt_pool_restart(void);
/* The thread ends. */
void pt_pool_flush(struct pt_pool_cache *cache);

#endif
