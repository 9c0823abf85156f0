/*
 * Shared, immutable clocks with reference counts, in a pool of spare ones by length.
 *
 * Guarantee: a join that adds nothing returns the larger operand instead of a copy, so that those who know the same
 * have the very same clock, and comparing pointers answers most questions. Cost: O(1) where both are the same, else
 * O(threads); no allocation in a steady stream, as clocks of up to 79 threads are used again.
 */
#include "order/clock.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static size_t clock_size(uint32_t len)
{
    return sizeof(struct pt_clock) + len * sizeof(uint64_t);
}

static uint32_t clock_class(uint32_t len)
{
    return len / 4;
}

static struct pt_clock *clock_alloc(uint32_t len, struct pt_clock_pool *pool)
{
    uint32_t class = clock_class(len);
    struct pt_clock *c;
    if (class >= PT_CLOCK_CLASSES) {
        c = pt_xmalloc(clock_size(len));
    } else if (pool->spare[class]) {
        c = pool->spare[class];
        pool->spare[class] = c->next;
    } else {
        c = pt_xmalloc(clock_size(class * 4 + 3)); /* the longest of the class */
    }
    c->pool = pool;
    c->refs = 1;
    c->len = len;
    pool->bytes += clock_size(len);
    return c;
}

struct pt_clock *pt_clock_new(uint32_t len, struct pt_clock_pool *pool)
{
    struct pt_clock *c = clock_alloc(len, pool);
    memset(c->counts, 0, len * sizeof c->counts[0]);
    return c;
}

struct pt_clock *pt_clock_ref(struct pt_clock *c)
{
    c->refs++;
    return c;
}

void pt_clock_unref(struct pt_clock *c)
{
    if (!c || --c->refs)
        return;
    struct pt_clock_pool *pool = c->pool;
    uint32_t class = clock_class(c->len);
    pool->bytes -= clock_size(c->len);
    if (class >= PT_CLOCK_CLASSES) {
        free(c);
        return;
    }
    c->next = pool->spare[class];
    pool->spare[class] = c;
}

void pt_clock_pool_release(struct pt_clock_pool *pool)
{
    for (uint32_t class = 0; class < PT_CLOCK_CLASSES; class ++) {
        for (struct pt_clock *c = pool->spare[class], *next; c; c = next) {
            next = c->next;
            free(c);
        }
        pool->spare[class] = NULL;
    }
}

enum { LEFT_MORE = 1, RIGHT_MORE = 2 };

/* Where each clock knows more than the other, in one pass without early exits, so that it is a vector loop: as counts
 * are at most PT_COUNT_MAX, the top bit of a difference tells which is less. */
static unsigned clock_relation(const struct pt_clock *a, const struct pt_clock *b)
{
    uint32_t n = a->len < b->len ? a->len : b->len;
    uint64_t left = 0, right = 0, left_rest = 0, right_rest = 0;
    for (uint32_t j = 0; j < n; j++) {
        left |= b->counts[j] - a->counts[j];
        right |= a->counts[j] - b->counts[j];
    }
    for (uint32_t j = n; j < a->len; j++)
        left_rest |= a->counts[j];
    for (uint32_t j = n; j < b->len; j++)
        right_rest |= b->counts[j];
    return (left > PT_COUNT_MAX || left_rest ? LEFT_MORE : 0) | (right > PT_COUNT_MAX || right_rest ? RIGHT_MORE : 0);
}

static struct pt_clock *clock_max(const struct pt_clock *a, const struct pt_clock *b)
{
    const struct pt_clock *longer = a->len >= b->len ? a : b, *shorter = longer == a ? b : a;
    struct pt_clock *c = clock_alloc(longer->len, longer->pool);
    for (uint32_t j = 0; j < shorter->len; j++)
        c->counts[j] = a->counts[j] > b->counts[j] ? a->counts[j] : b->counts[j];
    memcpy(c->counts + shorter->len, longer->counts + shorter->len, (longer->len - shorter->len) * sizeof c->counts[0]);
    return c;
}

bool pt_clock_absorb_slow(struct pt_clock **place, struct pt_clock *other)
{
    if (!*place) {
        *place = pt_clock_ref(other);
        return true;
    }
    unsigned relation = clock_relation(*place, other);
    if (!(relation & RIGHT_MORE))
        return false;
    struct pt_clock *c = relation & LEFT_MORE ? clock_max(*place, other) : pt_clock_ref(other);
    pt_clock_unref(*place);
    *place = c;
    return true;
}

void pt_clock_tick(struct pt_clock **place, uint32_t i)
{
    const struct pt_clock *old = *place;
    struct pt_clock *c = clock_alloc(old->len > i ? old->len : i + 1, old->pool);
    memcpy(c->counts, old->counts, old->len * sizeof c->counts[0]);
    memset(c->counts + old->len, 0, (c->len - old->len) * sizeof c->counts[0]);
    c->counts[i]++;
    pt_clock_unref(*place);
    *place = c;
}
