/* Packed events are read back as they were; the replay of predictions agrees with the judge of possible runs
 * (order/possible.h) on every run of two parts that small traces have, and that of many runs at once with that of one,
 * on every run of one part that random traces have. */
#include "trace_util.h"

#include <stdio.h>

#include "order/possible.h"
#include "predict/replay.h"
#include "predict/replays.h"

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

/* ---- many runs at once ---- */

enum { LOCKS = 2, TRACES = 400 };

static uint64_t seed = 1;

static uint32_t pick(uint32_t n)
{
    return below(&seed, n);
}

/* What random events keep to: locks that are free are taken, by those who have them given back. */
struct world {
    uint32_t depth[THREADS][LOCKS];
    bool shared[THREADS][LOCKS];
    bool forked, joined;
};

static bool is_free(const struct world *w, uint32_t thread, uint32_t lock, bool shared)
{
    for (uint32_t t = 0; t < THREADS; t++)
        if (t != thread && w->depth[t][lock] && !(shared && w->shared[t][lock]))
            return false;
    return true;
}

static bool make_lock(struct world *w, struct pt_event *event)
{
    uint32_t *depth = &w->depth[event->thread][event->object = pick(LOCKS)];
    bool *shared = &w->shared[event->thread][event->object];
    if (*depth && pick(2)) {
        --*depth;
        event->op = *shared ? PT_OP_RREL : PT_OP_REL;
        return true;
    }
    bool shares = *depth ? *shared : pick(3) == 0;
    if (!is_free(w, event->thread, event->object, shares))
        return false;
    ++*depth;
    *shared = shares;
    event->op = shares ? PT_OP_RACQ : PT_OP_ACQ;
    return true;
}

/* The last thread is forked by the first, and joined. */
static bool make_thread(struct world *w, struct pt_event *event)
{
    if (event->thread || w->joined)
        return false;
    event->op = w->forked ? PT_OP_JOIN : PT_OP_FORK;
    event->object = THREADS - 1;
    w->joined = w->forked;
    w->forked = true;
    return true;
}

static bool make_random(struct world *w, struct pt_event *event)
{
    static const uint8_t accesses[] = {PT_OP_READ, PT_OP_WRITE, PT_OP_UPDATE};
    *event = (struct pt_event){.thread = pick(THREADS), .object = pick(2)};
    if (event->thread == THREADS - 1 && (!w->forked || w->joined))
        return false;
    switch (pick(8)) {
    case 0:
    case 1:
    case 2:
        return make_lock(w, event);
    case 3:
        return make_thread(w, event);
    case 4:
        event->op = pick(2) ? PT_OP_NOTIFY : PT_OP_SYNC;
        return true;
    case 5:
        event->op = pick(2) ? PT_OP_ALLOC : PT_OP_FREE;
        return true;
    default:
        event->op = accesses[pick(3)];
        event->to = pick(3) ? 0 : 4;
        return true;
    }
}

static void make_trace(struct pt_log *log, uint64_t *counts)
{
    struct world w = {0};
    struct pt_event event;
    *log = (struct pt_log){0};
    while (log->count < 18)
        if (make_random(&w, &event)) {
            counts[event.thread]++;
            pt_log_add(log, &event, log->count + 1);
        }
}

/* Returns whether the run is possible; both say the same of it. */
static bool compare_one(const struct pt_log *log, const struct pt_replays *replays, uint32_t run, const uint64_t *upto)
{
    struct pt_replay replay;
    const struct pt_replay_run whole = {upto, upto, THREADS};
    bool possible = pt_replay_play(&replay, log, &whole);
    assert_int_equal(pt_replays_possible(replays, run), possible);
    for (uint32_t t = 0; t < THREADS && possible; t++) {
        const struct pt_log_event *one = pt_replay_next(&replay, t), *other = pt_replays_next(replays, run, t);
        assert_int_equal(one ? one->event : 0, other ? other->event : 0);
        for (uint32_t k = 0; k < 2 * LOCKS; k++)
            assert_int_equal(pt_replay_has(&replay, t, k / 2, k % 2), pt_replays_has(replays, run, t, k / 2, k % 2));
    }
    pt_replay_end(&replay);
    return possible;
}

static void compare_some(const struct pt_log *log, uint64_t (*upto)[THREADS], uint32_t count, uint64_t *possible)
{
    static const uint32_t asked[THREADS] = {0, 1, 2};
    struct pt_replays_run runs[PT_REPLAYS];
    struct pt_replays replays;
    for (uint32_t i = 0; i < count; i++)
        runs[i] = (struct pt_replays_run){upto[i], asked, THREADS};
    pt_replays_play(&replays, log, runs, count, THREADS);
    for (uint32_t i = 0; i < count; i++)
        *possible += compare_one(log, &replays, i, upto[i]);
    pt_replays_end(&replays);
}

static void test_replays(void **state)
{
    (void)state;
    uint64_t possible = 0, all = 0;
    for (int i = 0; i < TRACES; i++) {
        struct pt_log log;
        uint64_t counts[THREADS] = {0}, runs[PT_REPLAYS][THREADS], n = 0;
        uint32_t count = 0;
        make_trace(&log, counts);
        uint64_t cuts = (counts[0] + 1) * (counts[1] + 1) * (counts[2] + 1);
        for (; n < cuts; n++) {
            runs[count][0] = n % (counts[0] + 1);
            runs[count][1] = n / (counts[0] + 1) % (counts[1] + 1);
            runs[count][2] = n / (counts[0] + 1) / (counts[1] + 1);
            if (++count == PT_REPLAYS || n + 1 == cuts) {
                compare_some(&log, runs, count, &possible);
                count = 0;
            }
        }
        all += cuts;
        pt_log_release(&log);
    }
    assert_true(possible > all / 4 && possible < all * 3 / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_log), cmocka_unit_test(test_replay),
                                       cmocka_unit_test(test_replays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
