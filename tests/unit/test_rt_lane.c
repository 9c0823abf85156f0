/* Threads that come and go, whose events are counted in shared lanes (clock/lane.h), against plain vectors by thread.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/clock/clock.h"
#include "runtime/clock/self.h"

enum { PLACES = 6, VARS = 12, NUMBERS = 400, STEPS = 20000 };

#define PLAIN_COUNTS NUMBERS
#include "plain_vectors.h"

/* A thread that lives, one that has ended and may be joined, or none. */
static struct place {
    enum { NONE, LIVES, ENDED } state;
    struct pt_clock_self self;
    struct vector clock;
} places[PLACES];
static struct {
    pt_clock_id id;
    struct vector clock;
} vars[VARS];
static struct {
    uint32_t lane;
    uint64_t first; /* events there before its own */
    uint32_t count; /* of its own */
    bool ended;
} threads[NUMBERS];     /* by number; those that have had events */
static uint64_t before; /* events that each thread had before its first one here */
static uint32_t next_number, lanes, longest;

static uint64_t count_in(struct pt_clock_pairs clock, uint32_t lane)
{
    for (uint32_t i = 0; i < clock.count; i++)
        if (clock.pairs[i].lane == lane)
            return clock.pairs[i].count;
    return 0;
}

/* What a clock says of each thread: of the events in its lane, those that are its own. */
static void check(struct pt_clock_self *self, pt_clock_id id, const struct vector *expected)
{
    struct pt_clock_pairs clock = pt_clock_pairs_of(self, id);
    longest = clock.count > longest ? clock.count : longest;
    for (uint32_t i = 1; i < clock.count; i++)
        assert_true(clock.pairs[i - 1].lane < clock.pairs[i].lane);
    for (uint32_t t = 0; t < next_number; t++) {
        uint64_t known = threads[t].count ? count_in(clock, threads[t].lane) : 0;
        uint64_t own = known > threads[t].first ? known - threads[t].first : 0;
        assert_int_equal(own < threads[t].count ? own : threads[t].count, expected->count[t]);
    }
}

static void begin(struct place *place, struct place *parent)
{
    *place = (struct place){.state = LIVES};
    place->self.slot = (uint32_t)(place - places);
    place->self.number = next_number++;
    place->self.events = before;
    if (!parent)
        return;
    pt_clock_acquire(parent->self.id, 1);
    pt_self_begin(&place->self, parent->self.id);
    place->self.credit = 1;
    place->clock = parent->clock;
}

/* It keeps its clock for whoever joins it. */
static void end(struct place *place)
{
    pt_self_drop_passed(&place->self);
    pt_clock_ring_end(&place->self);
    pt_clock_lane_end(&place->self);
    place->state = ENDED;
    if (place->self.lane.taken)
        threads[place->self.number].ended = true;
}

static void take(struct place *place, pt_clock_id id, const struct vector *clock)
{
    bool known = vector_leq(clock, &place->clock), past = pt_self_is_past(&place->self, id);
    assert_true(known || !past);
    assert_int_equal(pt_clock_leq(id, place->self.id), known);
    if (!known) {
        pt_self_replace(&place->self, pt_clock_next_join(&place->self, id));
        pt_self_note_seen(&place->self, id);
    }
    vector_join(&place->clock, clock);
    check(&place->self, place->self.id, &place->clock);
}

static void go(struct place *place)
{
    pt_clock_release(&place->self, place->self.id, place->self.credit);
    pt_clock_flush(&place->self);
    place->state = NONE;
}

static void join(struct place *place, struct place *other)
{
    take(place, other->self.id, &other->clock);
    go(other);
}

