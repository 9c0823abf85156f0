/*
 * Bounded windows of threads that run one at a time, thousands of events each, as under a scheduler with fewer
 * processors than threads: levels are made of words then, too (engine/ranks.h), and what nobody can need is forgotten.
 * The cuts that are kept are those of the contract's definition, by a reference for threads that never wait for each
 * other, whose cuts are all counts.
 */
#include <stdio.h>

#include "engine/analysis_impl.h"
#include "engine/lattice_impl.h"
#include "logic/lang/property.h"
#include "trace_util.h"

enum { THREADS = 4, EVENTS = 34000, FROM = 19000, LOOKAHEAD = 24 };

/* ---- the reference ---- */

struct counts {
    uint32_t of[THREADS];
};

struct run {
    uint8_t thread[EVENTS + 1];           /* of each event, from 1 */
    uint32_t number[THREADS][EVENTS + 1]; /* of each thread's events, from 1 */
    uint32_t each[THREADS];
};

static void add(struct run *run, uint32_t at, uint32_t thread)
{
    run->thread[at] = (uint8_t)thread;
    run->number[thread][++run->each[thread]] = at;
}

/* Bursts of up to 9,000 events: after so many levels the order of events is not known any more. The first two are
 * of one thread each, so that there are three for the first time when the last event of the first is that old. */
static struct run *make(uint64_t seed)
{
    struct run *run = pt_xcalloc(1, sizeof *run);
    uint32_t at = 0;
    for (uint32_t t = 0; at < FROM; t++)
        for (uint32_t i = 0; i < FROM / 2; i++)
            add(run, ++at, t);
    for (uint32_t t = 2; at < EVENTS; t = below(&seed, THREADS)) {
        uint32_t length = below(&seed, 3) ? 4500 + below(&seed, 4500) : 1 + below(&seed, 40);
        while (length-- && at < EVENTS)
            add(run, ++at, t);
    }
    return run;
}

/* The largest number in which they differ belongs to the larger one. */
static int compare(const struct run *run, const struct counts *a, const struct counts *b)
{
    uint32_t greatest = 0;
    int result = 0;
    for (uint32_t t = 0; t < THREADS; t++) {
        uint32_t x = a->of[t], y = b->of[t], number = x == y ? 0 : run->number[t][x > y ? x : y];
        if (number > greatest) {
            greatest = number;
            result = x > y ? 1 : -1;
        }
    }
    return result;
}

/* Puts a cut where it belongs, if it is among the least and not there yet. */
static uint32_t insert(const struct run *run, struct counts *level, uint32_t count, uint32_t window,
                       const struct counts *cut)
{
    uint32_t at = count;
    while (at && compare(run, cut, &level[at - 1]) < 0)
        at--;
    if (at == window || (at && compare(run, cut, &level[at - 1]) == 0))
        return count;
    count += count < window;
    memmove(&level[at + 1], &level[at], (count - 1 - at) * sizeof *level);
    level[at] = *cut;
    return count;
}

/* The cuts that come after those of a level: of Q, the first events that are not in all of them. */
static uint32_t next_level(const struct run *run, const struct counts *from, uint32_t count, uint32_t window,
                           struct counts *to)
{
    uint32_t common[THREADS], end = 0, made = 0;
    for (uint32_t t = 0; t < THREADS; t++) {
        common[t] = from[0].of[t];
        for (uint32_t i = 1; i < count; i++)
            common[t] = from[i].of[t] < common[t] ? from[i].of[t] : common[t];
        end += common[t];
    }
    end += LOOKAHEAD; /* all that is in every cut is before the others of Q, or among them */
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t t = 0; t < THREADS; t++) {
            struct counts next = from[i];
            if (++next.of[t] <= run->each[t] && run->number[t][next.of[t]] <= end)
                made = insert(run, to, made, window, &next);
        }
    return made;
}

