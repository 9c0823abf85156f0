/* Lattices that take their events in batches, by several threads: the same JSON as one after the other; and, where
 * events are live, the same calls in the same order. */
#include "random_trace.h"
#include "trace_util.h"

#include <stdatomic.h>
#include <unistd.h>

#include "engine/analysis.h"
#include "engine/crew.h"
#include "engine/feed.h"
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

/* --- the feed by itself --- */

enum { TAKERS = 3, BATCHES = 400, EACH = 8 };

/* Batch k has the numbers from k * EACH on. */
struct feeding {
    struct pt_feed *feed;
    uint64_t first[PT_FEED_SLOTS];
    uint64_t next[TAKERS];                  /* what the taker expects */
    uint64_t state[TAKERS];                 /* of its random numbers */
    uint64_t told[TAKERS * BATCHES * EACH]; /* with the floor alone: time * TAKERS + rank */
    uint32_t told_count;
    uint64_t asked; /* by all */
    bool speaks, owner_runs;
};

static bool tells(unsigned taker, uint64_t number)
{
    return (number * 2654435761u + taker * 40503u) % 97 < (number % 1000 < 50 ? 60 : 2);
}

static void take_numbers(void *context, unsigned taker, unsigned slot)
{
    struct feeding *f = context;
    for (uint64_t n = f->first[slot]; n < f->first[slot] + EACH; n++) {
        assert_int_equal(n, f->next[taker]++);
        if (draw(&f->state[taker], 50) == 0)
            usleep(100);
        if (!tells(taker, n))
            continue;
        pt_feed_begin(f->feed, taker, n, taker);
        assert_false(f->speaks || f->owner_runs);
        f->speaks = true;
        f->told[f->told_count++] = n * TAKERS + taker;
        f->speaks = false;
        pt_feed_end(f->feed, taker);
    }
}

static void test_feed(void **unused)
{
    (void)unused;
    static struct feeding f;
    uint32_t expected = 0;
    uint64_t state = 5;
    for (unsigned t = 0; t < TAKERS; t++)
        f.state[t] = 17 + t;
    f.feed = pt_feed_new(TAKERS, take_numbers, &f);
    assert_non_null(f.feed);
    for (uint64_t k = 0; k < BATCHES; k++) {
        unsigned slot = pt_feed_slot(f.feed);
        f.owner_runs = true;
        f.first[slot] = k * EACH;
        if (draw(&state, 40) == 0)
            usleep(200);
        f.owner_runs = false;
        pt_feed_hand(f.feed);
        if (draw(&state, 20) == 0) {
            pt_feed_drain(f.feed);
            assert_true(pt_feed_is_drained(f.feed));
            for (unsigned t = 0; t < TAKERS; t++)
                assert_int_equal(f.next[t], (k + 1) * EACH);
        }
    }
    pt_feed_free(f.feed);
    for (uint64_t n = 0; n < BATCHES * EACH; n++)
        for (unsigned t = 0; t < TAKERS; t++)
            if (tells(t, n))
                assert_int_equal(f.told[expected++], n * TAKERS + t);
    assert_int_equal(f.told_count, expected);
}

/* --- analyses --- */

/* What is called, in its order. */
static void note_found(void *context, const struct pt_finding *f)
{
    pt_buf_printf(context, "found %s %d %d %s\n", f->property, f->verdict, f->how, f->message ? f->message : "-");
}

static void note_observed(void *context, const struct pt_finding *f, const struct pt_step *step)
{
    pt_buf_printf(context, "observed %s %d %s %s\n", f->property, f->verdict, step ? step->thread : "-",
                  step ? step->object : "-");
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
    for (uint64_t n = 0, state = 3; pt_source_next(source, &event, &err) == PT_READ_EVENT; n++) {
        assert_int_equal(pt_analysis_event(analysis, &event, &err), PT_OK);
        if (options.live && draw(&state, 30) == 0)
            assert_int_equal(pt_analysis_flush(analysis, &err), PT_OK);
    }
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

static void compare(const char *trace, const char *props, uint64_t window, unsigned jobs, uint32_t batch)
{
    struct pt_buf alone, together;
    struct pt_analysis_options options = {.window = window, .lookahead = 4 * window, .jobs = 1, .trace = "t"};
    pt_buf_init(&alone);
    pt_buf_init(&together);
    analyse(trace, props, options, &alone);
    options.jobs = jobs;
    options.batches = true;
    options.batch = batch;
    analyse(trace, props, options, &together);
    assert_string_equal(alone.text, together.text);
    pt_buf_release(&alone);
    pt_buf_release(&together);
}

/* Of a running program: whatever the threads' pace. */
static void compare_live(const char *trace, const char *props, uint64_t window, unsigned jobs, uint32_t batch)
{
    struct pt_buf alone, together, calls, others;
    struct pt_analysis_options options = {.window = window,
                                          .lookahead = 4 * window,
                                          .jobs = 1,
                                          .trace = "t",
                                          .found = note_found,
                                          .observed = note_observed};
    pt_buf_init(&alone);
    pt_buf_init(&together);
    pt_buf_init(&calls);
    pt_buf_init(&others);
    options.context = &calls;
    analyse(trace, props, options, &alone);
    options.context = &others;
    options.jobs = jobs;
    options.live = true;
    options.batch = batch;
    analyse(trace, props, options, &together);
    assert_string_equal(calls.text ? calls.text : "", others.text ? others.text : "");
    assert_string_equal(alone.text, together.text);
    pt_buf_release(&alone);
    pt_buf_release(&together);
    pt_buf_release(&calls);
    pt_buf_release(&others);
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
        compare(trace.text, props.text, 1 + number % 8, 2 + (unsigned)number % 10, (uint32_t)number % 4);
        compare_live(trace.text, props.text, 1 + number % 8, 2 + (unsigned)number % 6, 1 + (uint32_t)number % 5);
        strchr(props.text, '\n')[0] = '\0'; /* the first one alone */
        compare(trace.text, props.text, 1 + number % 8, 2 + (unsigned)number % 3, (uint32_t)number % 4);
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
        compare(trace.text, props, 4, 3, 0);
        compare(trace.text, props, 4, 9, 0);
        compare_live(trace.text, props, 4, 3, 0);
        compare_live(trace.text, props, 4, 9, 7);
        pt_buf_release(&trace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_crew), cmocka_unit_test(test_feed),
                                       cmocka_unit_test(test_random), cmocka_unit_test(test_long)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
