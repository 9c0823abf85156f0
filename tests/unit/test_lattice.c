/*
 * The exploration, through pt_analysis: against the literal window of window_reference.h, against closed forms where
 * the lattice is too large for that, and what it does at limits and with errors.
 */
#include "computation.h"
#include "engine/analysis.h"
#include "findings_util.h"
#include "logic/lang/property.h"
#include "window_reference.h"

/* ---- the analysis under test ---- */

struct checked {
    struct pt_properties *props;
    struct pt_monitor *monitors[4];
    struct pt_analysis *analysis;
    struct pt_finding **findings;
    uint32_t count;
};

/* Most explorations begin with counts a few events or a few dozen before 2^32, or far beyond it: the findings are those
 * of counts that begin with 1. Two of three are shared by several workers, however small their levels are. */
static struct pt_analysis_options options(uint64_t window, uint64_t lookahead)
{
    static const uint64_t before[] = {(UINT64_C(1) << 32) - 5, 0, (UINT64_C(1) << 32) - 40, UINT64_C(3) << 40};
    static const unsigned jobs[] = {1, 2, 7};
    static unsigned calls;
    calls++;
    return (struct pt_analysis_options){.window = window,
                                        .lookahead = lookahead,
                                        .exhaustive = true,
                                        .jobs = jobs[calls % 3],
                                        .cuts_for_each = 1,
                                        .trace = "t",
                                        .counted_before = before[calls % 4]};
}

/* So many of the events that are here, as clocks count them. */
static uint64_t counted(const struct pt_analysis_options *opts, uint64_t events)
{
    return events ? opts->counted_before + events : 0;
}

static void checked_start(struct checked *k, struct pt_names *names, const char *text,
                          const struct pt_analysis_options *opts)
{
    struct pt_err err;
    struct pt_analysis_input inputs[4] = {0};
    k->props = pt_properties_new();
    if (pt_properties_add(k->props, "t.prop", text, strlen(text), NULL, NULL, &err) != PT_OK)
        fail_msg("%s", err.message);
    assert_true(k->props->count <= 4);
    for (uint32_t i = 0; i < k->props->count; i++) {
        assert_int_equal(pt_monitor_new(&k->props->items[i], 1000, &k->monitors[i], &err), PT_OK);
        inputs[i] = (struct pt_analysis_input){.property = &k->props->items[i], .monitor = k->monitors[i]};
    }
    k->analysis = pt_analysis_new(names, inputs, k->props->count, opts);
}

static void checked_finish(struct checked *k)
{
    pt_analysis_finish(k->analysis, NULL);
    k->findings = pt_analysis_findings(k->analysis, &k->count);
}

static void checked_release(struct checked *k)
{
    pt_analysis_free(k->analysis);
    for (uint32_t i = 0; i < k->count; i++)
        pt_monitor_free(k->monitors[i]);
    pt_properties_free(k->props);
}

static void run_checked(struct checked *k, struct computation *c, const char *text,
                        const struct pt_analysis_options *opts)
{
    struct pt_err err;
    checked_start(k, &c->names, text, opts);
    for (uint32_t e = 0; e < c->count; e++)
        if (pt_analysis_event(k->analysis, &c->events[e], &err) != PT_OK)
            fail_msg("%s", err.message);
    checked_finish(k);
}

/* ---- comparing ---- */

/* The witness is legal by the relation, bad in its last state, and in no earlier one. */
static void check_witness(const struct relevant *r, const struct pt_finding *f, uint32_t bad_level)
{
    struct bits cut = {{0}};
    bool bad = false;
    unsigned memory = step(r, &cut, PT_NONE, 1, &bad);
    assert_int_equal(f->witness_from + f->witness_count, bad_level);
    for (uint32_t k = 0; k < f->witness_from; k++) {
        bits_add(&cut, k);
        memory = step(r, &cut, k, memory, &bad);
    }
    if (f->witness_from) {
        int64_t x[3];
        values_in(r, &cut, x);
        assert_int_equal(f->from_count, 3);
        for (uint32_t v = 0; v < 3; v++)
            assert_int_equal(f->from_values[v].value.i, x[f->from_values[v].name[1] - '0']);
    }
    for (uint32_t i = 0; i < f->witness_count; i++) {
        const struct pt_step *s = &f->witness[i];
        assert_false(bad);
        assert_in_range(s->number, 1, r->count);
        uint32_t k = (uint32_t)s->number - 1;
        const struct pt_event *e = &r->c->events[r->event[k]];
        assert_false(bits_has(&cut, k));
        assert_true(bits_within(&r->before[k], &cut));
        assert_string_equal(s->thread, pt_name(&r->c->names, PT_SPACE_THREAD, e->thread));
        assert_string_equal(s->object, pt_name(&r->c->names, pt_op_space(e->op), e->object));
        assert_string_equal(s->op, pt_op_word(e->op));
        assert_int_equal(s->line, e->line);
        assert_true(pt_value_same(s->value, e->value));
        bits_add(&cut, k);
        memory = step(r, &cut, k, memory, &bad);
        if (i)
            assert_true(f->observed[i - 1].number < f->observed[i].number);
    }
    assert_true(bad);
}

