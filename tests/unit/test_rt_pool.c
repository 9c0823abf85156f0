/* The runtime's pool, alone with the layer below it, against a list of what is in use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/pool/pool.h"

enum { CACHES = 3, LIVE = 300, STEPS = 60000, LARGEST = 200 * 1000 };

struct piece {
    unsigned char *memory;
    size_t bytes;
    unsigned char fill;
};

static unsigned random_below(unsigned *seed, unsigned limit)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % limit;
}

/* Mostly small, at times beyond the largest class. */
static size_t random_size(unsigned *seed)
{
    unsigned kind = random_below(seed, 20);
    return 1 + random_below(seed, kind == 0 ? LARGEST : kind < 4 ? 9000 : 300);
}

static void check(const struct piece *piece)
{
    for (size_t i = 0; i < piece->bytes; i++)
        if (piece->memory[i] != piece->fill)
            fail_msg("byte %zu of a piece of %zu was written by another", i, piece->bytes);
}

/* What is in use is nobody else's, whichever cache took it and whichever gives it back. */
static void test_pieces_are_separate(void **state)
{
    (void)state;
    static struct pt_pool_cache caches[CACHES];
    static struct piece live[LIVE];
    unsigned seed = 12;
    for (unsigned step = 0; step < STEPS; step++) {
        struct piece *piece = &live[random_below(&seed, LIVE)];
        struct pt_pool_cache *cache = &caches[random_below(&seed, CACHES)];
        if (piece->memory) {
            check(piece);
            pt_pool_give(cache, piece->memory);
            piece->memory = NULL;
        } else {
            piece->bytes = random_size(&seed);
            piece->fill = (unsigned char)step;
            piece->memory = pt_pool_take(cache, piece->bytes);
            assert_non_null(piece->memory);
            assert_int_equal((uintptr_t)piece->memory % 8, 0);
            memset(piece->memory, piece->fill, piece->bytes);
        }
        if (step % 20000 == 19999)
            pt_pool_flush(cache);
    }
    for (unsigned i = 0; i < LIVE; i++) {
        if (live[i].memory)
            check(&live[i]);
        pt_pool_give(&caches[0], live[i].memory);
    }
}

static int compare(const void *a, const void *b)
{
    uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;
    return x < y ? -1 : x > y;
}

/* What one thread has given back and left behind is all that the next one needs. */
static void test_memory_is_used_again(void **state)
{
    (void)state;
    enum { COUNT = 2000 };
    static uintptr_t first[COUNT], again[COUNT];
    struct pt_pool_cache one = {0}, other = {0};
    for (unsigned i = 0; i < COUNT; i++)
        first[i] = (uintptr_t)pt_pool_take(&one, 100 + i % 900);
    for (unsigned i = 0; i < COUNT; i++)
        pt_pool_give(&one, (void *)first[i]);
    pt_pool_flush(&one);
    for (unsigned i = 0; i < COUNT; i++)
        again[i] = (uintptr_t)pt_pool_take(&other, 100 + i % 900);
    qsort(first, COUNT, sizeof *first, compare);
    unsigned known = 0;
    for (unsigned i = 0; i < COUNT; i++)
        known += bsearch(&again[i], first, COUNT, sizeof *first, compare) != NULL;
    /* pieces that were carved and never taken are in the lists too */
    assert_in_range(known, COUNT * 9 / 10, COUNT);
}

static void test_nothing_is_given(void **state)
{
    (void)state;
    struct pt_pool_cache cache = {0};
    pt_pool_give(&cache, NULL);
    pt_pool_flush(&cache);
    for (unsigned i = 0; i < PT_POOL_CLASSES; i++)
        assert_null(cache.free[i].first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_are_separate),
        cmocka_unit_test(test_memory_is_used_again),
        cmocka_unit_test(test_nothing_is_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
