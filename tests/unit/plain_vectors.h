/*
 * Plain vectors, that clocks of the runtime are held against; who includes this says before how many counts they have
 * (PLAIN_COUNTS).
 */
#ifndef PT_TESTS_PLAIN_VECTORS_H
#define PT_TESTS_PLAIN_VECTORS_H

#include <stdbool.h>
#include <stdint.h>

struct vector {
    uint64_t count[PLAIN_COUNTS]; /* by the thread's number */
};

static inline unsigned random_below(unsigned *seed, unsigned limit)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % limit;
}

static inline bool vector_leq(const struct vector *a, const struct vector *b)
{
    for (unsigned i = 0; i < PLAIN_COUNTS; i++)
        if (a->count[i] > b->count[i])
            return false;
    return true;
}

static inline void vector_join(struct vector *a, const struct vector *b)
{
    for (unsigned i = 0; i < PLAIN_COUNTS; i++)
        if (b->count[i] > a->count[i])
            a->count[i] = b->count[i];
}

#endif