/* How many of the comparisons had which outcome: random tests that see one kind only would prove little. */
static struct {
    uint32_t holds, predicted, observed, incomplete, complete, drawn;
} seen;

/* Clocks count what the relation says comes before; the cuts that are drawn as kept are those that were explored. */
static void check_detail(const struct relevant *r, const struct pt_finding *f, const struct pt_analysis_options *opts)
{
    const struct pt_view *view = f->view;
    for (uint32_t i = 0; i < f->actual_count; i++) {
        uint32_t k = (uint32_t)f->actual[i].number - 1, counts[COMP_MAX] = {0};
        for (uint32_t other = 0; other < r->count; other++) {
            const char *thread = pt_name(&r->c->names, PT_SPACE_THREAD, r->c->events[r->event[other]].thread);
            for (uint32_t t = 0; t < f->thread_count && (other == k || bits_has(&r->before[k], other)); t++)
                counts[t] += strcmp(f->threads[t], thread) == 0;
        }
        for (uint32_t t = 0; t < f->thread_count; t++)
            assert_int_equal(f->actual[i].clock[t], counted(opts, counts[t]));
    }
    if (!view)
        return;
    uint64_t kept = 0;
    for (uint32_t i = 0; i < view->cut_count; i++)
        kept += view->kept[i] && view->levels[i] < f->levels;
    assert_int_equal(kept, f->states);
    seen.drawn += f->states > 10;
    for (uint32_t i = 0; i < view->observed_count; i++)
        assert_true(view->kept[view->observed[i]] && view->levels[view->observed[i]] == i);
    assert_int_equal(view->violating_count, f->witness_count + 1);
    for (uint32_t i = 0; i < view->violating_count; i++)
        assert_true(view->kept[view->violating[i]] && view->levels[view->violating[i]] == f->witness_from + i);
}

static void check_finding(const struct relevant *r, const struct explored *x, const struct pt_finding *f)
{
    assert_int_equal(f->relevant, r->count);
    assert_int_equal(f->levels, x->levels);
    assert_int_equal(f->states, x->states);
    assert_int_equal(f->width, x->width);
    assert_int_equal(f->runs, x->runs);
    assert_int_equal(f->runs_overflow, x->runs == UINT64_MAX);
    assert_int_equal(f->complete, x->complete);
    if (x->bad_level == PT_NONE) {
        assert_int_equal(f->verdict, PT_VERDICT_HOLDS);
        assert_int_equal(f->how, PT_HOW_NONE);
        return;
    }
    assert_int_equal(f->verdict, PT_VERDICT_VIOLATED);
    assert_int_equal(f->how, x->observed_bad ? PT_HOW_OBSERVED : PT_HOW_PREDICTED);
    check_witness(r, f, x->bad_level);
}

static void take_note(const struct explored *x)
{
    seen.holds += x->bad_level == PT_NONE;
    seen.observed += x->bad_level != PT_NONE && x->observed_bad;
    seen.predicted += x->bad_level != PT_NONE && !x->observed_bad;
    seen.complete += x->complete;
    seen.incomplete += !x->complete;
}

/* False when the lattice is too large for the reference. */
static bool compare(struct computation *c, uint64_t window, uint64_t lookahead)
{
    struct relevant *r = relevant_of(c);
    struct explored x = explore(r, window, lookahead);
    if (!x.too_large) {
        struct checked k;
        struct pt_analysis_options opts = options(window, lookahead);
        run_checked(&k, c, asked, &opts);
        check_finding(r, &x, k.findings[0]);
        checked_release(&k);
        opts.exhaustive = false; /* the figures are those of the moment in which the violation was found */
        run_checked(&k, c, asked, &opts);
        check_detail(r, k.findings[0], &opts);
        checked_release(&k);
        take_note(&x);
    }
    free(r);
    return !x.too_large;
}

static const uint64_t windows[][2] = {{1, 1},       {1, PT_ALL}, {PT_ALL, 1}, {2, 3},        {3, 2},
                                      {5, 8},       {16, 4},     {4, 16},     {7, PT_ALL},   {PT_ALL, 5},
                                      {PT_ALL, 12}, {32, 64},    {64, 256},   {1000, PT_ALL}};
enum { WINDOWS = sizeof windows / sizeof windows[0] };

