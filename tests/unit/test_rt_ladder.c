/* Clocks as rungs (clock/ladder.h) and what they are beside snapshots, against plain vectors. It is built in here with
 * few rungs, and marks that are near each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define PT_LADDER_MARK 16
#define PT_LADDER_MOST 3000
#include "runtime/clock/ladder.c"

enum { THREADS = 6, VARS = 20, STEPS = 20000 };
#define BEFORE ((UINT64_C(1) << 32) - 20) /* counts pass 2^32 on the way */

#define PLAIN_COUNTS THREADS
#include "plain_vectors.h"
static struct {
    struct pt_clock_self self;
    struct vector clock;
} threads[THREADS];
static struct {
    pt_clock_id id;
    struct vector clock;
} vars[VARS];

static void check(unsigned at, pt_clock_id id, const struct vector *expected)
{
    struct vector found = {0};
    struct pt_clock_pairs clock = pt_clock_pairs_of(&threads[at].self, id);
    for (uint32_t i = 0; i < clock.count; i++) {
        assert_true(i == 0 || clock.pairs[i - 1].lane < clock.pairs[i].lane);
        found.count[clock.pairs[i].lane] = clock.pairs[i].count;
    }
    assert_memory_equal(&found, expected, sizeof found);
}

static void tick(unsigned at)
{
    struct pt_clock_self *self = &threads[at].self;
    pt_self_replace(self, pt_clock_next_tick(self, ++self->events));
    threads[at].clock.count[at] = self->events;
    check(at, self->id, &threads[at].clock);
}

static void take(unsigned at, pt_clock_id id, const struct vector *clock)
{
    struct pt_clock_self *self = &threads[at].self;
    bool known = vector_leq(clock, &threads[at].clock), past = pt_self_is_past(self, id);
    assert_true(known || !past);
    assert_true(!known || past || !pt_clock_is_rung(id)); /* of rungs, all is known */
    assert_int_equal(pt_clock_leq(id, self->id), known);
    if (!known)
        pt_self_replace(self, pt_clock_next_join(self, id));
    vector_join(&threads[at].clock, clock);
    check(at, self->id, &threads[at].clock);
}

static void give(unsigned at, unsigned var)
{
    take(at, vars[var].id, &vars[var].clock);
    pt_self_give(&threads[at].self, 1);
    pt_self_pass(&threads[at].self, vars[var].id, 1);
    vars[var].id = threads[at].self.id;
    vars[var].clock = threads[at].clock;
}

/* As a read leaves it. */
static void raise_to(unsigned at, unsigned var)
{
    pt_clock_id joined = pt_clock_join(&threads[at].self, vars[var].id, threads[at].self.id);
    pt_clock_release(&threads[at].self, vars[var].id, 1);
    vars[var].id = joined;
    vector_join(&vars[var].clock, &threads[at].clock);
}

static void step(unsigned *seed, bool ordered)
{
    unsigned at = random_below(seed, THREADS), var = random_below(seed, VARS), what = random_below(seed, 10);
    if (what == 0) {
        if (ordered)
            give(at, 0);
        tick(at);
        if (ordered)
            give(at, 0);
    } else if (what < 4) {
        take(at, vars[var].id, &vars[var].clock);
    } else if (what < 7) {
        give(at, var);
    } else if (what < 9) {
        raise_to(at, var);
    }
    check(at, vars[var].id, &vars[var].clock);
    unsigned other = random_below(seed, VARS);
    assert_int_equal(pt_clock_leq(vars[var].id, vars[other].id), vector_leq(&vars[var].clock, &vars[other].clock));
}

static void begin_anew(void)
{
    pt_clock_restart();
    pt_pool_restart();
    memset(threads, 0, sizeof threads);
    memset(vars, 0, sizeof vars);
    for (unsigned i = 0; i < THREADS; i++) {
        threads[i].self.slot = threads[i].self.number = i;
        threads[i].self.events = i ? BEFORE : 0;
    }
    pt_clock_ladder_start();
}

/* Until an event does not know of all others, or there are too many; and what is made of rungs then. */
static void compare(unsigned seed, unsigned steps)
{
    begin_anew();
    for (unsigned i = 0; i < 3; i++) /* events of the first thread, which all others know of */
        assert_true(pt_clock_tick_all(&threads[0].self));
    for (unsigned i = 0; i < THREADS; i++)
        threads[i].clock.count[0] = 3;
    for (unsigned i = 0; i < VARS; i++)
        vars[i].clock.count[0] = 3;
    for (unsigned i = 0; i < steps; i++)
        step(&seed, true);
    for (unsigned i = 0; i < VARS && steps < STEPS; i++)
        assert_true(!vars[i].id || pt_clock_is_rung(vars[i].id));
    for (unsigned i = 0; i < STEPS; i++)
        step(&seed, false);
    for (unsigned i = 0; i < THREADS; i++)
        assert_false(pt_clock_is_rung(threads[i].self.id));
}

static void test_rungs_and_snapshots(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed < 12; seed++)
        compare(seed, seed * 300);
}

static void test_as_many_as_there_may_be(void **state)
{
    (void)state;
    compare(5, 40000);
    assert_int_equal(ladder.last, PT_LADDER_MOST);
}

/* Nobody has references to rungs, and none is used again. */
static void test_rungs_stay(void **state)
{
    (void)state;
    begin_anew();
    struct pt_clock_self *self = &threads[0].self;
    for (unsigned i = 1; i <= 100; i++) {
        tick(0);
        assert_int_equal(self->id, PT_CLOCK_RUNG | i);
        pt_clock_release(self, self->id, 1);
    }
    struct vector clock = {.count = {40}};
    check(1, PT_CLOCK_RUNG | 40, &clock);
    assert_int_equal(pt_clock_join(self, PT_CLOCK_RUNG | 40, PT_CLOCK_RUNG | 7), PT_CLOCK_RUNG | 40);
}

/* An event that does not know of one of the others ends it, whatever it knows of the rest. */
static void test_the_end(void **state)
{
    (void)state;
    begin_anew();
    tick(0);
    take(1, threads[0].self.id, &threads[0].clock);
    tick(1);
    pt_clock_id first = threads[0].self.id;
    tick(0);
    assert_false(pt_clock_is_rung(threads[0].self.id));
    assert_int_equal(threads[0].self.rung, first);
    assert_true(pt_clock_leq(first, threads[0].self.id));
    assert_false(pt_clock_leq(threads[1].self.id, threads[0].self.id));
    assert_false(pt_clock_leq(threads[0].self.id, threads[1].self.id));
    take(0, threads[1].self.id, &threads[1].clock);
    tick(0); /* which knows of all, and comes too late */
    assert_false(pt_clock_is_rung(threads[0].self.id));
}

static int start(void **state)
{
    (void)state;
    return pt_clock_start() ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rungs_stay),
        cmocka_unit_test(test_the_end),
        cmocka_unit_test(test_rungs_and_snapshots),
        cmocka_unit_test(test_as_many_as_there_may_be),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
