/* Who is taken next (core/explore_pick.h): threads that each do so many steps, played without a program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/explore_pick.h"

enum { MOST = 64 };

static struct pt_explore_picker picker;
static struct pt_explore_step next[PT_EXPLORE_THREADS];
static uint32_t order[MOST * 4];

/* `threads` threads, each storing to a variable of its own, or to one, `steps` times. Returns how many were taken. */
static uint32_t play(const struct pt_explore_input *input, const struct pt_explore_stretch *prefix,
                     const struct pt_explore_weight *weights, uint32_t threads, uint32_t steps, bool common)
{
    uint32_t done[PT_EXPLORE_THREADS] = {0}, taken = 0, current = 0;
    struct pt_explore_set none = {0};
    pt_explore_pick_begin(&picker, input, prefix, weights);
    for (uint32_t i = 0; i < threads; i++)
        pt_explore_pick_thread(&picker, i, i ? 0 : PT_EXPLORE_NO_SLOT, i ? pt_explore_line(0, i - 1) : 0);
    for (;;) {
        struct pt_explore_set enabled = {0};
        for (uint32_t i = 0; i < threads; i++) {
            next[i] = (struct pt_explore_step){
                .who = i, .kind = PT_EXPLORE_STORE, .size = 4, .object = common ? 8 : 8 + 8 * i};
            if (done[i] < steps)
                pt_explore_add(&enabled, i);
        }
        if (pt_explore_is_empty(&enabled))
            return taken;
        struct pt_explore_view view = {&enabled, &none, &enabled, &none, next, current, taken};
        uint32_t who = pt_explore_pick(&picker, &view);
        if (who == PT_EXPLORE_NO_SLOT)
            return taken;
        assert_true(pt_explore_has(&enabled, who));
        order[taken++] = current = who;
        done[who]++;
    }
}

static void first(void **state)
{
    (void)state;
    struct pt_explore_input input = {.strategy = PT_EXPLORE_FIRST};
    assert_int_equal(play(&input, NULL, NULL, 3, 4, true), 12);
    for (uint32_t i = 0; i < 12; i++)
        assert_int_equal(order[i], i / 4);
}

static void prefixes(void **state)
{
    (void)state;
    const struct pt_explore_stretch prefix[] = {{1, 2}, {0, 1}, {1, 1}};
    struct pt_explore_input input = {.strategy = PT_EXPLORE_FIRST, .prefix_count = 3};
    const uint32_t expected[] = {1, 1, 0, 1, 1, 1, 0, 0, 0, 0};
    assert_int_equal(play(&input, prefix, NULL, 2, 5, true), 10);
    assert_memory_equal(order, expected, sizeof expected);
    assert_int_equal(picker.diverged_at, 0);
    const struct pt_explore_stretch wrong[] = {{1, 2}, {7, 1}};
    input.prefix_count = 2;
    assert_int_equal(play(&input, wrong, NULL, 2, 5, true), 10); /* it goes on freely */
    assert_int_equal(picker.diverged_at, 3);
    input.wishes = PT_EXPLORE_STRICT;
    assert_int_equal(play(&input, wrong, NULL, 2, 5, true), 2);
    assert_int_equal(picker.why, PT_EXPLORE_DIVERGED);
}

static void sleep_sets(void **state)
{
    (void)state;
    struct pt_explore_input input = {.strategy = PT_EXPLORE_FIRST, .wishes = PT_EXPLORE_SLEEPS, .sleep = {{2}}};
    /* independent: thread 1 is never woken, and in the end nobody else is left */
    assert_int_equal(play(&input, NULL, NULL, 2, 3, false), 3);
    assert_int_equal(picker.why, PT_EXPLORE_REDUNDANT);
    /* dependent: the first step of thread 0 wakes it */
    assert_int_equal(play(&input, NULL, NULL, 2, 3, true), 6);
}

