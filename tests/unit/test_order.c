/* The pass of the order `access`: clocks against the closed relation, given clocks, and counting bits. */
#include "computation.h"
#include "order/access.h"
#include "order/rank.h"

/* Clock(f)[j] must be the number of relevant events of thread j that precede or equal f, literally. */
static void check_clocks(const struct computation *c, struct pt_clock **clocks)
{
    uint32_t threads = c->names.space[PT_SPACE_THREAD].count;
    for (uint32_t f = 0; f < c->count; f++) {
        if (!c->relevant[f])
            continue;
        uint32_t *counts = pt_xcalloc(threads, sizeof *counts);
        for (uint32_t e = 0; e <= f; e++)
            counts[c->events[e].thread] += c->relevant[e] && (e == f || bits_has(&c->before[f], e));
        for (uint32_t t = 0; t < threads + 3; t++)
            assert_int_equal(pt_clock_get(clocks[f], t), t < threads ? counts[t] : 0);
        free(counts);
    }
}

static void test_clocks_are_the_relation(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint64_t s = seed;
        struct computation c;
        struct pt_clock *clocks[COMP_MAX] = {NULL};
        struct pt_err err;
        comp_init(&c);
        comp_random(&c, &s, 2 + below(&s, 12), 60 + below(&s, 140), 1 + below(&s, 4));
        comp_close(&c);
        struct pt_order *order = pt_order_new(&pt_order_access, "t", &c.names);
        for (uint32_t e = 0; e < c.count; e++) {
            enum pt_op op = c.events[e].op;
            c.relevant[e] = op == PT_OP_EVENT || ((op == PT_OP_WRITE || op == PT_OP_UPDATE) && c.events[e].object < 2);
            struct pt_clock *clock = NULL;
            assert_int_equal(pt_order_event(order, &c.events[e], c.relevant[e], &clock, &err), PT_OK);
            assert_int_equal(clock != NULL, c.relevant[e]);
            if (clock)
                clocks[e] = pt_clock_ref(clock);
        }
        check_clocks(&c, clocks);
        assert_true(pt_order_bytes(order) > 0);
        for (uint32_t e = 0; e < c.count; e++)
            pt_clock_unref(clocks[e]);
        pt_order_free(order);
        comp_release(&c);
    }
}

/* ---- lanes ---- */

/* Threads that are forked and joined by any other, so that some come after the end of others and some do not. */
static void come_and_go(struct computation *c, uint64_t *seed, uint32_t threads, uint32_t count)
{
    uint32_t *alive = pt_xcalloc(threads, sizeof *alive), *parent = pt_xcalloc(threads, sizeof *parent);
    uint32_t started = 1, at_work = 1; /* thread 0 is there */
    while (c->count < count) {
        uint32_t t = alive[below(seed, at_work)], other = below(seed, at_work), dice = below(seed, 8);
        if (dice < 2 && started < threads) {
            comp_add(c, t, PT_OP_FORK, started, 0);
            parent[started] = t;
            alive[at_work++] = started++;
        } else if (dice < 5 && alive[other] && alive[other] != t && parent[alive[other]] == t) {
            comp_add(c, t, PT_OP_JOIN, alive[other], 0);
            alive[other] = alive[--at_work];
        } else {
            comp_add(c, t, dice % 2 ? PT_OP_WRITE : PT_OP_READ, below(seed, 5), 0);
        }
    }
    free(alive);
    free(parent);
}

/* Clock(f)[lane] must be the number of relevant events of the lane that precede or equal f, and a lane's events must be
 * in one order. Returns how many lanes there are. */
static uint32_t check_lanes(const struct computation *c, const uint32_t *lanes, struct pt_clock **clocks)
{
    uint32_t count = 0;
    for (uint32_t f = 0; f < c->count; f++)
        count = c->relevant[f] && lanes[f] >= count ? lanes[f] + 1 : count;
    for (uint32_t f = 0; f < c->count; f++) {
        uint32_t counts[COMP_MAX] = {0};
        for (uint32_t e = 0; c->relevant[f] && e <= f; e++) {
            bool before = e == f || bits_has(&c->before[f], e);
            counts[lanes[e]] += c->relevant[e] && before;
            assert_true(!c->relevant[e] || lanes[e] != lanes[f] || before);
        }
        for (uint32_t t = 0; c->relevant[f] && t < count; t++)
            assert_int_equal(pt_clock_get(clocks[f], t), counts[t]);
    }
    return count;
}