static void test_small_random(void **state)
{
    (void)state;
    uint32_t whole = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint64_t s = seed;
        struct computation c;
        comp_init(&c);
        comp_random(&c, &s, 2 + below(&s, 5), 10 + below(&s, 50), 1 + below(&s, 3));
        whole += compare(&c, PT_ALL, PT_ALL);
        for (uint32_t i = 0; i < WINDOWS; i++)
            compare(&c, windows[i][0], windows[i][1]);
        comp_release(&c);
    }
    assert_true(whole > 30);
    assert_true(seen.holds > 50 && seen.predicted > 20 && seen.observed > 50);
    assert_true(seen.complete > 50 && seen.incomplete > 50 && seen.drawn > 50);
}

/* Two threads, of which now and then one runs ahead; for a long time nothing changes for the monitor, and more runs
 * come to a cut than can be counted; then letters change in the middle of levels, or at their ends. */
static void make_two(struct computation *c, uint64_t *seed, uint32_t count)
{
    uint32_t ahead = 0, t = 0, calm = below(seed, count);
    int64_t value[2] = {0, 0};
    comp_add(c, 0, PT_OP_WRITE, 2, 5);
    while (c->count < count) {
        if (!ahead--) {
            ahead = below(seed, 4) ? 0 : below(seed, 40);
            t = below(seed, 2);
        }
        bool late = c->count > calm;
        if (below(seed, 12) == 0)
            value[t] = t ? below(seed, late ? 8 : 6) : below(seed, late ? 5 : 4);
        if (t && late && below(seed, 40) == 0)
            comp_add(c, t, PT_OP_READ, 0, 0);
        comp_add(c, t, PT_OP_WRITE, t == 0 && late && below(seed, 30) == 0 ? 2 : t, value[t]);
    }
}

static void test_two_threads(void **state)
{
    (void)state;
    static const uint64_t sizes[][2] = {{2, 6}, {3, 40}, {8, 24}, {12, 256}, {64, 256}};
    uint64_t held = seen.holds, found = seen.predicted + seen.observed;
    asked = EVENTLESS;
    for (uint64_t seed = 1; seed <= 80; seed++) {
        uint64_t s = 31 * seed;
        struct computation c;
        comp_init(&c);
        make_two(&c, &s, 100 + below(&s, 200));
        compare(&c, sizes[seed % 5][0], sizes[seed % 5][1]);
        comp_release(&c);
    }
    asked = PROPERTY;
    held = seen.holds - held;
    found = seen.predicted + seen.observed - found;
    assert_true(held > 10 && found > 10);
}

/* Hundreds of relevant events, and so many threads that a cut needs several words. */
static void test_many_threads(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        uint64_t s = seed * 77;
        struct computation c;
        comp_init(&c);
        comp_random(&c, &s, seed % 2 ? 70 : 12, 450, seed < 3 ? 1 : 2);
        for (uint32_t i = 0; i < WINDOWS; i++)
            if (windows[i][0] <= 64)
                compare(&c, windows[i][0], windows[i][1]);
        comp_release(&c);
    }
}

/* 68 threads in rounds of four that run side by side, ordered with the next round: the whole lattice is small. */
static void test_whole_lattice_of_many_threads(void **state)
{
    (void)state;
    struct computation c;
    uint64_t s = 11;
    comp_init(&c);
    for (uint32_t round = 0; round < 17; round++) {
        for (uint32_t t = 0; t < 4; t++)
            comp_add(&c, round * 4 + t, PT_OP_SYNC, 0, 0);
        for (uint32_t i = 0; i < 12; i++)
            comp_add(&c, round * 4 + i % 4, i % 3 ? PT_OP_WRITE : PT_OP_EVENT, i % 3, below(&s, 6));
        for (uint32_t t = 0; t < 4; t++)
            comp_add(&c, round * 4 + t, PT_OP_SYNC, 0, 0);
    }
    assert_true(compare(&c, PT_ALL, PT_ALL));
    assert_true(compare(&c, 20, 9));
    comp_release(&c);
}

/* Threads are forked, do a little and are joined, a few at a time: columns and fields come and go. */
static void test_threads_come_and_go(void **state)
{
    (void)state;
    for (uint32_t alive = 2; alive <= 6; alive += 2) {
        struct computation c;
        uint64_t s = alive;
        comp_init(&c);
        for (uint32_t t = 1; t <= 120; t++) {
            comp_add(&c, 0, PT_OP_FORK, t, 0);
            for (uint32_t k = t > alive ? t - alive + 1 : 1; k <= t; k++)
                comp_add(&c, k, below(&s, 3) ? PT_OP_WRITE : PT_OP_EVENT, below(&s, 2) ? 0 : 1, below(&s, 6));
            if (t >= alive)
                comp_add(&c, 0, PT_OP_JOIN, t - alive + 1, 0);
            if (t % 10 == 0)
                comp_add(&c, 0, PT_OP_WRITE, 2, below(&s, 4));
        }
        for (uint32_t i = 0; i < WINDOWS; i++)
            if (windows[i][0] <= 16)
                compare(&c, windows[i][0], windows[i][1]);
        comp_release(&c);
    }
}

