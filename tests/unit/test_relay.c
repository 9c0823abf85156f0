/*
 * The cone of one property by two threads (engine/relay.c): the findings are those of one thread, whatever the property
 * is about, wherever a violation, an error or the end of what is explored comes, and whoever is behind.
 */
#include <dirent.h>

#include "computation.h"
#include "engine/analysis.h"
#include "findings_util.h"
#include "logic/lang/property.h"

enum { THREADS = 6, EVENTS = 1000, MOST = 2 }; /* properties */

/* Threads that mostly write variables of their own, now and then read others' or do an event of the property; `ends`:
 * towards the end two of them are left. */
static void make(struct computation *c, uint64_t *seed, bool ends)
{
    while (c->count < EVENTS) {
        uint32_t left = ends && c->count > EVENTS / 2 && c->count % 300 < 200 ? 2 : THREADS;
        uint32_t t = below(seed, left), kind = below(seed, 12);
        if (kind == 0)
            comp_add(c, t, PT_OP_READ, below(seed, THREADS), 0);
        else if (kind == 1)
            comp_add(c, t, PT_OP_EVENT, below(seed, 3), 0);
        else
            comp_add(c, t, PT_OP_WRITE, kind == 2 ? below(seed, THREADS) : t, below(seed, 6));
    }
}

struct explored {
    struct pt_properties *props;
    struct pt_monitor *monitors[MOST];
    struct pt_analysis *analysis;
    const struct pt_finding *finding; /* of the property that is looked at */
    struct pt_finding **findings;
    enum pt_status status;
    uint32_t tasks; /* threads of this process, at most, while events were given */
};

static void look_at_tasks(struct explored *x)
{
    uint32_t count = 0;
    DIR *folder = opendir("/proc/self/task");
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(folder);
    x->tasks = count > x->tasks ? count : x->tasks;
}

static void explore(struct explored *x, struct computation *c, const char *text, struct pt_analysis_options *options)
{
    struct pt_err err;
    uint32_t count;
    *x = (struct explored){.props = pt_properties_new(), .status = PT_OK};
    if (pt_properties_add(x->props, "t.prop", text, strlen(text), NULL, NULL, &err) != PT_OK)
        fail_msg("%s", err.message);
    struct pt_analysis_input inputs[MOST] = {0};
    assert_true(x->props->count <= MOST);
    for (uint32_t i = 0; i < x->props->count; i++) {
        assert_int_equal(pt_monitor_new(&x->props->items[i], 1000, &x->monitors[i], &err), PT_OK);
        inputs[i] = (struct pt_analysis_input){.property = &x->props->items[i], .monitor = x->monitors[i]};
    }
    x->analysis = pt_analysis_new(&c->names, inputs, x->props->count, options);
    for (uint32_t e = 0; e < c->count && x->status == PT_OK; e++) {
        x->status = pt_analysis_event(x->analysis, &c->events[e], &err);
        if (e % 100 == 99)
            look_at_tasks(x);
    }
    enum pt_status flushed = pt_analysis_flush(x->analysis, &err); /* with threads it may come to light here */
    x->status = x->status == PT_OK ? flushed : x->status;
    look_at_tasks(x);
    pt_analysis_finish(x->analysis, NULL);
    x->findings = pt_analysis_findings(x->analysis, &count);
    x->finding = x->findings[0];
}

static void release(struct explored *x)
{
    pt_analysis_free(x->analysis);
    for (uint32_t i = 0; i < x->props->count; i++)
        pt_monitor_free(x->monitors[i]);
    pt_properties_free(x->props);
}

static void same(const struct explored *x, const struct explored *y)
{
    const struct pt_finding *a = x->finding, *b = y->finding;
    assert_int_equal(x->status, y->status);
    same_findings(a, b);
    same_messages(a, b);
}

static const char *const texts[] = {
    "property p: x0 < 9 && x1 < 9 && x2 < 9 && x3 < 9 && x4 < 9 && x5 < 9;", /* all states are alike */
    "property p: !(x0 == 5 && x1 == 5 && x2 == 5 && x3 == 5 && x4 == 0);",
    "property p: x0 + x1 + x2 + x3 + x4 < 24 && x5 < 9;",
    "property p: (x0 == 5 && x3 == x4 + 1) -> (x1 < 5 since (x2 + x5 < 9));",
    "property p: event(e0) -> (once (event(e1) && x0 > 3 && x1 == x2) || x4 + x5 < 10 || x3 < 5);",
    "property p: x0 != 5 || x1 != 5 || x2 != 5 || x4 != 5 || 10 / x3 < 100;", /* no value where x3 is 0 */
};

static void test_like_one_thread(void **state)
{
    (void)state;
    static const uint64_t windows[] = {3, 16, 64, 255, 256, 257, 300}, lookaheads[] = {12, 48, 256};
    uint32_t verdicts[8] = {0}, shared = 0;
    for (uint64_t n = 0; n < 140; n++) {
        uint64_t seed = 77 * n + 5;
        struct computation c;
        struct explored one, two;
        struct pt_analysis_options options = {.window = windows[n % 7],
                                              .lookahead = lookaheads[n % 3],
                                              .jobs = 1,
                                              .cuts_for_each = 1,
                                              .cores = n % 5 ? 2 : 0, /* sleeps at once, or looks on */
                                              .trace = "t",
                                              .batches = true,
                                              .stretch = PT_NO_STRETCHES};
        comp_init(&c);
        make(&c, &seed, n % 2);
        explore(&one, &c, texts[n % 6], &options);
        options.jobs = 2;
        explore(&two, &c, texts[n % 6], &options);
        shared += two.tasks > one.tasks;
        same(&one, &two);
        verdicts[one.finding->verdict]++;
        release(&one);
        release(&two);
        comp_release(&c);
    }
    assert_true(shared > 60);
    assert_true(verdicts[PT_VERDICT_HOLDS] + verdicts[PT_VERDICT_UNKNOWN] > 20);
    assert_true(verdicts[PT_VERDICT_VIOLATED] > 20 && verdicts[PT_VERDICT_ERROR] > 0);
}