static void test_lanes(void **state)
{
    (void)state;
    uint32_t shared = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        uint64_t s = seed;
        struct computation c;
        struct pt_clock *clocks[COMP_MAX] = {NULL};
        uint32_t lanes[COMP_MAX] = {0}, threads = 0;
        bool seen[COMP_MAX] = {false};
        struct pt_err err;
        comp_init(&c);
        come_and_go(&c, &s, 2 + below(&s, 30), 60 + below(&s, 100));
        comp_close(&c);
        struct pt_order *order = pt_order_new(&pt_order_access, "t", &c.names);
        order->lanes = true;
        for (uint32_t e = 0; e < c.count; e++) {
            c.relevant[e] = c.events[e].op == PT_OP_WRITE && c.events[e].object < 3;
            struct pt_clock *clock = NULL;
            assert_int_equal(pt_order_event(order, &c.events[e], c.relevant[e], &clock, &err), PT_OK);
            if (!clock)
                continue;
            clocks[e] = pt_clock_ref(clock);
            lanes[e] = pt_order_lane(order, c.events[e].thread);
            threads += !seen[c.events[e].thread];
            seen[c.events[e].thread] = true;
        }
        shared += check_lanes(&c, lanes, clocks) < threads;
        for (uint32_t e = 0; e < c.count; e++)
            pt_clock_unref(clocks[e]);
        pt_order_free(order);
        comp_release(&c);
    }
    assert_true(shared > 100);
}

/* The same of lines with c=, of which those alone are the order: entries name what the event knows of the writer's
 * counted events, among which are some that are not relevant here. Each thread's end is told after its last line, at
 * once or later. */
struct told {
    uint32_t counted[COMP_MAX]; /* per event: its number in its thread, as the writer counts; 0: it is not counted */
    bool ended[COMP_MAX];       /* per thread */
};

static void tell_ends(struct pt_order *order, const struct computation *c, struct told *told, uint32_t from,
                      uint64_t *seed)
{
    struct pt_err err;
    for (uint32_t t = 0; t < c->names.space[PT_SPACE_THREAD].count; t++) {
        bool over = !told->ended[t] && below(seed, 3) > 0;
        for (uint32_t e = from; e < c->count && over; e++)
            over = c->events[e].thread != t;
        struct pt_event end = {.op = PT_OP_SYNC, .order = PT_MEMORY_RELAXED, .thread = t, .line = 1};
        if (over)
            assert_int_equal(pt_order_event(order, &end, false, NULL, &err), PT_OK);
        told->ended[t] |= over;
    }
}

static void give_counts(struct pt_order *order, const struct computation *c, const struct told *told, uint32_t f,
                        struct pt_clock **ret_clock)
{
    struct pt_clock_entry entries[COMP_MAX];
    uint32_t threads = c->names.space[PT_SPACE_THREAD].count, count = 0;
    struct pt_event event = c->events[f];
    struct pt_err err;
    for (uint32_t t = 0; t < threads; t++) {
        uint64_t known = 0;
        for (uint32_t e = 0; e <= f; e++)
            if (c->events[e].thread == t && told->counted[e] && (e == f || bits_has(&c->before[f], e)))
                known = told->counted[e];
        if (known)
            entries[count++] = (struct pt_clock_entry){t, known};
    }
    event.clock = entries;
    event.clock_len = count;
    assert_int_equal(pt_order_event(order, &event, c->relevant[f], ret_clock, &err), PT_OK);
}