/* Whose lane it may be: one who has ended, and all of whose events are known, comes last there. */
static void check_lane(const struct place *place, const struct vector *known)
{
    const struct pt_clock_lane *lane = &place->self.lane;
    uint32_t number = place->self.number, last = NUMBERS;
    for (uint32_t t = 0; t < next_number; t++)
        if (t != number && threads[t].count && threads[t].lane == lane->number)
            last = last == NUMBERS || threads[t].first > threads[last].first ? t : last;
    assert_int_equal(lane->taken_over, last != NUMBERS);
    if (!lane->taken_over) {
        assert_int_equal(lane->number, number);
        lanes++;
        return;
    }
    assert_true(threads[last].ended);
    assert_int_equal(known->count[last], threads[last].count);
    assert_int_equal(lane->first, threads[last].first + threads[last].count);
}

static void tick(struct place *place)
{
    struct pt_clock_self *self = &place->self;
    bool is_first = !self->lane.taken;
    pt_self_replace(self, pt_clock_next_tick(self, ++self->events));
    if (is_first) {
        check_lane(place, &place->clock);
        threads[self->number].lane = self->lane.number;
        threads[self->number].first = self->lane.taken_over ? self->lane.first : before;
    }
    place->clock.count[self->number] = ++threads[self->number].count;
    assert_true(self->lane.base + self->events == threads[self->number].first + threads[self->number].count);
    check(self, self->id, &place->clock);
}

static void give(struct place *place, unsigned var)
{
    take(place, vars[var].id, &vars[var].clock);
    pt_self_give(&place->self, 1);
    pt_self_pass(&place->self, vars[var].id, 1);
    vars[var].id = place->self.id;
    vars[var].clock = place->clock;
}

/* --- random programs --- */

static struct place *any(unsigned *seed, int state)
{
    unsigned from = random_below(seed, PLACES);
    for (unsigned i = 0; i < PLACES; i++)
        if ((int)places[(from + i) % PLACES].state == state)
            return &places[(from + i) % PLACES];
    return NULL;
}

struct way {
    unsigned ticks, ends, forgotten; /* in hundred: of steps; and of threads that end, those that nobody joins */
};

static void step(unsigned *seed, struct way way, bool ordered)
{
    struct place *place = any(seed, LIVES), *other = any(seed, random_below(seed, 2) ? ENDED : NONE);
    unsigned what = random_below(seed, 100), var = random_below(seed, VARS);
    if (what < way.ends) {
        if (place != &places[0])
            end(place);
        if (place != &places[0] && random_below(seed, 100) < way.forgotten)
            go(place);
    } else if (what < 2 * way.ends + 2) {
        if (other && other->state == ENDED)
            join(place, other);
        else if (other && next_number < NUMBERS)
            begin(other, random_below(seed, 8) ? place : NULL);
    } else if (what < 2 * way.ends + 2 + way.ticks) {
        if (ordered)
            give(place, 0);
        tick(place);
        if (ordered)
            give(place, 0);
    } else if (what < 80) {
        take(place, vars[var].id, &vars[var].clock);
    } else {
        give(place, var);
    }
    check(&places[0].self, vars[var].id, &vars[var].clock);
    unsigned second = random_below(seed, VARS);
    assert_int_equal(pt_clock_leq(vars[var].id, vars[second].id), vector_leq(&vars[var].clock, &vars[second].clock));
}

static void begin_anew(bool rungs)
{
    pt_clock_restart();
    pt_pool_restart();
    memset(places, 0, sizeof places);
    memset(vars, 0, sizeof vars);
    memset(threads, 0, sizeof threads);
    next_number = lanes = longest = 0;
    if (rungs)
        pt_clock_ladder_start();
    begin(&places[0], NULL);
}

static void compare(unsigned seed, struct way way, bool rungs)
{
    before = seed % 3 ? 0 : (UINT64_C(1) << 32) - 3;
    begin_anew(rungs);
    for (unsigned i = 0; i < STEPS; i++)
        step(&seed, way, rungs && i < STEPS / 2);
    assert_true(next_number > 100);
}

static void test_lanes_are_vectors(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 12; seed++) {
        compare(seed, (struct way){20, 2, 0}, false);
        compare(seed, (struct way){20, 4, 50}, false);
        compare(seed, (struct way){3, 6, 100}, seed % 2);
        compare(seed, (struct way){20, 4, 10}, true);
    }
}

