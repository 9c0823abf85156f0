/* Orders of locks (deadlock/lock_order.c): against a search for circles, on random nests. */
#include "deadlock/lock_order.h"

#include "race_util.h"

enum { LOCKS = 40, RUNS = 400, EDGES = 400 };

static bool edges[LOCKS][LOCKS], seen[LOCKS];

static bool reaches(unsigned from, unsigned to)
{
    if (from == to)
        return true;
    seen[from] = true;
    for (unsigned i = 0; i < LOCKS; i++)
        if (edges[from][i] && !seen[i] && reaches(i, to))
            return true;
    return false;
}

/* Mostly along a hidden order; from some moment on against it as well. */
static void random_nests(void **state)
{
    unsigned broken = 0, whole = 0;
    (void)state;
    for (unsigned run = 0; run < RUNS; run++) {
        struct pt_lock_order order;
        unsigned hidden[LOCKS], wild = run % 2 ? EDGES : below(EDGES);
        bool circle = false;
        memset(edges, 0, sizeof edges);
        pt_lock_order_begin(&order, &test_memory);
        for (unsigned i = 0; i < LOCKS; i++)
            hidden[i] = i;
        for (unsigned i = LOCKS; i-- > 1;) {
            unsigned k = below(i + 1), at = hidden[i];
            hidden[i] = hidden[k];
            hidden[k] = at;
        }
        for (unsigned i = 0; i < EDGES; i++) {
            unsigned one = below(LOCKS), other = below(LOCKS);
            if (one == other)
                continue;
            bool turns = i < wild ? hidden[one] > hidden[other] : below(40) == 0;
            unsigned from = turns ? other : one, to = turns ? one : other;
            memset(seen, 0, sizeof seen);
            circle |= reaches(to, from);
            edges[from][to] = true;
            assert_int_equal(pt_lock_order_add(&order, 1000 + 8 * from, 1000 + 8 * to), !circle);
        }
        broken += circle;
        whole += !circle;
        pt_lock_order_end(&order);
        assert_int_equal(taken, 0);
    }
    assert_true(broken > RUNS / 4 && whole > RUNS / 4);
}

static void same_lock(void **state)
{
    struct pt_lock_order order;
    (void)state;
    pt_lock_order_begin(&order, &test_memory);
    assert_true(pt_lock_order_add(&order, 8, 16));
    assert_false(pt_lock_order_add(&order, 8, 8));
    assert_false(pt_lock_order_add(&order, 24, 32));
    pt_lock_order_end(&order);
    assert_int_equal(taken, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_nests), cmocka_unit_test(same_lock)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