/* Several properties side by side, and two threads for each. */
static void test_several_properties(void **state)
{
    (void)state;
    uint32_t shared = 0;
    for (uint64_t n = 0; n < 30; n++) {
        uint64_t seed = 11 * n + 3;
        struct computation c;
        struct explored one, four;
        char text[512];
        struct pt_analysis_options options = {.window = 32,
                                              .lookahead = 128,
                                              .jobs = 1,
                                              .cuts_for_each = 1,
                                              .cores = 4,
                                              .trace = "t",
                                              .batches = true,
                                              .stretch = PT_NO_STRETCHES};
        snprintf(text, sizeof text, "%s property q%s", texts[n % 6], texts[(n + 1 + n / 6) % 6] + strlen("property p"));
        comp_init(&c);
        make(&c, &seed, n % 2);
        explore(&one, &c, text, &options);
        options.jobs = 4;
        explore(&four, &c, text, &options);
        shared += four.tasks > one.tasks + 1; /* more than one for each property */
        for (uint32_t i = 0; i < MOST; i++) {
            one.finding = one.findings[i];
            four.finding = four.findings[i];
            same(&one, &four);
        }
        release(&one);
        release(&four);
        comp_release(&c);
    }
    assert_true(shared > 10);
}

/* The exploration is freed, or given up, while levels are made and filled. */
static void test_ends_anywhere(void **state)
{
    (void)state;
    for (uint32_t n = 0; n < 40; n++) {
        uint64_t seed = 3 * n + 1;
        struct computation c;
        struct pt_err err;
        struct pt_properties *props = pt_properties_new();
        struct pt_monitor *monitor;
        struct pt_analysis_options options = {.window = 64,
                                              .lookahead = 256,
                                              .jobs = 2,
                                              .cuts_for_each = 1,
                                              .cores = 2,
                                              .trace = "t",
                                              .batches = true,
                                              .stretch = PT_NO_STRETCHES};
        comp_init(&c);
        make(&c, &seed, false);
        assert_int_equal(pt_properties_add(props, "t.prop", texts[n % 6], strlen(texts[n % 6]), NULL, NULL, &err),
                         PT_OK);
        assert_int_equal(pt_monitor_new(&props->items[0], 1000, &monitor, &err), PT_OK);
        struct pt_analysis_input input = {.property = &props->items[0], .monitor = monitor};
        struct pt_analysis *analysis = pt_analysis_new(&c.names, &input, 1, &options);
        for (uint32_t e = 0; e < 200 + 19 * n; e++)
            assert_int_equal(pt_analysis_event(analysis, &c.events[e], &err), PT_OK);
        if (n % 2)
            pt_analysis_gap(analysis, 1);
        pt_analysis_free(analysis);
        pt_monitor_free(monitor);
        pt_properties_free(props);
        comp_release(&c);
    }
}

/* Writes with given clocks, which order nothing but each thread's own; event number `wrong` is of another one's
 * variable.
 */
static void make_clocked(struct computation *c, uint64_t seed, struct pt_clock_entry *clocks, uint64_t wrong)
{
    uint64_t counts[THREADS] = {0};
    for (uint32_t e = 0; e < EVENTS; e++) {
        uint32_t t = below(&seed, THREADS);
        comp_add(c, t, PT_OP_WRITE, e == wrong ? (t + 1) % THREADS : t, below(&seed, 6));
        clocks[e] = (struct pt_clock_entry){c->events[e].thread, ++counts[t]};
        c->events[e].clock = &clocks[e];
        c->events[e].clock_len = 1;
    }
}

/* Clocks that leave two writes without an order are an error, but not once there is nothing more to explore: also where
 * that is found out later. */
static void test_error_after_the_end(void **state)
{
    (void)state;
    static const char text[] = "property p: x0 + x1 + x2 + x3 < 20 && x4 < 9 && x5 < 9;";
    uint32_t errors = 0, tries = 0;
    uint64_t bad = UINT64_MAX; /* the level of the violation */
    for (uint32_t n = 0; n < 200; n++) {
        struct computation c;
        struct explored one, two;
        struct pt_clock_entry clocks[EVENTS];
        struct pt_analysis_options options = {.window = 16,
                                              .lookahead = 64,
                                              .jobs = 1,
                                              .cuts_for_each = 1,
                                              .cores = 2,
                                              .trace = "t",
                                              .batches = true,
                                              .stretch = PT_NO_STRETCHES};
        if (n % 50 == 0)
            bad = UINT64_MAX;
        comp_init(&c);
        make_clocked(&c, n / 50 + 100, clocks, bad == UINT64_MAX ? bad : bad + n % 50);
        explore(&one, &c, text, &options);
        options.jobs = 2;
        explore(&two, &c, text, &options);
        same(&one, &two);
        tries += bad != UINT64_MAX;
        errors += one.status != PT_OK;
        if (bad == UINT64_MAX && one.finding->verdict == PT_VERDICT_VIOLATED)
            bad = one.finding->levels - 1;
        release(&one);
        release(&two);
        comp_release(&c);
    }
    assert_true(tries > 100 && errors > tries / 10 && errors < tries);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_like_one_thread),
        cmocka_unit_test(test_several_properties),
        cmocka_unit_test(test_ends_anywhere),
        cmocka_unit_test(test_error_after_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