/* Returns whether threads have shared lanes. */
static bool lanes_of_given(uint64_t seed, bool many)
{
    struct computation c;
    struct pt_clock *clocks[COMP_MAX] = {NULL};
    struct told told = {0};
    uint32_t lanes[COMP_MAX] = {0}, threads = 0, counts[COMP_MAX] = {0};
    bool seen[COMP_MAX] = {false};
    comp_init(&c);
    if (many) /* so that what a thread knows is counted from what was known of late */
        come_and_go(&c, &seed, 150 + below(&seed, 150), 600 + below(&seed, 400));
    else
        come_and_go(&c, &seed, 2 + below(&seed, 30), 60 + below(&seed, 100));
    comp_close(&c);
    pt_strtab_intern(&c.names.space[PT_SPACE_OTHER], PT_TIE_ENDED, strlen(PT_TIE_ENDED));
    struct pt_order *order = pt_order_new(&pt_order_access, "t", &c.names);
    order->lanes = true;
    for (uint32_t e = 0; e < c.count; e++) {
        c.relevant[e] = c.events[e].op == PT_OP_WRITE && c.events[e].object < 3;
        if (c.relevant[e] || c.events[e].op == PT_OP_READ)
            told.counted[e] = ++counts[c.events[e].thread];
        struct pt_clock *clock = NULL;
        if (told.counted[e])
            give_counts(order, &c, &told, e, &clock);
        if (clock) {
            clocks[e] = pt_clock_ref(clock);
            lanes[e] = pt_order_lane(order, c.events[e].thread);
            threads += !seen[c.events[e].thread];
            seen[c.events[e].thread] = true;
        }
        if (told.counted[e]) /* before the first clock it would say nothing */
            tell_ends(order, &c, &told, e + 1, &seed);
    }
    bool shared = check_lanes(&c, lanes, clocks) < threads;
    for (uint32_t e = 0; e < c.count; e++)
        pt_clock_unref(clocks[e]);
    pt_order_free(order);
    comp_release(&c);
    return shared;
}

static void test_lanes_of_given_clocks(void **state)
{
    (void)state;
    uint32_t shared = 0;
    for (uint64_t seed = 1; seed <= 300; seed++)
        shared += lanes_of_given(seed, false);
    assert_true(shared > 100);
    for (uint64_t seed = 1; seed <= 12; seed++)
        assert_true(lanes_of_given(seed, true));
}

/* Of threads one after the other each takes the lane of the one before. */
static void test_one_lane(void **state)
{
    (void)state;
    struct pt_names names;
    struct pt_err err;
    pt_names_init(&names);
    struct pt_order *order = pt_order_new(&pt_order_access, "t", &names);
    order->lanes = true;
    for (uint32_t t = 1; t <= 1000; t++) {
        struct pt_clock *clock = NULL;
        struct pt_event fork = {.op = PT_OP_FORK, .object = t}, write = {.op = PT_OP_WRITE, .thread = t, .object = 0},
                        join = {.op = PT_OP_JOIN, .object = t};
        assert_int_equal(pt_order_event(order, &fork, false, NULL, &err), PT_OK);
        assert_int_equal(pt_order_event(order, &write, true, &clock, &err), PT_OK);
        assert_int_equal(pt_order_lane(order, t), 0);
        assert_int_equal(clock->len, 1);
        assert_int_equal(clock->counts[0], t);
        assert_int_equal(pt_order_event(order, &join, false, NULL, &err), PT_OK);
    }
    pt_order_free(order);
    pt_names_release(&names);
}

/* The same with many at a time, each joined when the oldest of them has to go: others have ended since, of which the
 * next one knows nothing. */
static void test_as_many_lanes_as_threads_at_a_time(void **state)
{
    (void)state;
    enum { AT_ONCE = 60 };
    struct pt_names names;
    struct pt_err err;
    struct pt_clock *clock = NULL;
    pt_names_init(&names);
    pt_strtab_intern(&names.space[PT_SPACE_OTHER], PT_TIE_ENDED, strlen(PT_TIE_ENDED));
    struct pt_order *order = pt_order_new(&pt_order_access, "t", &names);
    order->lanes = true;
    for (uint32_t t = 0; t < 20 * AT_ONCE; t++) {
        struct pt_clock_entry known[AT_ONCE + 1] = {{t, 1}};
        struct pt_event event = {.op = PT_OP_EVENT, .thread = t, .line = 2 * t, .clock = known, .clock_len = 1};
        struct pt_event end = {.op = PT_OP_SYNC, .order = PT_MEMORY_RELAXED, .thread = t, .line = 2 * t + 1};
        /* what these know is known with them */
        for (uint32_t back = AT_ONCE; back <= t && back < 2 * AT_ONCE; back++)
            known[event.clock_len++] = (struct pt_clock_entry){t - back, 1};
        assert_int_equal(pt_order_event(order, &event, true, &clock, &err), PT_OK);
        assert_int_equal(pt_order_event(order, &end, false, NULL, &err), PT_OK);
        assert_in_range(pt_order_lane(order, t), 0, AT_ONCE);
    }
    pt_order_free(order);
    pt_names_release(&names);
}

