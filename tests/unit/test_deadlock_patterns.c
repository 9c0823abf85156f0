/* Lock-order patterns: litmus D1, D2, D4 and D9, readers, what may not meet, and where a search gives up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "deadlock/patterns.h"

enum { A = 1, B, C, G };

static size_t in_use; /* bytes that were taken and not given back */

static void *take(void *context, size_t bytes)
{
    (void)context;
    in_use += bytes;
    return malloc(bytes);
}

static void give(void *context, void *memory, size_t bytes)
{
    (void)context;
    in_use -= bytes;
    free(memory);
}

static const struct pt_race_memory memory = {take, give, NULL, false};

struct seen {
    struct pt_patterns patterns;
    uint32_t count, longest;
    bool gave_up;
    bool (*may_meet)(void *context, const struct pt_acquire *one, const struct pt_acquire *other);
    uint32_t most;
    uint64_t steps;
};

static void found(void *context, struct pt_acquire *const *cycle, uint32_t count)
{
    struct seen *seen = context;
    for (uint32_t i = 0; i < count; i++) {
        const struct pt_acquire *next = cycle[(i + 1) % count];
        bool holds = false;
        for (uint32_t k = 0; k < next->held_count; k++)
            holds |= next->held[k].use.lock == cycle[i]->wants.lock;
        assert_true(holds);
    }
    seen->count++;
    seen->longest = count > seen->longest ? count : seen->longest;
}

static void begin(struct seen *seen)
{
    *seen = (struct seen){.most = PT_PATTERN_MAX, .steps = 1000};
    pt_patterns_begin(&seen->patterns, &memory);
}

static void end(struct seen *seen)
{
    pt_patterns_end(&seen->patterns);
    assert_int_equal(in_use, 0);
}

/* The thread takes `wants` while it holds up to two others; 0: none. Negative: shared. */
static bool nest(struct seen *seen, uint32_t thread, int wants, int first, int second)
{
    struct pt_lock_use held[2];
    uint32_t count = 0;
    int given[] = {first, second};
    for (unsigned i = 0; i < 2; i++)
        if (given[i])
            held[count++] = (struct pt_lock_use){(uint64_t)abs(given[i]), given[i] < 0};
    bool new;
    struct pt_acquire *a = pt_patterns_take(&seen->patterns, thread,
                                            (struct pt_lock_use){(uint64_t)abs(wants), wants < 0}, held, count, &new);
    struct pt_patterns_search search = {found, seen->may_meet, seen, seen->most, seen->steps};
    if (new)
        seen->gave_up |= !pt_patterns_search(&seen->patterns, a, &search);
    return new;
}

static void circles(void **state)
{
    (void)state;
    struct seen seen;
    begin(&seen);
    assert_true(nest(&seen, 1, B, A, 0));
    assert_false(nest(&seen, 1, B, A, 0));
    assert_true(nest(&seen, 2, A, B, 0)); /* D1 */
    assert_int_equal(seen.count, 1);
    assert_true(nest(&seen, 3, A, B, G)); /* one more way */
    assert_int_equal(seen.count, 2);
    end(&seen);
    begin(&seen); /* D4 */
    nest(&seen, 1, B, A, 0);
    nest(&seen, 2, C, B, 0);
    assert_int_equal(seen.count, 0);
    nest(&seen, 3, A, C, 0);
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.longest, 3);
    assert_false(seen.gave_up);
    end(&seen);
}

static void no_circles(void **state)
{
    (void)state;
    struct seen seen;
    begin(&seen); /* D2: the order in which locks are given does not matter */
    nest(&seen, 1, B, A, G);
    nest(&seen, 2, A, G, B);
    nest(&seen, 4, B, A, 0);
    nest(&seen, 4, A, B, 0); /* D9, but for the first two */
    assert_int_equal(seen.count, 2);
    end(&seen);
}

static void readers(void **state)
{
    (void)state;
    struct seen seen;
    begin(&seen);
    nest(&seen, 1, -B, -A, 0);
    nest(&seen, 2, -A, -B, 0);
    assert_int_equal(seen.count, 0); /* they do not wait for each other */
    nest(&seen, 3, A, -B, 0);        /* wants to write what 1 reads, and 1 may read on */
    assert_int_equal(seen.count, 0);
    nest(&seen, 4, A, B, 0); /* and has what 1 wants to read */
    assert_int_equal(seen.count, 1);
    end(&seen);
    begin(&seen); /* readers pass a gate together; a writer does not */
    nest(&seen, 1, B, A, -G);
    nest(&seen, 2, A, B, -G);
    assert_int_equal(seen.count, 1);
    nest(&seen, 3, A, B, G);
    assert_int_equal(seen.count, 1);
    end(&seen);
}

static bool never(void *context, const struct pt_acquire *one, const struct pt_acquire *other)
{
    (void)context;
    return one->thread > 2 || other->thread > 2;
}

static void limits(void **state)
{
    (void)state;
    struct seen seen;
    begin(&seen);
    seen.may_meet = never;
    nest(&seen, 1, B, A, 0);
    nest(&seen, 2, A, B, 0);
    assert_int_equal(seen.count, 0);
    nest(&seen, 3, A, B, 0);
    assert_int_equal(seen.count, 1);
    end(&seen);
    begin(&seen);
    seen.most = 2;
    nest(&seen, 1, B, A, 0);
    nest(&seen, 2, C, B, 0);
    nest(&seen, 3, A, C, 0);
    assert_int_equal(seen.count, 0);
    assert_true(seen.gave_up);
    end(&seen);
    begin(&seen);
    seen.steps = 10;
    for (uint32_t thread = 1; thread < 40; thread++) /* enough of them that tables grow, too */
        nest(&seen, thread, B, A, 0);
    assert_false(seen.gave_up);
    nest(&seen, 99, A, B, 0);
    assert_true(seen.gave_up);
    end(&seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(circles), cmocka_unit_test(no_circles),
                                       cmocka_unit_test(readers), cmocka_unit_test(limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