/* The parts of a level wrap around (256 of them): one thread with more events than that. */
static void test_long_thread(void **state)
{
    (void)state;
    struct computation c;
    comp_init(&c);
    for (uint32_t i = 0; i < 700; i++) {
        comp_add(&c, 0, PT_OP_EVENT, 0, 0);
        if (i % 200 == 150)
            comp_add(&c, 1, PT_OP_WRITE, 1, 5 - i / 200);
    }
    comp_add(&c, 2, PT_OP_WRITE, 0, 9);
    assert_true(compare(&c, PT_ALL, PT_ALL));
    assert_true(compare(&c, 3, 300));
    comp_release(&c);
}

/* The clocks of the closed relation, given on lines of relevant events alone, lead to the same finding. */
static void test_given_clocks(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 25; seed++) {
        uint64_t s = seed * 1000;
        struct computation c;
        struct checked k;
        struct pt_err err;
        comp_init(&c);
        comp_random(&c, &s, 2 + below(&s, 4), 50, 2);
        struct relevant *r = relevant_of(&c);
        struct explored x = explore(r, 9, 12);
        uint32_t threads = c.names.space[PT_SPACE_THREAD].count;
        struct pt_clock_entry *entries = pt_xcalloc(threads, sizeof *entries);
        struct pt_analysis_options opts = options(9, 12);
        checked_start(&k, &c.names, PROPERTY, &opts);
        for (uint32_t n = 0; n < r->count; n++) {
            struct pt_event e = c.events[r->event[n]];
            for (uint32_t t = 0; t < threads; t++)
                entries[t] = (struct pt_clock_entry){t, 0};
            for (uint32_t d = 0; d <= n; d++)
                entries[c.events[r->event[d]].thread].count += d == n || bits_has(&r->before[n], d);
            for (uint32_t t = 0; t < threads; t++)
                entries[t].count = counted(&opts, entries[t].count);
            e.clock = entries;
            e.clock_len = threads;
            assert_int_equal(pt_analysis_event(k.analysis, &e, &err), PT_OK);
        }
        checked_finish(&k);
        check_finding(r, &x, k.findings[0]);
        checked_release(&k);
        free(entries);
        free(r);
        comp_release(&c);
    }
}

/* Properties that care for fewer events see their own lattice, whoever else is there. */
static void test_properties_do_not_disturb_each_other(void **state)
{
    (void)state;
    static const char *const texts[] = {"property a: x0 < 5;", "property b: !event(e1) || x3 != 2;",
                                        "property c: x0 > 3 -> once (x1 > x2 && event(e0));"};
    for (uint64_t seed = 1; seed <= 20; seed++) {
        uint64_t s = seed * 31;
        struct computation c;
        struct checked together, alone;
        char all[256];
        uint64_t window = seed % 2 ? 12 : PT_ALL, lookahead = seed % 3 ? 9 : PT_ALL;
        struct pt_analysis_options opts = options(window == PT_ALL ? 200 : window, lookahead);
        comp_init(&c);
        comp_random(&c, &s, 4, 80, 2);
        snprintf(all, sizeof all, "%s%s%s", texts[0], texts[1], texts[2]);
        run_checked(&together, &c, all, &opts);
        for (uint32_t i = 0; i < 3; i++) {
            run_checked(&alone, &c, texts[i], &opts);
            same_findings(together.findings[i], alone.findings[0]);
            checked_release(&alone);
        }
        checked_release(&together);
        comp_release(&c);
    }
}

/* ---- large ones, whose figures are known in closed form ---- */

static void feed_write(struct checked *k, struct pt_names *names, const char *thread, const char *object,
                       uint32_t value)
{
    struct pt_err err;
    struct pt_event e = {.line = 1, .op = PT_OP_WRITE, .value = pt_value_int(value)};
    e.thread = pt_strtab_intern(&names->space[PT_SPACE_THREAD], thread, strlen(thread));
    e.object = pt_strtab_intern(&names->space[PT_SPACE_VAR], object, strlen(object));
    e.loc = pt_strtab_intern(&names->space[PT_SPACE_LOC], "-", 1);
    assert_int_equal(pt_analysis_event(k->analysis, &e, &err), PT_OK);
}

/* `threads` threads that each count their own variable from 1 up to `each`, round robin, unordered. */
static void feed_counters(struct checked *k, struct pt_names *names, uint32_t threads, uint32_t each)
{
    char text[16];
    for (uint32_t i = 0; i < threads * each; i++) {
        snprintf(text, sizeof text, "v%u", i % threads);
        feed_write(k, names, text, text, i / threads + 1);
    }
    checked_finish(k);
}