/* ---- given clocks ---- */

struct given {
    struct pt_names names;
    struct pt_order *order;
    struct pt_err err;
    struct pt_clock *clock;
};

static void given_init(struct given *g)
{
    *g = (struct given){0};
    pt_names_init(&g->names);
    for (const char *t = "ABC"; *t; t++)
        pt_strtab_intern(&g->names.space[PT_SPACE_THREAD], t, 1);
    g->order = pt_order_new(&pt_order_access, "given.trace", &g->names);
}

static void given_release(struct given *g)
{
    pt_order_free(g->order);
    pt_names_release(&g->names);
}

/* An event of a thread with counts for A, B, C; a negative count for A means that the line has no clock. */
static enum pt_status give(struct given *g, uint32_t thread, bool relevant, int a, int b, int c)
{
    struct pt_clock_entry entries[] = {{0, (uint64_t)a}, {1, (uint64_t)b}, {2, (uint64_t)c}};
    struct pt_event event = {.line = 7, .op = PT_OP_EVENT, .thread = thread, .clock = entries, .clock_len = 3};
    if (a < 0)
        event.clock = NULL;
    g->err.message[0] = '\0';
    return pt_order_event(g->order, &event, relevant, &g->clock, &g->err);
}

static void test_given_clocks_are_translated(void **state)
{
    (void)state;
    struct given g;
    given_init(&g);
    assert_int_equal(give(&g, 0, false, 1, 0, 0), PT_OK); /* counted by the writer, not relevant here */
    assert_int_equal(give(&g, 0, true, 2, 0, 0), PT_OK);
    assert_int_equal(give(&g, 1, true, 1, 1, 0), PT_OK); /* knows of A's first only: of none that is relevant */
    assert_int_equal(pt_clock_get(g.clock, 0), 0);
    assert_int_equal(pt_clock_get(g.clock, 1), 1);
    assert_int_equal(give(&g, 1, false, 2, 1, 0), PT_OK); /* not counted: what it learnt stays */
    assert_int_equal(give(&g, 2, true, 2, 1, 1), PT_OK);
    assert_int_equal(pt_clock_get(g.clock, 0), 1);
    assert_int_equal(pt_clock_get(g.clock, 1), 1);
    assert_int_equal(pt_clock_get(g.clock, 2), 1);
    given_release(&g);
}

static void refused(struct given *g, enum pt_status status, const char *part)
{
    assert_int_equal(status, PT_EINPUT);
    assert_string_equal(g->err.file, "given.trace");
    assert_int_equal(g->err.line, 7);
    if (!strstr(g->err.message, part))
        fail_msg("'%s' does not say '%s'", g->err.message, part);
    given_release(g);
    given_init(g);
}

static void test_given_clocks_that_contradict(void **state)
{
    (void)state;
    struct given g;
    given_init(&g);
    refused(&g, give(&g, 0, true, 1, 1, 0), "more than have happened so far");
    refused(&g, give(&g, 0, true, 2, 0, 0), "does not follow its thread's count");
    assert_int_equal(give(&g, 0, true, 1, 0, 0), PT_OK);
    refused(&g, give(&g, 0, false, 0, 0, 0), "does not follow its thread's count");
    refused(&g, give(&g, 0, true, 0, 0, 0), "does not count this event");
    assert_int_equal(give(&g, 0, true, 1, 0, 0), PT_OK);
    assert_int_equal(give(&g, 1, true, 1, 1, 0), PT_OK);
    refused(&g, give(&g, 1, true, 0, 2, 0), "knows less than the one before");
    assert_int_equal(give(&g, 0, true, 1, 0, 0), PT_OK);
    refused(&g, give(&g, 1, true, -1, 0, 0), "carries no clock c=, but lines before it do");
    assert_int_equal(give(&g, 1, true, -1, 0, 0), PT_OK);
    refused(&g, give(&g, 0, true, 1, 0, 0), "relevant events before it carry none");
    assert_int_equal(give(&g, 1, false, -1, 0, 0), PT_OK); /* not relevant: no order was used yet */
    assert_int_equal(give(&g, 0, true, 1, 0, 0), PT_OK);
    assert_int_equal(give(&g, 1, false, -1, 0, 0), PT_OK); /* not relevant: orders nothing */
    given_release(&g);
}