static uint32_t level_at(const struct run *run, uint32_t number, uint32_t window, struct counts *ret_level)
{
    struct counts next[64];
    uint32_t count = 1;
    ret_level[0] = (struct counts){{0}};
    for (uint32_t k = 0; k < number; k++) {
        count = next_level(run, ret_level, count, window, next);
        memcpy(ret_level, next, count * sizeof *next);
    }
    return count;
}

/* ---- the analysis ---- */

struct checked {
    struct pt_names names;
    struct pt_properties *props;
    struct pt_monitor *monitor;
    struct pt_analysis *analysis;
    const struct pt_finding *finding;
};

static void start(struct checked *k, const char *text, const struct pt_analysis_options *options)
{
    struct pt_err err;
    pt_names_init(&k->names);
    k->props = pt_properties_new();
    if (pt_properties_add(k->props, "t.prop", text, strlen(text), NULL, NULL, &err) != PT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(pt_monitor_new(&k->props->items[0], 1000, &k->monitor, &err), PT_OK);
    struct pt_analysis_input input = {.property = &k->props->items[0], .monitor = k->monitor};
    k->analysis = pt_analysis_new(&k->names, &input, 1, options);
}

/* One more write of its own variable by a thread. */
static void feed(struct checked *k, uint32_t thread, uint32_t value)
{
    char name[16];
    struct pt_err err;
    struct pt_event e = {.line = 1, .op = PT_OP_WRITE, .value = pt_value_int(value)};
    size_t len = (size_t)snprintf(name, sizeof name, "v%u", thread);
    e.thread = pt_strtab_intern(&k->names.space[PT_SPACE_THREAD], name, len);
    e.object = pt_strtab_intern(&k->names.space[PT_SPACE_VAR], name, len);
    e.loc = pt_strtab_intern(&k->names.space[PT_SPACE_LOC], "-", 1);
    assert_int_equal(pt_analysis_event(k->analysis, &e, &err), PT_OK);
}

static void finish(struct checked *k)
{
    struct pt_err err;
    uint32_t count;
    assert_int_equal(pt_analysis_flush(k->analysis, &err), PT_OK);
    pt_analysis_finish(k->analysis, NULL);
    k->finding = pt_analysis_findings(k->analysis, &count)[0];
}

static void release(struct checked *k)
{
    pt_analysis_free(k->analysis);
    pt_monitor_free(k->monitor);
    pt_properties_free(k->props);
    pt_names_release(&k->names);
}

static struct pt_analysis_options bounded(uint32_t window, unsigned jobs)
{
    return (struct pt_analysis_options){.window = window,
                                        .lookahead = LOOKAHEAD,
                                        .jobs = jobs,
                                        .cuts_for_each = 1,
                                        .cores = 2,
                                        .trace = "t",
                                        .batches = true};
}

/* How often the lattice was asked, how often its level was one of words, and how many witnesses there were. */
static struct {
    uint32_t levels, words, witnesses;
} seen;

/* A property that this cut alone violates; `joint`: by atoms over several variables. */
static void explore(struct checked *k, const struct run *run, const struct counts *cut, bool joint,
                    const struct pt_analysis_options *options)
{
    char text[256];
    uint32_t counts[THREADS] = {0};
    const uint32_t *c = cut->of;
    snprintf(text, sizeof text,
             joint ? "property p: !(v0 == %u && v1 - v0 == %d && v2 == %u && v3 - v2 == %d);"
                   : "property p: !(v0 == %u && v1 == %d && v2 == %u && v3 == %d);",
             c[0], (int)(joint ? c[1] - c[0] : c[1]), c[2], (int)(joint ? c[3] - c[2] : c[3]));
    start(k, text, options);
    for (uint32_t at = 1; at <= EVENTS; at++) {
        struct pt_err err;
        feed(k, run->thread[at], ++counts[run->thread[at]]);
        if (at <= FROM + 1000 || at % 100)
            continue;
        assert_int_equal(pt_analysis_flush(k->analysis, &err), PT_OK); /* others may have the lattice */
        if (!k->analysis->watched[0].lattice->stopped) {
            seen.levels++;
            seen.words += k->analysis->watched[0].lattice->ranked;
        }
    }
    finish(k);
}

/* Every step of the witness is its thread's next; they end at the cut. It is lost where the cut lacks an event from
 * before what is remembered. */
static void check_witness(const struct pt_finding *f, const struct counts *cut)
{
    struct counts at = {{0}};
    seen.witnesses += !f->witness_lost;
    for (uint32_t i = 0; i < f->witness_count; i++) {
        uint32_t t = (uint32_t)(f->witness[i].thread[1] - '0');
        if (at.of[t])
            assert_int_equal(f->witness[i].value.i, at.of[t] + 1);
        at.of[t] = (uint32_t)f->witness[i].value.i;
    }
    for (uint32_t t = 0; t < THREADS; t++)
        assert_true(!at.of[t] || at.of[t] == cut->of[t]);
}

static void check(const struct run *run, uint32_t number, const struct counts *cut, bool kept, uint32_t window,
                  unsigned jobs)
{
    struct checked k;
    struct pt_analysis_options options = bounded(window, jobs);
    explore(&k, run, cut, (number + jobs) % 2, &options);
    assert_int_equal(k.finding->verdict, kept ? PT_VERDICT_VIOLATED : PT_VERDICT_HOLDS);
    if (kept) {
        assert_int_equal(k.finding->levels, number + 1);
        check_witness(k.finding, cut);
    }
    release(&k);
}

static void test_the_cuts_of_the_window(void **state)
{
    (void)state;
    static const uint32_t windows[] = {3, 8, 30};
    uint32_t others = 0;
    for (uint64_t n = 0; n < 12; n++) {
        uint64_t seed = 31 * n + 7;
        struct run *run = make(seed);
        struct counts level[64];
        uint32_t window = windows[n % 3], number = FROM + 1000 + below(&seed, EVENTS - FROM - 1000);
        uint32_t count = level_at(run, number, window, level), from = below(&seed, THREADS);
        check(run, number, &level[below(&seed, count)], true, window, 1 + n % 2);
        struct counts cut = level[count - 1]; /* of the same size, and greater than all that are kept */
        for (uint32_t to = 0; to < THREADS && cut.of[from]; to++) {
            struct counts other = cut;
            other.of[from]--;
            if (to == from || ++other.of[to] > run->each[to] || compare(run, &other, &cut) <= 0)
                continue;
            check(run, number, &other, false, window, 1 + n % 2);
            others++;
        }
        free(run);
    }
    assert_true(others > 6 && seen.witnesses > 3);
    assert_true(seen.levels > 500 && seen.words > seen.levels - seen.levels / 20);
}

/* What comes after a silent thread's last event, which may be the next one for ever, is forgotten as it goes. */
static void test_a_silent_thread(void **state)
{
    (void)state;
    for (unsigned jobs = 1; jobs <= 2; jobs++) {
        uint64_t peak[2];
        for (uint32_t i = 0; i < 2; i++) {
            struct checked k;
            struct pt_analysis_options options = bounded(8, jobs);
            options.stretch = PT_NO_STRETCHES; /* how much of the trace they have depends on their pace */
            start(&k, "property p: v0 < 9 && v1 >= 0 && v2 >= 0 && v3 >= 0;", &options);
            feed(&k, 0, 1);
            for (uint32_t at = 0; at < (i ? 120000 : 30000); at++)
                feed(&k, 1 + at % 3, at);
            finish(&k);
            assert_int_equal(k.finding->verdict, PT_VERDICT_HOLDS);
            peak[i] = k.finding->peak_bytes;
            release(&k);
        }
        assert_true(peak[1] < peak[0] + peak[0] / 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_cuts_of_the_window),
        cmocka_unit_test(test_a_silent_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