/*
 * 46^4 cuts: more than the remembered levels hold, so that the witness is made from levels that are explored again.
 * The violation lies near the end and only on runs through one particular cut far before it.
 */
static const char DEEP[] = "property p: !(v0 == 45 && v1 == 44 && v2 >= 44 && v3 >= 44 &&"
                           " once (v0 == 40 && v1 == 7 && v2 == 20 && v3 == 3));";

static void check_deep_witness(const struct pt_finding *f)
{
    int64_t v[4] = {0};
    bool once = false;
    assert_int_equal(f->verdict, PT_VERDICT_VIOLATED);
    assert_int_equal(f->how, PT_HOW_PREDICTED);
    assert_false(f->witness_lost);
    assert_int_equal(f->witness_count, 45 + 44 + 44 + 44);
    for (uint32_t i = 0; i < f->witness_count; i++) {
        int64_t *x = &v[f->witness[i].thread[1] - '0'];
        assert_int_equal(f->witness[i].value.i, *x + 1);
        *x += 1;
        once = once || (v[0] == 40 && v[1] == 7 && v[2] == 20 && v[3] == 3);
    }
    assert_true(once && v[0] == 45 && v[1] == 44 && v[2] == 44 && v[3] == 44);
}

static void test_deep_violation_is_rebuilt(void **state)
{
    (void)state;
    struct checked k[3];
    struct pt_names names[3];
    for (int i = 0; i < 3; i++) {
        struct pt_analysis_options opts = options(PT_ALL, PT_ALL);
        opts.jobs = i ? 3 + (unsigned)i : 1;
        opts.cuts_for_each = 0;   /* its levels are wide enough, and the many narrow ones would take long */
        opts.exhaustive = i == 1; /* the rest is then only counted */
        opts.memory_limit =
            i == 1 ? 32 << 20 : 0; /* a quarter of it for the history: many levels in a row are made again */
        pt_names_init(&names[i]);
        checked_start(&k[i], &names[i], DEEP, &opts);
        feed_counters(&k[i], &names[i], 4, 45);
        check_deep_witness(k[i].findings[0]);
    }
    same_steps(k[0].findings[0]->witness, k[1].findings[0]->witness, k[0].findings[0]->witness_count);
    same_steps(k[0].findings[0]->witness, k[2].findings[0]->witness, k[0].findings[0]->witness_count);
    assert_int_equal(k[0].findings[0]->levels, 178);
    assert_int_equal(k[2].findings[0]->levels, 178);
    assert_int_equal(k[2].findings[0]->states, k[0].findings[0]->states);
    assert_int_equal(k[1].findings[0]->levels, 181);
    assert_int_equal(k[1].findings[0]->states, 46 * 46 * 46 * 46);
    assert_int_equal(k[1].findings[0]->runs, UINT64_MAX);
    assert_true(k[1].findings[0]->runs_overflow && k[1].findings[0]->complete);
    for (int i = 0; i < 3; i++) {
        checked_release(&k[i]);
        pt_names_release(&names[i]);
    }
}

