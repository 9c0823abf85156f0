/* The order `access` where threads have had very many relevant events: counts that begin high, up to where they end. */
#include "trace_util.h"

#include "order/access.h"

struct high {
    struct pt_names names;
    struct pt_order *order;
    struct pt_clock *needs;
    struct pt_err err;
};

static void high_init(struct high *h, uint64_t before)
{
    *h = (struct high){0};
    pt_names_init(&h->names);
    pt_strtab_intern(&h->names.space[PT_SPACE_THREAD], "A", 1);
    pt_strtab_intern(&h->names.space[PT_SPACE_THREAD], "B", 1);
    h->order = pt_order_new(&pt_order_access, "t", &h->names);
    h->order->counted_before = before;
}

static void high_release(struct high *h)
{
    pt_order_free(h->order);
    pt_names_release(&h->names);
}

static enum pt_status event(struct high *h, uint32_t thread, enum pt_op op, bool relevant)
{
    struct pt_event event = {.line = 9, .op = (uint8_t)op, .thread = thread};
    return pt_order_event(h->order, &event, relevant, &h->needs, &h->err);
}

/* With what its clock says of A and B; UINT64_MAX: nothing. */
static enum pt_status given(struct high *h, uint32_t thread, bool relevant, uint64_t a, uint64_t b)
{
    struct pt_clock_entry clock[2];
    uint32_t len = 0;
    if (a != UINT64_MAX)
        clock[len++] = (struct pt_clock_entry){0, a};
    if (b != UINT64_MAX)
        clock[len++] = (struct pt_clock_entry){1, b};
    struct pt_event event = {.line = 9, .op = PT_OP_EVENT, .thread = thread, .clock = clock, .clock_len = len};
    return pt_order_event(h->order, &event, relevant, &h->needs, &h->err);
}

static void needs(const struct high *h, uint64_t a, uint64_t b)
{
    assert_int_equal(pt_clock_get(h->needs, 0), a);
    assert_int_equal(pt_clock_get(h->needs, 1), b);
}

static void refused(enum pt_status status, const struct pt_err *err)
{
    assert_int_equal(status, PT_ELIMIT);
    assert_int_equal(err->line, 9);
    assert_non_null(strstr(err->message, "more than 9223372036854775807 relevant events in one thread"));
}

static const uint64_t starts[] = {0, (UINT64_C(1) << 32) - 2, UINT64_C(1) << 40, PT_COUNT_MAX - 4};

/* What A wrote before B reads is needed, and what it writes later is not. */
static void test_computed_counts(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        struct high h;
        uint64_t from = starts[i];
        high_init(&h, from);
        for (uint64_t k = 1; k <= 3; k++) {
            assert_int_equal(event(&h, 0, PT_OP_WRITE, true), PT_OK);
            needs(&h, from + k, 0);
        }
        assert_int_equal(event(&h, 1, PT_OP_READ, false), PT_OK);
        assert_int_equal(event(&h, 0, PT_OP_EVENT, true), PT_OK);
        needs(&h, from + 4, 0);
        assert_int_equal(event(&h, 1, PT_OP_EVENT, true), PT_OK);
        needs(&h, from + 3, from + 1);
        high_release(&h);
    }
}

static void test_given_counts(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        struct high h;
        uint64_t from = starts[i];
        high_init(&h, from);
        for (uint64_t k = 1; k <= 3; k++) {
            assert_int_equal(given(&h, 0, true, from + k, UINT64_MAX), PT_OK);
            needs(&h, from + k, 0);
        }
        assert_int_equal(given(&h, 1, false, from + 3, from + 1), PT_OK); /* counted, and not relevant here */
        assert_int_equal(given(&h, 1, true, UINT64_MAX, from + 2), PT_OK);
        needs(&h, from + 3, from + 1);
        assert_int_equal(given(&h, 0, true, from + 4, from + 2), PT_OK);
        needs(&h, from + 4, from + 1);
        assert_int_equal(given(&h, 0, true, from + 4, from + 2), PT_EINPUT);
        high_release(&h);
    }
}

static void test_counts_end(void **state)
{
    (void)state;
    struct high h;
    high_init(&h, PT_COUNT_MAX - 1);
    assert_int_equal(event(&h, 0, PT_OP_WRITE, true), PT_OK);
    needs(&h, PT_COUNT_MAX, 0);
    refused(event(&h, 0, PT_OP_WRITE, true), &h.err);
    assert_int_equal(event(&h, 0, PT_OP_WRITE, false), PT_OK);
    high_release(&h);
    high_init(&h, PT_COUNT_MAX);
    refused(event(&h, 0, PT_OP_WRITE, true), &h.err);
    high_release(&h);
    high_init(&h, PT_COUNT_MAX - 1);
    assert_int_equal(given(&h, 0, true, PT_COUNT_MAX, UINT64_MAX), PT_OK);
    refused(given(&h, 0, true, PT_COUNT_MAX + 1, UINT64_MAX), &h.err);
    refused(given(&h, 0, false, PT_COUNT_MAX + 1, UINT64_MAX), &h.err);
    high_release(&h);
}

static struct pt_clock *clock_of(struct pt_clock_pool *pool, uint64_t a, uint64_t b)
{
    struct pt_clock *clock = pt_clock_new(2, pool);
    clock->counts[0] = a;
    clock->counts[1] = b;
    return clock;
}

/* Joins, where counts differ by more than 32 bits hold, or in the upper 32 bits alone. */
static void test_joins(void **state)
{
    (void)state;
    static const uint64_t counts[] = {
        0,           1, UINT32_MAX, UINT64_C(1) << 32, (UINT64_C(1) << 32) + 1, UINT64_C(5) << 32, PT_COUNT_MAX - 1,
        PT_COUNT_MAX};
    enum { N = sizeof counts / sizeof counts[0] };
    struct pt_clock_pool pool = {0};
    for (uint32_t i = 0; i < N * N * N * N; i++) {
        uint64_t a = counts[i % N], b = counts[i / N % N], c = counts[i / N / N % N], d = counts[i / N / N / N];
        struct pt_clock *place = clock_of(&pool, a, b), *other = clock_of(&pool, c, d);
        assert_int_equal(pt_clock_absorb(&place, other), c > a || d > b);
        assert_int_equal(place->counts[0], c > a ? c : a);
        assert_int_equal(place->counts[1], d > b ? d : b);
        pt_clock_unref(place);
        pt_clock_unref(other);
    }
    pt_clock_pool_release(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_computed_counts),
        cmocka_unit_test(test_given_counts),
        cmocka_unit_test(test_counts_end),
        cmocka_unit_test(test_joins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
