/* Lattices that take their events in batches, by several threads: the same JSON as one after the other. */
#include "random_trace.h"
#include "trace_util.h"

#include <stdatomic.h>

#include "engine/analysis.h"
#include "engine/crew.h"
#include "logic/lang/property.h"
#include "report/json.h"

enum { PIECES = 1000 };

static void count_piece(void *context, uint32_t number)
{
    atomic_uint *done = context;
    atomic_fetch_add(&done[number], 1);
}

static void test_crew(void **unused)
{
    (void)unused;
    static atomic_uint done[PIECES];
    for (unsigned threads = 0; threads < 5; threads++) {
        struct pt_crew *crew = pt_crew_new(threads);
        for (unsigned round = 1; round <= 50; round++) {
            pt_crew_run(crew, count_piece, done, PIECES);
            for (uint32_t i = 0; i < PIECES; i++)
                assert_int_equal(atomic_load(&done[i]), threads * 50 + round);
        }
        pt_crew_free(crew);
    }
}

static void analyse(const char *trace, const char *text, struct pt_analysis_options options, struct pt_buf *json)
{
    struct pt_properties *props = pt_properties_new();
    struct pt_analysis_input inputs[4] = {0};
    struct pt_names names;
    struct pt_err err;
    pt_names_init(&names);
    assert_int_equal(pt_properties_add(props, "t.prop", text, strlen(text), NULL, NULL, &err), PT_OK);
    for (uint32_t i = 0; i < props->count; i++) {
        inputs[i].property = &props->items[i];
        assert_int_equal(pt_monitor_new(&props->items[i], 1000, &inputs[i].monitor, &err), PT_OK);
    }
    struct pt_analysis *analysis = pt_analysis_new(&names, inputs, props->count, &options);
    struct pt_source *source = pt_source_from_memory("t.trace", trace, strlen(trace), &names);
    struct pt_event event;
    while (pt_source_next(source, &event, &err) == PT_READ_EVENT)
        assert_int_equal(pt_analysis_event(analysis, &event, &err), PT_OK);
    pt_source_free(source);
    assert_int_equal(pt_analysis_flush(analysis, &err), PT_OK);
    pt_analysis_finish(analysis, NULL);
    struct pt_result result = {.trace = "t"};
    result.findings = pt_analysis_findings(analysis, &result.count);
    for (uint32_t i = 0; i < result.count; i++)
        result.findings[i]->peak_bytes = 0;
    pt_report_json(&result, json);
    pt_analysis_free(analysis);
    for (uint32_t i = 0; i < props->count; i++)
        pt_monitor_free(inputs[i].monitor);
    pt_properties_free(props);
    pt_names_release(&names);
}

static void compare(const char *trace, const char *props, uint64_t window, unsigned jobs)
{
    struct pt_buf alone, together;
    struct pt_analysis_options options = {.window = window, .lookahead = 4 * window, .jobs = 1, .trace = "t"};
    pt_buf_init(&alone);
    pt_buf_init(&together);
    analyse(trace, props, options, &alone);
    options.jobs = jobs;
    options.batches = true;
    analyse(trace, props, options, &together);
    assert_string_equal(alone.text, together.text);
    pt_buf_release(&alone);
    pt_buf_release(&together);
}

static void test_random(void **unused)
{
    (void)unused;
    enum { CASES = 300 };
    for (uint64_t number = 0; number < CASES; number++) {
        uint64_t state = number * 2654435761u + 7;
        struct pt_buf trace, props;
        pt_buf_init(&trace);
        pt_buf_init(&props);
        random_trace(&state, number % 6 == 5, &trace);
        random_props(&state, &props);
        compare(trace.text, props.text, 1 + number % 8, 2 + (unsigned)number % 6);
        pt_buf_release(&trace);
        pt_buf_release(&props);
    }
}

/* Several batches, and initial values and a gap between them. */
static void test_long(void **unused)
{
    (void)unused;
    static const char props[] = "property a: always !(x0 > 9000 && x1 == 40);\n"
                                "property b: always (x2 > 5 -> once x1 > 3);\n"
                                "property c: always (x0 + x1 < 20000);\n";
    for (uint32_t gap = 0; gap < 2; gap++) {
        struct pt_buf trace;
        pt_buf_init(&trace);
        pt_buf_printf(&trace, "-|init(x2)=7|-\n");
        for (uint32_t i = 1; i <= 12000; i++)
            pt_buf_printf(&trace, "T%u|w(x%u)=%u|a.c:%u\n%s", i % 3, i % 3, i, i,
                          gap && i == 7001 ? "-|lost(events)=3|-\n" : "");
        compare(trace.text, props, 4, 3);
        pt_buf_release(&trace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_crew), cmocka_unit_test(test_random),
                                       cmocka_unit_test(test_long)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
