/*
 * A lattice divided among the members of a group (engine/share.h), which are threads here: each has its own names,
 * monitors and analysis of the same trace, and all must come to the JSON that one alone comes to. tests/mpi does the
 * same with processes.
 */
#include "random_trace.h"
#include "trace_util.h"

#include <pthread.h>
#include <stdio.h>

#include "engine/analysis.h"
#include "logic/lang/property.h"
#include "report/json.h"

enum { MOST = 5 };

/* ---- a group of threads ---- */

struct meeting {
    pthread_barrier_t barrier;
    const struct pt_group_bytes *out[MOST];
    uint64_t *values[MOST];
    void *bytes[MOST];
    uint32_t size;
};

struct member {
    struct meeting *meeting;
    uint32_t rank;
};

static void wait_for_all(const struct member *m)
{
    pthread_barrier_wait(&m->meeting->barrier);
}

static void exchange(void *context, const struct pt_group_bytes *out, struct pt_group_bytes *in)
{
    const struct member *m = context;
    m->meeting->out[m->rank] = out;
    wait_for_all(m);
    for (uint32_t p = 0; p < m->meeting->size; p++) {
        const struct pt_group_bytes *from = &m->meeting->out[p][m->rank];
        in[p].len = 0;
        void *to = pt_group_bytes_add(&in[p], from->len + 1);
        in[p].len = from->len;
        if (from->len)
            memcpy(to, from->data, from->len);
    }
    wait_for_all(m);
}

static void sum(void *context, uint64_t *values, uint32_t count)
{
    const struct member *m = context;
    uint64_t total[16] = {0};
    assert_true(count <= 16);
    m->meeting->values[m->rank] = values;
    wait_for_all(m);
    for (uint32_t p = 0; p < m->meeting->size; p++)
        for (uint32_t i = 0; i < count; i++)
            total[i] += m->meeting->values[p][i];
    wait_for_all(m);
    memcpy(values, total, count * sizeof *values);
}

static void spread(void *context, uint32_t from, void *bytes, size_t size)
{
    const struct member *m = context;
    m->meeting->bytes[m->rank] = bytes;
    wait_for_all(m);
    if (from != m->rank)
        memcpy(bytes, m->meeting->bytes[from], size);
    wait_for_all(m);
}

/* ---- one analysis ---- */

struct run {
    const char *trace, *props;
    struct member member;
    bool alone, exhaustive;
    uint32_t jobs; /* of each member */
    uint64_t memory_limit;
    struct pt_buf json;
};

static void read_events(struct pt_analysis *analysis, const char *trace, struct pt_names *names)
{
    struct pt_source *source = pt_source_from_memory("t.trace", trace, strlen(trace), names);
    struct pt_event event;
    struct pt_err err;
    while (pt_source_next(source, &event, &err) == PT_READ_EVENT)
        if (pt_analysis_event(analysis, &event, &err) != PT_OK)
            abort();
    pt_source_free(source);
}

static void *analyse(void *argument)
{
    struct run *run = argument;
    struct pt_group group = {
        run->member.rank, run->alone ? 1 : run->member.meeting->size, &run->member, exchange, sum, spread};
    struct pt_analysis_options options = {.window = PT_ALL,
                                          .lookahead = PT_ALL,
                                          .jobs = run->alone ? 1 : run->jobs,
                                          .cuts_for_each = 1,
                                          .trace = "t",
                                          .exhaustive = run->exhaustive,
                                          .memory_limit = run->memory_limit,
                                          .group = &group};
    struct pt_properties *props = pt_properties_new();
    struct pt_analysis_input inputs[4] = {0};
    struct pt_names names;
    struct pt_err err;
    pt_names_init(&names);
    if (pt_properties_add(props, "t.prop", run->props, strlen(run->props), NULL, NULL, &err) != PT_OK)
        abort();
    for (uint32_t i = 0; i < props->count; i++) {
        inputs[i].property = &props->items[i];
        if (pt_monitor_new(&props->items[i], 1000, &inputs[i].monitor, &err) != PT_OK)
            abort();
    }
    struct pt_analysis *analysis = pt_analysis_new(&names, inputs, props->count, &options);
    read_events(analysis, run->trace, &names);
    pt_analysis_finish(analysis, NULL);
    struct pt_result result = {.trace = "t"};
    result.findings = pt_analysis_findings(analysis, &result.count);
    for (uint32_t i = 0; i < result.count; i++)
        result.findings[i]->peak_bytes = 0;
    pt_report_json(&result, &run->json);
    pt_analysis_free(analysis);
    for (uint32_t i = 0; i < props->count; i++)
        pt_monitor_free(inputs[i].monitor);
    pt_properties_free(props);
    pt_names_release(&names);
    return NULL;
}

/* What one alone finds, and that all of so many find the same. */
static void compare(const struct run *what, uint32_t size)
{
    struct run alone = *what, runs[MOST];
    struct meeting meeting = {.size = size};
    pthread_t threads[MOST];
    alone.alone = true;
    analyse(&alone);
    pthread_barrier_init(&meeting.barrier, NULL, size);
    for (uint32_t r = 0; r < size; r++) {
        runs[r] = *what;
        runs[r].member = (struct member){&meeting, r};
        assert_int_equal(pthread_create(&threads[r], NULL, analyse, &runs[r]), 0);
    }
    for (uint32_t r = 0; r < size; r++)
        pthread_join(threads[r], NULL);
    for (uint32_t r = 0; r < size; r++) {
        assert_string_equal(runs[r].json.text, alone.json.text);
        pt_buf_release(&runs[r].json);
    }
    pt_buf_release(&alone.json);
    pthread_barrier_destroy(&meeting.barrier);
}

static void test_random(void **unused)
{
    (void)unused;
    enum { CASES = 200 };
    for (uint64_t number = 0; number < CASES; number++) {
        uint64_t state = number * 2654435761u + 1;
        struct pt_buf trace, props;
        pt_buf_init(&trace);
        pt_buf_init(&props);
        random_trace(&state, number % 6 == 5, &trace);
        random_props(&state, &props);
        const struct run what = {.trace = trace.text,
                                 .props = props.text,
                                 .exhaustive = number % 2,
                                 .jobs = 1 + (uint32_t)(number / 2) % 3,
                                 .memory_limit = number % 3 ? 0 : 1 << 30};
        print_message(number % 50 ? "" : "case %u\n", (unsigned)number);
        compare(&what, 2 + (uint32_t)number % 4);
        pt_buf_release(&trace);
        pt_buf_release(&props);
    }
}

/* Levels are made again for a witness where not all are remembered: little memory, a violation far from the start. */
static void test_long(void **unused)
{
    (void)unused;
    struct pt_buf trace;
    pt_buf_init(&trace);
    for (uint32_t i = 1; i <= 72; i++)
        pt_buf_printf(&trace, "T%u|w(x%u)=%u|a.c:%u\n", i % 3, i % 3, i, i);
    const struct run what = {.trace = trace.text,
                             .props = "property a: always !(x0 > 60 && x1 == 40 && x2 < 30);\n",
                             .memory_limit = 400 << 10,
                             .jobs = 1};
    compare(&what, 2);
    compare(&what, 4);
    pt_buf_release(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_long)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
