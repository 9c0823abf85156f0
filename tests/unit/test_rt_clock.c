/* The runtime's clocks, alone with the layers below them, against plain vectors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/clock/clock.h"
#include "runtime/clock/self.h"

enum { PLACES = 5, VARS = 24, NUMBERS = 64, STEPS = 60000 };

/* Relevant events of a thread before its first one here: counts pass 2^32 on the way. */
#define BEFORE ((UINT64_C(1) << 32) - 20)

#define PLAIN_COUNTS NUMBERS
#include "plain_vectors.h"

/* A thread and a variable, each beside what they should be. */
static struct {
    struct pt_clock_self self;
    struct vector clock;
} threads[PLACES];
static struct {
    pt_clock_id id;
    struct vector clock;
} vars[VARS];
static struct vector common; /* that all threads begin with: number 0 */
static uint32_t next_number;
static pt_clock_id largest;

static void check(pt_clock_id id, const struct vector *expected)
{
    struct vector found = {0};
    largest = id > largest ? id : largest;
    for (uint32_t i = 0; i < pt_clocks[id].count; i++) {
        assert_true(i == 0 || pt_clocks[id].pairs[i - 1].lane < pt_clocks[id].pairs[i].lane);
        assert_true(pt_clocks[id].pairs[i].count > 0);
        found.count[pt_clocks[id].pairs[i].lane] = pt_clocks[id].pairs[i].count;
    }
    assert_memory_equal(&found, expected, sizeof found);
}

static void begin(unsigned at)
{
    memset(&threads[at], 0, sizeof threads[at]);
    threads[at].self.slot = at;
    threads[at].self.number = next_number++;
    threads[at].self.events = BEFORE;
    threads[at].clock = common;
}

static void end(unsigned at)
{
    struct pt_clock_self *self = &threads[at].self;
    pt_self_drop_passed(self);
    pt_clock_ring_end(self);
    pt_clock_release(self, self->id, self->credit);
    pt_clock_flush(self);
}

static void tick(unsigned at)
{
    struct pt_clock_self *self = &threads[at].self;
    pt_clock_id next = pt_clock_next_tick(self, ++self->events);
    assert_true(next);
    pt_self_replace(self, next);
    uint64_t *count = &threads[at].clock.count[self->number];
    *count = *count ? *count + 1 : BEFORE + 1;
    check(self->id, &threads[at].clock);
}

/* Takes a variable's clock. What the thread remembers may say that it need not; then it is so. */
static void take(unsigned at, unsigned var)
{
    struct pt_clock_self *self = &threads[at].self;
    bool known = vector_leq(&vars[var].clock, &threads[at].clock);
    bool past = pt_self_is_past(self, vars[var].id);
    assert_true(known || !past);
    assert_int_equal(pt_clock_leq(vars[var].id, self->id), known);
    if (!past) {
        if (!known)
            pt_self_replace(self, pt_clock_next_join(self, vars[var].id));
        pt_self_note_seen(self, vars[var].id);
    }
    vector_join(&threads[at].clock, &vars[var].clock);
    check(self->id, &threads[at].clock);
}

/* The thread's clock into a variable whose clock it has taken. */
static void give(unsigned at, unsigned var)
{
    struct pt_clock_self *self = &threads[at].self;
    take(at, var);
    pt_self_give(self, 1);
    pt_self_pass(self, vars[var].id, 1);
    vars[var].id = self->id;
    vars[var].clock = threads[at].clock;
}

/* max of the variable's clock and the thread's, as a read leaves it. */
static void raise_to(unsigned at, unsigned var)
{
    struct pt_clock_self *self = &threads[at].self;
    pt_clock_id joined = pt_clock_join(self, vars[var].id, self->id);
    pt_clock_release(self, vars[var].id, 1);
    vars[var].id = joined;
    vector_join(&vars[var].clock, &threads[at].clock);
    check(joined, &vars[var].clock);
}