static void same_seed(void **state)
{
    (void)state;
    for (uint32_t strategy = 0; strategy < PT_EXPLORE_STRATEGY_COUNT; strategy++) {
        struct pt_explore_weight weights[] = {{0, 5, 5}, {pt_explore_line(0, 0), 5, 5}, {pt_explore_line(0, 1), 5, 5}};
        struct pt_explore_input input = {.strategy = strategy, .depth = 3, .length = 15, .weight_count = 3};
        uint32_t before[15], different = 0;
        for (uint64_t seed = 0; seed < 50; seed++) {
            input.seed = seed;
            assert_int_equal(play(&input, NULL, weights, 3, 5, true), 15);
            memcpy(before, order, sizeof before);
            assert_int_equal(play(&input, NULL, weights, 3, 5, true), 15);
            assert_memory_equal(before, order, sizeof before);
            input.seed = seed + 1000;
            play(&input, NULL, weights, 3, 5, true);
            different += memcmp(before, order, sizeof before) != 0;
        }
        assert_true(strategy == PT_EXPLORE_FIRST ? different == 0 : different > 20);
    }
}

/* With a change at every place, PCT of depth 2 finds each of the two orders of one switch: all of them, often enough.
 */
static void pct(void **state)
{
    (void)state;
    struct pt_explore_input input = {.strategy = PT_EXPLORE_PCT, .depth = 2, .length = 8};
    uint32_t switched_after[9] = {0};
    for (input.seed = 0; input.seed < 2000; input.seed++) {
        uint32_t switches = 0, at = 0;
        assert_int_equal(play(&input, NULL, NULL, 2, 4, true), 8);
        for (uint32_t i = 1; i < 8; i++)
            if (order[i] != order[i - 1]) {
                switches++;
                at = at ? at : i;
            }
        assert_true(switches <= 2); /* one change, and the end of who runs then */
        switched_after[at]++;
    }
    for (uint32_t i = 1; i <= 4; i++)
        assert_true(switched_after[i] > 50);
}

/* SURW takes each interleaving of two threads with the same likelihood, also where one is longer: 2 and 6 steps of two
 * have 28. */
static void surw_is_uniform(void **state)
{
    (void)state;
    enum { RUNS = 28000 };
    static uint32_t seen[1 << 8];
    struct pt_explore_weight weights[] = {{0, 6, 6}, {pt_explore_line(0, 0), 2, 2}};
    struct pt_explore_input input = {.strategy = PT_EXPLORE_SURW, .weight_count = 2};
    for (input.seed = 0; input.seed < RUNS; input.seed++) {
        uint32_t left[2] = {6, 2}, current = 0, word = 0;
        struct pt_explore_set none = {0};
        pt_explore_pick_begin(&picker, &input, NULL, weights);
        pt_explore_pick_thread(&picker, 0, PT_EXPLORE_NO_SLOT, 0);
        pt_explore_pick_thread(&picker, 1, 0, pt_explore_line(0, 0));
        for (uint32_t taken = 0; taken < 8; taken++) {
            struct pt_explore_set enabled = {{(left[0] > 0) | (uint64_t)(left[1] > 0) << 1}};
            struct pt_explore_view view = {&enabled, &none, &enabled, &none, next, current, taken};
            current = pt_explore_pick(&picker, &view);
            left[current]--;
            word = word << 1 | current;
        }
        seen[word]++;
    }
    uint32_t kinds = 0;
    for (uint32_t i = 0; i < 1 << 8; i++)
        if (seen[i]) {
            kinds++;
            assert_in_range(seen[i], RUNS / 28 * 8 / 10, RUNS / 28 * 12 / 10);
        }
    assert_int_equal(kinds, 28);
}

static void random_is_uniform(void **state)
{
    (void)state;
    uint32_t counts[3] = {0};
    struct pt_explore_input input = {.strategy = PT_EXPLORE_RANDOM};
    for (input.seed = 0; input.seed < 9000; input.seed++) {
        play(&input, NULL, NULL, 3, 1, true);
        counts[order[0]]++;
    }
    for (uint32_t i = 0; i < 3; i++)
        assert_in_range(counts[i], 2800, 3200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(first),
                                       cmocka_unit_test(prefixes),
                                       cmocka_unit_test(sleep_sets),
                                       cmocka_unit_test(same_seed),
                                       cmocka_unit_test(pct),
                                       cmocka_unit_test(surw_is_uniform),
                                       cmocka_unit_test(random_is_uniform)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
