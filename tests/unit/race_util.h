/* Memory for tests of src/race/ that notices what is not given back, and counts as several threads need it or not. */
#ifndef RACE_UTIL_H
#define RACE_UTIL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "race/cell.h"

static size_t taken;

static void *test_take(void *context, size_t bytes)
{
    (void)context;
    taken += bytes;
    void *piece = malloc(bytes);
    memset(piece, 0xa5, bytes);
    return piece;
}

static void test_give(void *context, void *piece, size_t bytes)
{
    (void)context;
    assert_true(bytes <= taken);
    taken -= bytes;
    free(piece);
}

static const struct pt_race_memory test_memory = {test_take, test_give, NULL, false},
                                   shared_memory = {test_take, test_give, NULL, true};

/* Numbers that look random, the same in every run (xorshift); never from 0. */
static uint64_t test_seed = 1;
static inline unsigned below(unsigned n)
{
    test_seed ^= test_seed << 13;
    test_seed ^= test_seed >> 7;
    test_seed ^= test_seed << 17;
    return (unsigned)((test_seed >> 11) % n);
}

#endif
