/* Packed events are read back as they were; and the replay of predictions agrees with the judge of possible runs
 * (order/possible.h) on every run of two parts that small traces have. */
#include "trace_util.h"

#include <stdio.h>

#include "order/possible.h"
#include "predict/replay.h"

enum { MOST = 32, THREADS = 3, MANY = 40000 };

static struct pt_event make_event(uint32_t i)
{
    uint32_t large = i % 7 ? i % 5 : UINT32_MAX - 1;
    return (struct pt_event){.op = i % 3 ? PT_OP_WRITE : PT_OP_READ,
                             .order = i % 4 ? PT_MEMORY_NONE : PT_MEMORY_RELAXED,
                             .from = i % 6 ? 0 : 4,
                             .to = i % 6 ? 0 : PT_EVENT_BYTES,
                             .thread = i % 11 ? 1 : large,
                             .object = large,
                             .loc = i * 3,
                             .stack = i % 2 ? 0 : large};
}

static uint64_t number_of(uint32_t i)
{
    return i + 1 + (i > 100 ? UINT64_C(1) << 40 : 0);
}

static void test_log(void **state)
{
    (void)state;
    struct pt_log log = {0};
    struct pt_log_reader reader;
    for (uint32_t i = 0; i < MANY; i++) {
        struct pt_event event = make_event(i);
        pt_log_add(&log, &event, number_of(i));
    }
    assert_int_equal(log.count, MANY);
    pt_log_start(&reader, &log);
    for (uint32_t i = 0; i < MANY; i++) {
        struct pt_event want = make_event(i);
        assert_true(pt_log_next(&reader));
        struct pt_event got = pt_log_as_event(&reader.event);
        assert_int_equal(reader.event.event, number_of(i));
        assert_int_equal(got.op, want.op);
        assert_int_equal(got.thread, want.thread);
        assert_int_equal(got.object, want.object);
        assert_int_equal(got.loc, want.loc);
        assert_int_equal(got.stack, want.stack);
        assert_int_equal(got.from, want.from);
        assert_int_equal(got.to, want.to);
        assert_int_equal(got.order != PT_MEMORY_NONE, want.order != PT_MEMORY_NONE);
    }
    assert_false(pt_log_next(&reader));
    pt_log_release(&log);
}

struct recorded {
    struct pt_recorded events[MOST];
    struct pt_recording recording;
    struct pt_log log;
    uint64_t counts[THREADS];
};

static void take_trace(struct recorded *r, const char *text)
{
    struct pt_names names;
    struct pt_event event;
    struct pt_err err;
    *r = (struct recorded){0};
    pt_names_init(&names);
    struct pt_source *source = pt_source_from_memory("test.trace", text, strlen(text), &names);
    while (pt_source_next(source, &event, &err) == PT_READ_EVENT) {
        r->counts[event.thread]++;
        r->events[r->recording.count++] = pt_recorded(&event);
        pt_log_add(&r->log, &event, r->recording.count);
    }
    pt_source_free(source);
    pt_names_release(&names);
    r->recording.events = r->events;
}

/* Adds the events of one part to a run. */
static uint64_t add_part(const struct recorded *r, const uint64_t *from, const uint64_t *upto, uint64_t *run,
                         uint64_t count)
{
    uint64_t seen[THREADS] = {0};
    for (uint64_t i = 0; i < r->recording.count; i++) {
        uint64_t number = ++seen[r->events[i].thread];
        if (number > from[r->events[i].thread] && number <= upto[r->events[i].thread])
            run[count++] = i;
    }
    return count;
}

/* Returns whether the run is possible, by both. */
static bool compare(const struct recorded *r, const uint64_t *first, const uint64_t *upto)
{
    uint64_t run[MOST], none[THREADS] = {0};
    uint64_t count = add_part(r, first, upto, run, add_part(r, none, first, run, 0));
    bool possible = pt_possible_play(&r->recording, PT_POSSIBLE_VALUES, run, count, NULL) == count;
    struct pt_replay replay;
    const struct pt_replay_run parts = {first, upto, THREADS};
    assert_int_equal(pt_replay_play(&replay, &r->log, &parts), possible);
    pt_replay_end(&replay);
    return possible;
}

/* Every two parts. */
static void compare_all(const char *text, uint64_t *possible, uint64_t *impossible)
{
    struct recorded r;
    uint64_t first[THREADS], upto[THREADS];
    take_trace(&r, text);
    for (upto[0] = 0; upto[0] <= r.counts[0]; upto[0]++)
        for (upto[1] = 0; upto[1] <= r.counts[1]; upto[1]++)
            for (upto[2] = 0; upto[2] <= r.counts[2]; upto[2]++)
                for (first[0] = 0; first[0] <= upto[0]; first[0]++)
                    for (first[1] = 0; first[1] <= upto[1]; first[1]++)
                        for (first[2] = 0; first[2] <= upto[2]; first[2]++)
                            ++*(compare(&r, first, upto) ? possible : impossible);
    pt_log_release(&r.log);
}

static void test_replay(void **state)
{
    (void)state;
    static const char *const traces[] = {
        "A|acq(l)|-\nA|acq(m)|-\nA|w(q)|-\nA|rel(m)|-\nA|r(z)|-\nA|rel(l)|-\nB|acq(m)|-\nB|w(q)|-\nB|acq(l)|-\nB|rel(l)"
        "|-\n"
        "B|rel(m)|-\nB|w(z)|-\n",
        "A|w(x)|-\nA|fork(B)|-\nB|r(x)|-\nB|u(x)|-\nA|w(y)|-\nC|r(y)|-\nA|join(B)|-\nA|r(x)|-\nC|w(y)|-\n",
        "A|racq(l)|-\nB|racq(l)|-\nA|w(x)|-\nA|rrel(l)|-\nB|rrel(l)|-\nC|acq(l)|-\nC|r(x)|-\nC|rel(l)|-\n",
        "A|acq(l)|-\nA|acq(l)|-\nA|notify(c)|-\nA|rel(l)|-\nA|rel(l)|-\nB|acq(l)|-\nB|wait(c)|-\nB|rel(l)|-\nC|sync(c)|"
        "-\n",
    };
    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++) {
        uint64_t possible = 0, impossible = 0;
        compare_all(traces[i], &possible, &impossible);
        assert_true(possible > 10 && impossible > 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_log), cmocka_unit_test(test_replay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
