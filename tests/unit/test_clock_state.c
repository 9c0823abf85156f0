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

/* --- threads that are behind others --- */

enum { GUESTS = 160 }; /* threads that come and go */

/* A run of them, by vectors. */
static struct guest {
    uint64_t counts[GUESTS];
    uint32_t behind; /* the thread, plus 1 */
    bool ended, has_heir;
} guests[GUESTS];
static uint32_t guest_count;

static uint32_t guest_clock(uint32_t t, struct pt_clock_entry *clock)
{
    uint32_t len = 0;
    for (uint32_t i = 0; i < guest_count; i++)
        if (guests[t].counts[i] || i == t)
            clock[len++] = (struct pt_clock_entry){i, guests[t].counts[i]};
    return len;
}

/* One who has ended and has no heir, all of whose events are known to t, plus 1. */
static uint32_t find_behind(uint64_t *seed, uint32_t t)
{
    uint32_t from = below(seed, guest_count);
    for (uint32_t i = 0; i < guest_count; i++) {
        uint32_t p = (from + i) % guest_count;
        if (p == t || !guests[p].ended || guests[p].has_heir || !guests[p].counts[p] ||
            guests[t].counts[p] != guests[p].counts[p])
            continue;
        guests[p].has_heir = true;
        return p + 1;
    }
    return 0;
}

/* The clock without those whose heirs it names; of those, some are named nevertheless. */
static uint32_t lean_clock(uint64_t *seed, uint32_t t, uint32_t behind, struct pt_clock_entry *clock)
{
    bool implied[GUESTS] = {false};
    uint32_t len = 0, full = guest_clock(t, clock);
    for (uint32_t i = 0; i < full; i++)
        if (guests[clock[i].thread].behind && clock[i].count)
            implied[guests[clock[i].thread].behind - 1] = true;
    for (uint32_t i = 0; i < full; i++)
        if (!implied[clock[i].thread] || clock[i].thread + 1 == behind || below(seed, 8) == 0)
            clock[len++] = clock[i];
    return len;
}

struct both {
    struct pt_clock_state full, lean;
    struct pt_order *full_order, *lean_order;
    uint64_t named, lines;
};

/* A line of t, as a clock that names all and as one that does not. */
static void pass_both(struct both *both, uint64_t *seed, uint32_t t, bool counted, bool first)
{
    struct pt_clock_entry full[GUESTS], lean[GUESTS];
    struct pt_clock *full_needs = NULL, *lean_needs = NULL;
    struct pt_err err;
    struct pt_event a = {.op = PT_OP_EVENT, .thread = t, .line = ++both->lines, .clock = full}, b = a;
    b.behind = first ? guests[t].behind : 0;
    a.clock_len = guest_clock(t, full);
    b.clock = lean;
    b.clock_len = lean_clock(seed, t, b.behind, lean);
    both->named += b.clock_len;
    assert_int_equal(pt_order_event(both->full_order, &a, counted, &full_needs, &err), PT_OK);
    assert_int_equal(pt_order_event(both->lean_order, &b, counted, &lean_needs, &err), PT_OK);
    for (uint32_t i = 0; counted && i < GUESTS; i++)
        assert_int_equal(pt_clock_get(full_needs, i), pt_clock_get(lean_needs, i));
    pt_clock_state_reduce(&both->full, &a);
    pt_clock_state_reduce(&both->lean, &b);
    assert_int_equal(a.clock_len, b.clock_len);
    for (uint32_t i = 0; i < a.clock_len; i++)
        assert_true(a.clock[i].thread == b.clock[i].thread && a.clock[i].count == b.clock[i].count);
    for (uint32_t i = 0; i < guest_count; i++)
        assert_int_equal(pt_tree_get(&pt_clock_state_thread(&both->lean, t)->now, i), guests[t].counts[i]);
}

static void hear(uint32_t t, const struct guest *other)
{
    for (uint32_t i = 0; i < GUESTS; i++)
        guests[t].counts[i] = other->counts[i] > guests[t].counts[i] ? other->counts[i] : guests[t].counts[i];
}

static void guest_event(struct both *both, uint64_t *seed, uint32_t t)
{
    bool counted = guests[t].counts[t] == 0 || below(seed, 4) > 0, first = guests[t].counts[t] == 0;
    if (first)
        guests[t].behind = find_behind(seed, t);
    guests[t].counts[t] += counted;
    pass_both(both, seed, t, counted, first);
}

/* Up to `most` at a time, who hear from each other now and then, and from some of those who have ended. */
static void guests_come_and_go(uint64_t *seed, struct both *both, uint32_t most)
{
    uint32_t alive[GUESTS], count = 0;
    memset(guests, 0, sizeof guests);
    for (guest_count = 0; guest_count < GUESTS || count > 1;) {
        uint32_t at = count ? below(seed, count) : 0, dice = below(seed, 10), t = count ? alive[at] : 0;
        if (!count || (dice == 0 && count < most && guest_count < GUESTS)) {
            alive[count++] = guest_count++;
            if (guest_count > 1 && below(seed, 8))
                hear(guest_count - 1, &guests[t]);
        } else if (dice == 1) {
            guests[t].ended = true;
            alive[at] = alive[--count];
        } else if (dice < 5) {
            hear(t, &guests[dice == 2 ? below(seed, guest_count) : alive[below(seed, count)]]);
        } else {
            guest_event(both, seed, t);
        }
    }
}

static void test_threads_behind_others(void **state)
{
    (void)state;
    uint64_t named = 0, behind = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint64_t s = seed;
        struct both both = {.full_order = pt_order_new(&pt_order_access, "t", NULL),
                            .lean_order = pt_order_new(&pt_order_access, "t", NULL)};
        guests_come_and_go(&s, &both, seed % 3 ? 2 + below(&s, 8) : 40);
        for (uint32_t t = 0; t < GUESTS; t++)
            behind += guests[t].behind != 0;
        named += both.named * 2 < both.lines * GUESTS / 2;
        pt_order_free(both.full_order);
        pt_order_free(both.lean_order);
        pt_clock_state_release(&both.full);
        pt_clock_state_release(&both.lean);
    }
    assert_true(behind > 60 * GUESTS / 3);
    assert_true(named > 30);
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
        cmocka_unit_test(test_threads_behind_others),
        cmocka_unit_test(test_high_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