static void compare(unsigned *seed)
{
    unsigned a = random_below(seed, VARS), b = random_below(seed, VARS);
    assert_int_equal(pt_clock_leq(vars[a].id, vars[b].id), vector_leq(&vars[a].clock, &vars[b].clock));
}

static void step(unsigned *seed)
{
    unsigned at = random_below(seed, PLACES), var = random_below(seed, VARS), what = random_below(seed, 100);
    if (what < 30)
        tick(at);
    else if (what < 55)
        take(at, var);
    else if (what < 85)
        give(at, var);
    else if (what < 93)
        raise_to(at, var);
    else
        compare(seed);
}

static void compare_with_vectors(void)
{
    unsigned seed = 7;
    next_number = common.count[0] ? 2 : 0;
    largest = 0;
    for (unsigned i = 0; i < PLACES; i++)
        begin(i);
    for (unsigned var = 0; var < VARS; var++) {
        vars[var].id = 0;
        vars[var].clock = common;
    }
    for (unsigned i = 0; i < STEPS; i++) {
        step(&seed);
        if (i % 1000 == 999 && next_number < NUMBERS) { /* some of them in the middle of a ring's cycle */
            unsigned at = random_below(&seed, PLACES);
            end(at);
            begin(at);
        }
        for (unsigned var = 0; i % 100 == 0 && var < VARS; var++)
            check(vars[var].id, &vars[var].clock); /* no number has come to mean another clock */
    }
    /* Snapshots that nobody has are used again: a few hundred for each thread that ran at a time, and its ring. */
    assert_in_range(largest, 1, 6000);
    for (unsigned var = 0; var < VARS; var++)
        pt_clock_release(&threads[0].self, vars[var].id, 1);
    for (unsigned i = 0; i < PLACES; i++)
        end(i);
}

static void test_clocks_are_vectors(void **state)
{
    (void)state;
    compare_with_vectors();
}

/* Events of two threads, each alone when it had them: whoever comes later knows of them. */
static void test_a_first_clock_that_all_have(void **state)
{
    (void)state;
    struct pt_clock_self one = {.number = 0}, other = {.number = 1};
    for (unsigned i = 0; i < 3; i++)
        assert_true(pt_clock_tick_all(&one));
    assert_true(pt_clock_tick_all(&other));
    assert_true(pt_clock_tick_all(&one));
    common.count[0] = 4;
    common.count[1] = 1;
    check(0, &common);
    assert_int_equal(one.events, 4);
    assert_int_equal(one.id, 0);
    compare_with_vectors();
    pt_clock_restart();
    common = (struct vector){0};
    check(0, &common);
}

static void test_the_empty_clock(void **state)
{
    (void)state;
    struct pt_clock_self self = {.number = 3, .slot = 9};
    assert_true(pt_clock_leq(0, 0));
    assert_true(pt_self_is_past(&self, 0));
    assert_int_equal(pt_clock_join(&self, 0, 0), 0);
    pt_clock_id one = pt_clock_next_tick(&self, 1);
    assert_true(pt_clock_leq(0, one));
    assert_false(pt_clock_leq(one, 0));
    assert_int_equal(pt_clock_join(&self, 0, one), one);
    pt_clock_release(&self, one, 2);
    pt_clock_flush(&self);
}

/* A snapshot of a thread that let all references go is the next one of its size. */
static void test_numbers_come_back(void **state)
{
    (void)state;
    struct pt_clock_self self = {.number = 1, .slot = 8};
    pt_clock_id first = pt_clock_next_tick(&self, 1);
    pt_clock_acquire(first, 2);
    pt_clock_release(&self, first, 2);
    assert_int_not_equal(pt_clock_next_tick(&self, 2), first);
    pt_clock_release(&self, first, 1);
    assert_int_equal(pt_clock_next_tick(&self, 3), first);
}

static int start(void **state)
{
    (void)state;
    return pt_clock_start() ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_come_back), /* first: all numbers still have room for as many pairs */
        cmocka_unit_test(test_clocks_are_vectors),
        cmocka_unit_test(test_the_empty_clock),
        cmocka_unit_test(test_a_first_clock_that_all_have),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