/* Nothing with a clock follows a thread's end. */
static void test_given_after_the_end(void **state)
{
    (void)state;
    struct given g;
    struct pt_event end = {.op = PT_OP_SYNC, .order = PT_MEMORY_RELAXED, .thread = 0, .line = 5};
    given_init(&g);
    pt_strtab_intern(&g.names.space[PT_SPACE_OTHER], PT_TIE_ENDED, strlen(PT_TIE_ENDED));
    assert_int_equal(give(&g, 0, true, 1, 0, 0), PT_OK);
    assert_int_equal(pt_order_event(g.order, &end, false, NULL, &g.err), PT_OK);
    assert_int_equal(pt_order_event(g.order, &end, false, NULL, &g.err), PT_OK); /* said again */
    assert_int_equal(give(&g, 1, true, 1, 1, 0), PT_OK);
    refused(&g, give(&g, 0, true, 2, 0, 0), "that thread has ended before");
    given_release(&g);
}

static void test_rank(void **state)
{
    (void)state;
    uint64_t seed = 5;
    struct pt_rank rank = {0};
    enum { N = 5000 };
    uint32_t *ones = pt_xcalloc(N + 1, sizeof *ones);
    assert_int_equal(pt_rank_count(&rank, 0), 0);
    for (uint32_t i = 0; i < N; i++) {
        bool bit = i / 700 % 2 ? below(&seed, 20) == 0 : below(&seed, 2) == 0;
        pt_rank_append(&rank, bit);
        ones[i + 1] = ones[i] + bit;
        assert_int_equal(pt_rank_count(&rank, i + 1), ones[i + 1]);
    }
    for (uint32_t i = 0; i <= N; i++)
        assert_int_equal(pt_rank_count(&rank, i), ones[i]);
    assert_int_equal(rank.len, N);
    assert_int_equal(rank.total, ones[N]);
    assert_true((rank.word_cap + rank.group_cap) * sizeof(uint64_t) < N); /* about 1.13 bits per bit */
    pt_rank_release(&rank);
    free(ones);
}

/* Set bits in front of all others are only counted, however many there are. */
static void test_rank_after_very_many(void **state)
{
    (void)state;
    struct pt_rank rank = {0};
    uint64_t many = (UINT64_C(1) << 32) - 3, ones = many;
    pt_rank_begin(&rank, many);
    for (uint64_t i = 0; i < 1000; i++) {
        bool bit = i < 300 || i % 3 == 0;
        pt_rank_append(&rank, bit);
        ones += bit;
        assert_int_equal(pt_rank_count(&rank, many + i + 1), ones);
        assert_int_equal(rank.word_cap > 0, i >= 301);
    }
    assert_int_equal(pt_rank_count(&rank, 7), 7);
    assert_int_equal(pt_rank_count(&rank, many), many);
    assert_int_equal(pt_rank_count(&rank, many + 300), many + 300);
    assert_int_equal(pt_rank_count(&rank, many + 303), many + 301);
    pt_rank_release(&rank);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clocks_are_the_relation),
        cmocka_unit_test(test_given_clocks_are_translated),
        cmocka_unit_test(test_given_clocks_that_contradict),
        cmocka_unit_test(test_rank),
        cmocka_unit_test(test_rank_after_very_many),
        cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_one_lane),
        cmocka_unit_test(test_as_many_lanes_as_threads_at_a_time),
        cmocka_unit_test(test_lanes_of_given_clocks),
        cmocka_unit_test(test_given_after_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
