/* Clocks that name only what changed: what is left out comes back, against the closed relation of random computations.
 */
#include "computation.h"
#include "order/access.h"
#include "trace/clock_state.h"

enum { MOST_THREADS = 40 };

/* The full clock of event f: of each thread, the counted events that precede or equal it. */
static uint32_t full_clock(const struct computation *c, const bool *counted, uint32_t f, struct pt_clock_entry *clock)
{
    uint64_t counts[MOST_THREADS] = {0};
    uint32_t len = 0;
    for (uint32_t e = 0; e <= f; e++)
        counts[c->events[e].thread] += counted[e] && (e == f || bits_has(&c->before[f], e));
    for (uint32_t t = 0; t < MOST_THREADS; t++)
        if (counts[t] || t == c->events[f].thread)
            clock[len++] = (struct pt_clock_entry){t, counts[t]};
    return len;
}

/* The same without what the thread's clock before had, as the runtime writes long ones. */
static uint32_t news(const struct pt_clock_entry *clock, uint32_t len, uint64_t *before, struct pt_clock_entry *ret)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < len; i++) {
        if (clock[i].count != before[clock[i].thread] || clock[i].count == 0)
            ret[count++] = clock[i];
        before[clock[i].thread] = clock[i].count;
    }
    return count;
}

static void check_known(struct pt_clock_state *state, const struct pt_event *event, const struct pt_clock_entry *clock,
                        uint32_t len)
{
    uint64_t counts[MOST_THREADS] = {0};
    for (uint32_t i = 0; i < len; i++)
        counts[clock[i].thread] = clock[i].count;
    for (uint32_t t = 0; t < MOST_THREADS; t++)
        assert_int_equal(pt_tree_get(&pt_clock_state_thread(state, event->thread)->now, t), counts[t]);
}

struct sums {
    uint64_t full, reduced;
};

/* Event f goes through a writer, in full or as news, and what it writes through a reader. */
static void pass_on(struct pt_clock_state *writer, struct pt_clock_state *reader, struct pt_order *order,
                    const struct computation *c, const bool *counted, uint32_t f, uint64_t *before, bool as_news,
                    struct sums *sums)
{
    struct pt_clock_entry clock[MOST_THREADS], changed[MOST_THREADS];
    struct pt_event event = c->events[f];
    struct pt_clock *needs = NULL;
    struct pt_err err;
    uint32_t len = full_clock(c, counted, f, clock);
    event.op = PT_OP_EVENT;
    event.clock = clock;
    event.clock_len = len;
    if (as_news) {
        event.clock_len = news(clock, len, before, changed);
        event.clock = changed;
    }
    uint32_t own = event.thread, has_own = 0;
    for (uint32_t i = 0; i < event.clock_len; i++)
        has_own |= event.clock[i].thread == own;
    if (!has_own) { /* the reader of the channel adds it */
        changed[event.clock_len++] = (struct pt_clock_entry){own, before[own]};
    }
    pt_clock_state_reduce(writer, &event);
    check_known(writer, &event, clock, len);
    pt_clock_state_take(reader, &event);
    check_known(reader, &event, clock, len);
    assert_int_equal(pt_order_event(order, &event, c->relevant[f], &needs, &err), PT_OK);
    sums->full += len;
    sums->reduced += event.clock_len;
    for (uint32_t t = 0; needs && t < MOST_THREADS; t++) {
        uint32_t relevant = 0;
        for (uint32_t e = 0; e <= f; e++)
            relevant += c->relevant[e] && c->events[e].thread == t && (e == f || bits_has(&c->before[f], e));
        assert_int_equal(pt_clock_get(needs, t), relevant);
    }
}

static void test_what_is_left_out_comes_back(void **state)
{
    (void)state;
    struct sums sums = {0};
    for (uint64_t seed = 1; seed <= 80; seed++) {
        uint64_t s = seed;
        static uint64_t before[MOST_THREADS][MOST_THREADS];
        static bool counted[COMP_MAX];
        struct pt_clock_state writer = {0}, reader = {0};
        struct computation c;
        comp_init(&c);
        comp_random(&c, &s, 2 + below(&s, MOST_THREADS - 2), 60 + below(&s, 240), 1 + below(&s, 4));
        comp_close(&c);
        memset(before, 0, sizeof before);
        struct pt_order *order = pt_order_new(&pt_order_access, "t", &c.names);
        for (uint32_t e = 0; e < c.count; e++) {
            counted[e] = below(&s, 3) > 0;
            c.relevant[e] = counted[e] && (seed % 2 || below(&s, 2));
        }
        for (uint32_t e = 0; e < c.count; e++)
            pass_on(&writer, &reader, order, &c, counted, e, before[c.events[e].thread], seed % 3 == 0, &sums);
        pt_order_free(order);
        pt_clock_state_release(&writer);
        pt_clock_state_release(&reader);
        comp_release(&c);
    }
    assert_true(sums.reduced * 3 < sums.full);
}

/* Ten thousand threads that come after each other, as with one lock: neither lines nor memory grow with them. */
static void test_many_threads_are_cheap(void **state)
{
    (void)state;
    enum { THREADS = 10000 };
    struct pt_clock_state writer = {0};
    struct pt_clock_entry *clock = pt_xcalloc(THREADS, sizeof *clock);
    for (uint32_t t = 0; t < THREADS; t++) {
        clock[t] = (struct pt_clock_entry){t, 1};
        struct pt_event event = {.op = PT_OP_EVENT, .thread = t, .clock = clock, .clock_len = t + 1};
        pt_clock_state_reduce(&writer, &event);
        assert_int_equal(event.clock_len, t ? 2 : 1);
        assert_int_equal(pt_tree_get(&pt_clock_state_thread(&writer, t)->now, 0), 1);
    }
    assert_true(pt_clock_state_bytes(&writer) < 16 << 20);
    pt_clock_state_release(&writer);
    free(clock);
}

/* Counts do not wrap, wherever they begin. */
static void test_high_counts(void **state)
{
    (void)state;
    struct pt_clock_state s = {0};
    uint64_t high = (UINT64_C(1) << 32) - 2;
    pt_clock_state_thread(&s, 1)->counted = high;
    for (uint64_t k = 1; k <= 4; k++) {
        struct pt_clock_entry own = {1, high + k}, both[] = {{0, k}, {1, high + k}};
        struct pt_event first = {.op = PT_OP_EVENT, .thread = 1, .clock = &own, .clock_len = 1};
        struct pt_event second = {.op = PT_OP_EVENT, .thread = 0, .clock = both, .clock_len = 2};
        pt_clock_state_reduce(&s, &first);
        pt_clock_state_reduce(&s, &second);
        assert_int_equal(second.clock_len, 2);
        assert_true(pt_tree_get(&s.threads[0].now, 1) == high + k);
    }
    pt_clock_state_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_left_out_comes_back),
        cmocka_unit_test(test_many_threads_are_cheap),
        cmocka_unit_test(test_high_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
