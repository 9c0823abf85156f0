/*
 * Bounded windows of two threads (engine/pair.c) against the exploration of everything, which shares none of its code:
 * windows that drop nothing, properties whose letters and states change seldom, often and together, threads that write
 * each other's variables.
 */
#include "computation.h"
#include "engine/analysis.h"
#include "findings_util.h"
#include "logic/lang/property.h"

struct explored {
    struct pt_properties *props;
    struct pt_monitor *monitor;
    struct pt_analysis *analysis;
    const struct pt_finding *finding;
};

static void explore(struct explored *x, struct computation *c, const char *text, uint64_t most)
{
    struct pt_err err;
    uint32_t count;
    struct pt_analysis_options options = {
        .window = most, .lookahead = most, .exhaustive = true, .jobs = 1, .trace = "t"};
    x->props = pt_properties_new();
    if (pt_properties_add(x->props, "t.prop", text, strlen(text), NULL, NULL, &err) != PT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(pt_monitor_new(&x->props->items[0], 1000, &x->monitor, &err), PT_OK);
    struct pt_analysis_input input = {.property = &x->props->items[0], .monitor = x->monitor};
    x->analysis = pt_analysis_new(&c->names, &input, 1, &options);
    for (uint32_t e = 0; e < c->count; e++)
        if (pt_analysis_event(x->analysis, &c->events[e], &err) != PT_OK)
            fail_msg("%s", err.message);
    pt_analysis_finish(x->analysis, NULL);
    x->finding = pt_analysis_findings(x->analysis, &count)[0];
}

static void release(struct explored *x)
{
    pt_analysis_free(x->analysis);
    pt_monitor_free(x->monitor);
    pt_properties_free(x->props);
}

/* Each writes two variables of its own, the same value for a while; `meets` of 64 times it writes one of the other's,
 * or reads it. */
static void make(struct computation *c, uint64_t *seed, uint32_t meets)
{
    uint32_t value[2] = {0, 0}, count = 60 + below(seed, 240);
    while (c->count < count) {
        uint32_t t = below(seed, 2);
        if (below(seed, 64) < meets)
            comp_add(c, t, below(seed, 2) ? PT_OP_WRITE : PT_OP_READ, 2 * (1 - t) + below(seed, 2), below(seed, 6));
        else if (below(seed, 20) == 0)
            comp_add(c, t, PT_OP_EVENT, t, 0);
        if (below(seed, 8) == 0)
            value[t] = below(seed, 6);
        comp_add(c, t, PT_OP_WRITE, 2 * t + (below(seed, 10) == 0), value[t]);
    }
}

static const char *const texts[] = {
    "property p: x0 < 5 || x2 < 5;",
    "property p: x0 < 9 && x2 < 9;", /* nothing changes */
    "property p: x0 == 3 -> (x2 < 5 since (x1 < 4 && once x3 < 3));",
    "property p: x0 + x2 < 10 || x1 > 3;",
    "property p: (x1 == 2 && x2 == 4) -> once (x0 == 5 && x3 <= 1);",
    "property p: x0 == 5 -> (event(e1) || once (event(e0) && x2 > 1));",
    "property p: event(e0) -> x2 < 5;",
};
enum { TEXTS = sizeof texts / sizeof *texts };

static void test_like_everything(void **state)
{
    (void)state;
    uint32_t violated = 0, held = 0;
    for (uint64_t n = 0; n < 210; n++) {
        static const uint32_t meets[] = {0, 1, 6};
        uint64_t seed = 13 * n + 1;
        struct computation c;
        struct explored all, bounded;
        comp_init(&c);
        make(&c, &seed, meets[n / TEXTS % 3]);
        explore(&all, &c, texts[n % TEXTS], PT_ALL);
        explore(&bounded, &c, texts[n % TEXTS], 100000);
        same_findings(all.finding, bounded.finding);
        assert_true(bounded.finding->complete);
        violated += all.finding->verdict == PT_VERDICT_VIOLATED;
        held += all.finding->verdict == PT_VERDICT_HOLDS;
        release(&all);
        release(&bounded);
        comp_release(&c);
    }
    assert_true(violated > 40 && held > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_like_everything)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