static uint64_t saturated(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

/* How many runs of two or three counters up to `each` lead to the cuts of a level; UINT64_MAX: as many, or more. */
static uint64_t runs_to(uint32_t threads, uint32_t each, uint32_t level)
{
    static uint64_t to[40][40][40];
    uint64_t sum = 0;
    for (uint32_t a = 0; a <= each; a++)
        for (uint32_t b = 0; b <= each; b++)
            for (uint32_t c = 0; c <= (threads > 2 ? each : 0); c++) {
                uint64_t runs = a + b + c == 0;
                runs = saturated(runs, a ? to[a - 1][b][c] : 0);
                runs = saturated(runs, b ? to[a][b - 1][c] : 0);
                to[a][b][c] = saturated(runs, c ? to[a][b][c - 1] : 0);
                sum = a + b + c == level ? saturated(sum, to[a][b][c]) : sum;
            }
    return sum;
}

/* Runs are counted until there are too many, at the end or long before it. */
static void test_many_runs(void **state)
{
    static const char *const forms[] = {
        "property p: v0 < 99 && v1 < 99%s;",                /* holds */
        "property p: v0 + v1 < 99%s;",                      /* holds, over several variables */
        "property p: !(v0 == %u && v1 == %u)%s;",           /* bad late */
        "property p: always (v0 == %u -> once v1 > %u)%s;", /* bad earlier */
    };
    (void)state;
    for (uint32_t threads = 2; threads <= 3; threads++)
        for (uint32_t each = threads == 2 ? 31 : 12; each <= (threads == 2 ? 36 : 17); each++)
            for (uint32_t form = 0; form < 8; form++) {
                struct checked k;
                struct pt_names names;
                char text[128];
                const char *third = threads > 2 ? " && v2 < 99" : "";
                struct pt_analysis_options opts = options(PT_ALL, PT_ALL);
                opts.exhaustive = form >= 4;
                if (form % 4 < 2)
                    snprintf(text, sizeof text, forms[form % 4], third);
                else
                    snprintf(text, sizeof text, forms[form % 4], each - 1, form % 4 == 2 ? each - 2 : 0, third);
                pt_names_init(&names);
                checked_start(&k, &names, text, &opts);
                feed_counters(&k, &names, threads, each);
                const struct pt_finding *f = k.findings[0];
                uint32_t bad = form % 4 == 2 ? 2 * each - 3 : each - 1;
                bool violated = form % 4 >= 2;
                uint64_t runs = runs_to(threads, each, violated && !opts.exhaustive ? bad : threads * each);
                assert_int_equal(f->verdict, violated ? PT_VERDICT_VIOLATED : PT_VERDICT_HOLDS);
                assert_int_equal(f->runs, runs);
                assert_int_equal(f->runs_overflow, runs == UINT64_MAX);
                checked_release(&k);
                pt_names_release(&names);
            }
}

static void test_memory_limit(void **state)
{
    (void)state;
    static const uint64_t windows_of[] = {PT_ALL, 5000};
    for (int i = 0; i < 2; i++) {
        struct checked k;
        struct pt_names names;
        struct pt_analysis_options opts = options(windows_of[i], i ? 100 : PT_ALL);
        opts.memory_limit = 300 << 10;
        pt_names_init(&names);
        checked_start(&k, &names, DEEP, &opts);
        feed_counters(&k, &names, 4, 45);
        assert_int_equal(k.findings[0]->verdict, PT_VERDICT_UNKNOWN);
        assert_non_null(strstr(k.findings[0]->message, "memory limit"));
        assert_false(k.findings[0]->complete);
        assert_true(k.findings[0]->levels > 3 && k.findings[0]->levels < 181);
        assert_true(k.findings[0]->peak_bytes > (150 << 10) && k.findings[0]->peak_bytes < (3 << 20));
        checked_release(&k);
        pt_names_release(&names);
    }
    /* The events alone may be too many. */
    struct checked k;
    struct pt_names names;
    struct pt_analysis_options opts = options(PT_ALL, PT_ALL);
    opts.memory_limit = 4096;
    pt_names_init(&names);
    checked_start(&k, &names, "property p: v0 < 1000;", &opts);
    feed_counters(&k, &names, 1, 500);
    assert_int_equal(k.findings[0]->verdict, PT_VERDICT_UNKNOWN);
    checked_release(&k);
    pt_names_release(&names);
}

/*
 * A limit that leaves room for the levels but not for their history changes nothing but the memory used. What was
 * written long ago keeps its value when the event is forgotten.
 */
static void test_small_history(void **state)
{
    (void)state;
    struct pt_finding *found[2];
    struct checked k[2];
    struct pt_names names[2];
    for (int i = 0; i < 2; i++) {
        struct pt_analysis_options opts = options(3000, 64);
        opts.memory_limit = i ? 700 << 10 : 0;
        pt_names_init(&names[i]);
        checked_start(&k[i], &names[i],
                      "property p: (v0 == 0 || c + v0 - v0 == 5) && v1 < 999 && v2 < 999 && v3 < 999 && v4 + v5 < 999;",
                      &opts);
        feed_write(&k[i], &names[i], "v0", "c", 5);
        feed_counters(&k[i], &names[i], 6, 120);
        found[i] = k[i].findings[0];
        assert_int_equal(found[i]->verdict, PT_VERDICT_HOLDS);
        assert_int_equal(found[i]->levels, 722);
    }
    same_findings(found[0], found[1]);
    for (int i = 0; i < 2; i++) {
        checked_release(&k[i]);
        pt_names_release(&names[i]);
    }
}

/*
 * A long run under a bounded window: two threads, ordered every few events; at the end one whose last four events may
 * all come too early. The monitor remembers whether x2 was 3, so its state changes all the time. Beyond a thousand
 * levels the witness begins at the state of the actual run where the two part.
 */
static void add_rounds(struct computation *c)
{
    for (uint32_t i = 0; i < 40; i++) {
        comp_add(c, 0, PT_OP_WRITE, 1, i % 3);
        comp_add(c, 1, PT_OP_WRITE, 2, i % 4);
        if (i % 4 == 3) {
            comp_add(c, 0, PT_OP_SYNC, 0, 0);
            comp_add(c, 1, PT_OP_SYNC, 0, 0);
            comp_add(c, 0, PT_OP_SYNC, 0, 0);
        }
    }
}

static void check_anchored(const struct pt_finding *f, uint32_t before)
{
    static const int64_t there[] = {0, 39 % 3, 39 % 4};
    assert_int_equal(f->verdict, PT_VERDICT_VIOLATED);
    assert_int_equal(f->how, PT_HOW_PREDICTED);
    assert_false(f->witness_lost);
    assert_int_equal(f->witness_from + f->witness_count, before + 4);
    for (uint32_t i = 0; i < 4; i++) /* without before + 1, which writes x1 = 7 */
        assert_int_equal(f->witness[f->witness_count - 4 + i].number, before + 2 + i);
    assert_int_equal(f->witness_from, before > 1000 ? before : 0);
    for (uint32_t v = 0; before > 1000 && v < 3; v++)
        assert_int_equal(f->from_values[v].value.i, there[f->from_values[v].name[1] - '0']);
}

static void test_long_run_anchors_its_witness(void **state)
{
    (void)state;
    struct computation c;
    struct checked k;
    struct pt_err err;
    struct pt_analysis_options opts = options(6, 10);
    opts.exhaustive = false;
    comp_init(&c);
    add_rounds(&c);
    uint32_t pass = c.count; /* of 80 relevant events; fed again and again */
    comp_add(&c, 0, PT_OP_WRITE, 1, 7);
    for (uint32_t i = 0; i < 3; i++)
        comp_add(&c, 1, PT_OP_WRITE, 2, i % 2);
    comp_add(&c, 1, PT_OP_WRITE, 0, 1);
    for (uint32_t passes = 1; passes <= 125; passes += 62) {
        checked_start(&k, &c.names, "property p: x0 == 1 -> x1 == 7 || start(x2 == 3);", &opts);
        for (uint32_t n = 0; n < passes; n++)
            for (uint32_t e = 0; e < pass; e++)
                assert_int_equal(pt_analysis_event(k.analysis, &c.events[e], &err), PT_OK);
        for (uint32_t e = pass; e < c.count; e++)
            assert_int_equal(pt_analysis_event(k.analysis, &c.events[e], &err), PT_OK);
        checked_finish(&k);
        check_anchored(k.findings[0], passes * 80);
        checked_release(&k);
    }
    comp_release(&c);
}

/*
 * The run that violates meets the actual one again, but with another memory: x0 = 1 overtook x1 = 7, both threads
 * synchronised, and x2 = 9 came much later. Where they meet is no place to begin.
 */
static void check_anchor_after(uint32_t passes)
{
    const uint32_t before = passes * 80;
    const uint64_t numbers[] = {before + 2, before + 1, before + 4};
    struct computation c;
    struct checked k;
    struct pt_err err;
    struct pt_analysis_options opts = options(6, 10);
    opts.memory_limit = 400 << 10; /* the beginning is forgotten long before the end */
    comp_init(&c);
    add_rounds(&c);
    uint32_t pass = c.count;
    comp_add(&c, 0, PT_OP_WRITE, 1, 7);
    comp_add(&c, 1, PT_OP_WRITE, 0, 1);
    for (uint32_t i = 0; i < 4; i++)
        comp_add(&c, i % 2, PT_OP_SYNC, 0, 0);
    comp_add(&c, 0, PT_OP_WRITE, 1, 8);
    comp_add(&c, 1, PT_OP_WRITE, 2, 9);
    checked_start(&k, &c.names, "property p: x2 == 9 -> !(once (x0 == 1 && x1 < 7));", &opts);
    for (uint32_t e = 0; e < passes * pass; e++)
        assert_int_equal(pt_analysis_event(k.analysis, &c.events[e % pass], &err), PT_OK);
    for (uint32_t e = pass; e < c.count; e++)
        assert_int_equal(pt_analysis_event(k.analysis, &c.events[e], &err), PT_OK);
    checked_finish(&k);
    const struct pt_finding *f = k.findings[0];
    assert_int_equal(f->verdict, PT_VERDICT_VIOLATED);
    assert_int_equal(f->how, PT_HOW_PREDICTED);
    assert_int_equal(f->witness_from, before);
    assert_int_equal(f->witness_count, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(f->witness[i].number, numbers[i]);
    checked_release(&k);
    comp_release(&c);
}

static void test_anchor_needs_the_same_memory(void **state)
{
    (void)state;
    check_anchor_after(30);
    check_anchor_after(10); /* short enough to be shown from the start, had that not been forgotten */
}

/* Counting on after a violation forgets events as it goes. */
static void test_exhaustive_stays_small(void **state)
{
    (void)state;
    struct checked k;
    struct pt_names names;
    struct pt_analysis_options opts = options(8, 16);
    pt_names_init(&names);
    checked_start(&k, &names, "property p: v0 != 1;", &opts);
    feed_counters(&k, &names, 1, 50000);
    assert_int_equal(k.findings[0]->verdict, PT_VERDICT_VIOLATED);
    assert_int_equal(k.findings[0]->levels, 50001);
    assert_true(k.findings[0]->peak_bytes < 1 << 20);
    checked_release(&k);
    pt_names_release(&names);
}

/* A value that is missing on one order of events only: an error, with the place. */
static void test_evaluation_error(void **state)
{
    (void)state;
    for (uint32_t ordered = 0; ordered < 2; ordered++) {
        struct computation c;
        struct checked k;
        struct pt_analysis_options opts = options(PT_ALL, PT_ALL);
        comp_init(&c);
        comp_add(&c, 0, PT_OP_WRITE, 1, 5);
        if (ordered)
            comp_add(&c, 0, PT_OP_SYNC, 0, 0), comp_add(&c, 1, PT_OP_SYNC, 0, 0);
        comp_add(&c, 1, PT_OP_WRITE, 0, 1);
        run_checked(&k, &c, "property p: x0 == 1 -> 10 / x1 == 2;", &opts);
        const struct pt_finding *f = k.findings[0];
        assert_int_equal(f->verdict, ordered ? PT_VERDICT_HOLDS : PT_VERDICT_ERROR);
        if (!ordered) {
            assert_string_equal(f->message, "division by zero in '10 / x1 == 2'");
            assert_string_equal(f->message_place, "w(x0)=1 by T1 at at2");
        }
        checked_release(&k);
        comp_release(&c);
    }
}

/* Given clocks may leave two writes of one variable unordered: no state has a value for it. */
static void test_unordered_writes(void **state)
{
    (void)state;
    struct computation c;
    struct checked k;
    struct pt_err err;
    struct pt_analysis_options opts = options(PT_ALL, PT_ALL);
    struct pt_clock_entry first = {0, counted(&opts, 1)}, second = {1, counted(&opts, 1)};
    comp_init(&c);
    comp_add(&c, 0, PT_OP_WRITE, 0, 1);
    comp_add(&c, 1, PT_OP_WRITE, 0, 2);
    c.events[0].clock = &first;
    c.events[1].clock = &second;
    c.events[0].clock_len = c.events[1].clock_len = 1;
    checked_start(&k, &c.names, "property p: x0 < 9;", &opts);
    assert_int_equal(pt_analysis_event(k.analysis, &c.events[0], &err), PT_OK);
    assert_int_equal(pt_analysis_event(k.analysis, &c.events[1], &err), PT_EINPUT);
    assert_non_null(strstr(err.message, "do not order this write of 'x0'"));
    assert_int_equal(err.line, 2);
    checked_finish(&k);
    checked_release(&k);
    comp_release(&c);
}

/* Counts, lost events, and the names that never appear. */
static void test_lost_events(void **state)
{
    (void)state;
    struct computation c;
    struct checked k;
    struct pt_err err;
    struct pt_analysis_options opts = options(PT_ALL, PT_ALL);
    uint64_t events, threads;
    comp_init(&c);
    comp_add(&c, 0, PT_OP_FORK, 1, 0);
    comp_add(&c, 1, PT_OP_WRITE, 0, 1);
    comp_add(&c, 0, PT_OP_READ, 1, 0);
    checked_start(&k, &c.names, "property p: x0 < 9 && x1 < 9 && x2 < 9 && !event(e7);", &opts);
    for (uint32_t e = 0; e < c.count; e++)
        assert_int_equal(pt_analysis_event(k.analysis, &c.events[e], &err), PT_OK);
    pt_analysis_finish(k.analysis, "events were lost");
    k.findings = pt_analysis_findings(k.analysis, &k.count);
    assert_int_equal(k.findings[0]->verdict, PT_VERDICT_UNKNOWN);
    assert_string_equal(k.findings[0]->message, "events were lost");
    assert_false(k.findings[0]->complete);
    pt_analysis_counts(k.analysis, &events, &threads);
    assert_int_equal(events, 3);
    assert_int_equal(threads, 2);
    const char *const *unseen = k.findings[0]->unseen;
    assert_string_equal(unseen[0], "x2");
    assert_string_equal(unseen[1], "e7");
    assert_null(unseen[2]);
    checked_release(&k);
    comp_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_random),
        cmocka_unit_test(test_two_threads),
        cmocka_unit_test(test_many_threads),
        cmocka_unit_test(test_whole_lattice_of_many_threads),
        cmocka_unit_test(test_threads_come_and_go),
        cmocka_unit_test(test_long_thread),
        cmocka_unit_test(test_given_clocks),
        cmocka_unit_test(test_properties_do_not_disturb_each_other),
        cmocka_unit_test(test_deep_violation_is_rebuilt),
        cmocka_unit_test(test_many_runs),
        cmocka_unit_test(test_memory_limit),
        cmocka_unit_test(test_small_history),
        cmocka_unit_test(test_long_run_anchors_its_witness),
        cmocka_unit_test(test_anchor_needs_the_same_memory),
        cmocka_unit_test(test_exhaustive_stays_small),
        cmocka_unit_test(test_evaluation_error),
        cmocka_unit_test(test_unordered_writes),
        cmocka_unit_test(test_lost_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