/* --- what is shared, and what is not --- */

/* One after the other, each joined: one lane, besides that of who joins them, whatever their number. */
static void test_one_after_the_other(void **state)
{
    (void)state;
    for (unsigned rungs = 0; rungs < 2; rungs++) {
        before = 0;
        begin_anew(rungs);
        for (unsigned i = 0; i < 100; i++) {
            tick(&places[0]);
            begin(&places[1], &places[0]);
            tick(&places[1]);
            tick(&places[1]);
            end(&places[1]);
            join(&places[0], &places[1]);
        }
        assert_int_equal(lanes, 2);
        assert_int_equal(longest, 2);
    }
}

/* Whoever creates them knows of no end: it does not matter that they have ended, nor who has been joined. */
static void test_ends_that_are_not_known(void **state)
{
    (void)state;
    before = 0;
    begin_anew(false);
    for (unsigned i = 0; i < 100; i++) {
        begin(&places[1], &places[0]);
        tick(&places[1]);
        end(&places[1]);
        go(&places[1]);
    }
    assert_int_equal(lanes, 100);
    assert_int_equal(longest, 1);
}

/* All that an ended thread did but its last event is known: that is not enough. */
static void test_all_but_the_last_event(void **state)
{
    (void)state;
    before = 0;
    begin_anew(false);
    begin(&places[1], &places[0]);
    tick(&places[1]);
    give(&places[1], 0);
    take(&places[0], vars[0].id, &vars[0].clock);
    tick(&places[1]);
    end(&places[1]);
    begin(&places[2], &places[0]);
    tick(&places[2]);
    assert_false(places[2].self.lane.taken_over);
    join(&places[0], &places[1]);
    begin(&places[3], &places[0]);
    tick(&places[3]);
    assert_true(places[3].self.lane.taken_over);
    begin(&places[4], &places[0]); /* who knows as much, and comes too late */
    tick(&places[4]);
    assert_false(places[4].self.lane.taken_over);
}

/* One that lives keeps its lane, whoever knows what it did. */
static void test_one_that_lives(void **state)
{
    (void)state;
    before = 0;
    begin_anew(false);
    tick(&places[0]);
    begin(&places[1], &places[0]);
    tick(&places[1]);
    assert_false(places[1].self.lane.taken_over);
}

/* An earlier thread's rung in the same lane is not the thread's own. */
static void test_whose_rungs(void **state)
{
    (void)state;
    before = 0;
    begin_anew(true);
    begin(&places[1], &places[0]);
    tick(&places[1]);
    pt_clock_id first = places[1].self.id;
    end(&places[1]);
    join(&places[0], &places[1]);
    begin(&places[2], &places[0]);
    assert_false(pt_self_is_own(&places[2].self, first));
    tick(&places[2]);
    assert_true(places[2].self.lane.taken_over);
    assert_false(pt_self_is_own(&places[2].self, first));
    assert_true(pt_self_is_own(&places[2].self, places[2].self.id));
}

/* The clock of number 0 has lanes, too. */
static void test_alone(void **state)
{
    (void)state;
    before = 0;
    begin_anew(false);
    assert_true(pt_clock_tick_all(&places[0].self));
    end(&places[0]);
    begin(&places[1], &places[0]);
    assert_true(pt_clock_tick_all(&places[1].self));
    assert_true(places[1].self.lane.taken_over);
    assert_int_equal(pt_clocks[0].count, 1);
    assert_int_equal(pt_clocks[0].pairs[0].count, 2);
    pt_clock_restart();
}

static int start(void **state)
{
    (void)state;
    return pt_clock_start() ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lanes_are_vectors),
        cmocka_unit_test(test_one_after_the_other),
        cmocka_unit_test(test_ends_that_are_not_known),
        cmocka_unit_test(test_all_but_the_last_event),
        cmocka_unit_test(test_one_that_lives),
        cmocka_unit_test(test_whose_rungs),
        cmocka_unit_test(test_alone),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
