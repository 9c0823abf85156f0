/* The order `access` where a thread has had nearly 2^32 relevant events: its inside, so that they need not be made. */
#include "trace_util.h"

#include "../../src/order/access.c"

static struct pt_event event_of(const struct pt_clock_entry *clock)
{
    return (struct pt_event){.line = 9, .op = PT_OP_EVENT, .clock = clock, .clock_len = clock ? 1 : 0};
}

static void refused(enum pt_status status, const struct pt_err *err)
{
    assert_int_equal(status, PT_ELIMIT);
    assert_int_equal(err->line, 9);
    assert_non_null(strstr(err->message, "more than 4294967295 relevant events in one thread"));
}

static void test_computed_counts(void **state)
{
    (void)state;
    struct pt_names names;
    struct pt_err err;
    struct pt_clock *needs = NULL;
    pt_names_init(&names);
    pt_strtab_intern(&names.space[PT_SPACE_THREAD], "A", 1);
    struct pt_order *order = pt_order_new(&pt_order_access, "t", &names);
    struct pt_event event = event_of(NULL);
    assert_int_equal(pt_order_event(order, &event, true, &needs, &err), PT_OK);
    own(order)->threads[0].clock->counts[0] = UINT32_MAX - 1;
    assert_int_equal(pt_order_event(order, &event, true, &needs, &err), PT_OK);
    assert_int_equal(pt_clock_get(needs, 0), UINT32_MAX);
    refused(pt_order_event(order, &event, true, &needs, &err), &err);
    assert_int_equal(pt_order_event(order, &event, false, &needs, &err), PT_OK);
    pt_order_free(order);
    pt_names_release(&names);
}

/* The trace's own counts go further, as long as no more of them are relevant here. */
static void test_given_counts(void **state)
{
    (void)state;
    struct pt_names names;
    struct pt_err err;
    struct pt_clock *needs = NULL;
    pt_names_init(&names);
    pt_strtab_intern(&names.space[PT_SPACE_THREAD], "A", 1);
    struct pt_order *order = pt_order_new(&pt_order_access, "t", &names);
    struct pt_clock_entry entry = {0, 1};
    struct pt_event event = event_of(&entry);
    assert_int_equal(pt_order_event(order, &event, true, &needs, &err), PT_OK);
    own(order)->threads[0].counted.total = UINT32_MAX;
    entry.count = 2;
    refused(pt_order_event(order, &event, true, &needs, &err), &err);
    assert_int_equal(pt_order_event(order, &event, false, &needs, &err), PT_OK);
    pt_order_free(order);
    pt_names_release(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_computed_counts),
        cmocka_unit_test(test_given_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
