/*
 * The cone of one property by two threads that explore stretches of the trace (engine/stretch.h): the findings are
 * those of one thread, wherever stretches begin, whether they join or not, whatever there is to tell and when, and
 * however much of the past has been forgotten by then.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/analysis_impl.h"
#include "engine/stretch.h"
#include "findings_util.h"
#include "logic/lang/property.h"
#include "trace_util.h"

enum { MOST_THREADS = 8, VARS = MOST_THREADS, NAMES = 60, BAD = 7 };

/* A random trace. `marks`: after so many events, two variables are 7 at times that other runs bring together. */
struct shape {
    uint32_t threads, events, reads, user_events, burst; /* of 256: reads of others, events of the property */
    uint32_t marks;                                      /* 0: none */
    bool observed;                                       /* ... and in the run itself */
    bool once;                                           /* the last variable is written at the beginning alone */
};

struct run {
    struct pt_names names;
    struct pt_event *events;
    struct pt_clock_entry *clocks;
    uint32_t count;
};

static uint64_t random_of(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed >> 11;
}

static void run_init(struct run *r, uint32_t most)
{
    char text[16];
    pt_names_init(&r->names);
    for (uint32_t i = 0; i < NAMES; i++) {
        int n = snprintf(text, sizeof text, "T%u", i);
        pt_strtab_intern(&r->names.space[PT_SPACE_THREAD], text, (size_t)n);
        n = snprintf(text, sizeof text, "x%u", i);
        pt_strtab_intern(&r->names.space[PT_SPACE_VAR], text, (size_t)n);
        n = snprintf(text, sizeof text, "e%u", i);
        pt_strtab_intern(&r->names.space[PT_SPACE_EVENT], text, (size_t)n);
    }
    pt_strtab_intern(&r->names.space[PT_SPACE_LOC], "a.c:1", 5);
    r->events = pt_xcalloc(most, sizeof *r->events);
    r->clocks = pt_xcalloc(most, sizeof *r->clocks);
    r->count = 0;
}

static void run_release(struct run *r)
{
    pt_names_release(&r->names);
    free(r->events);
    free(r->clocks);
}

static void add(struct run *r, uint32_t thread, uint32_t op, uint32_t object, int64_t value)
{
    struct pt_event *e = &r->events[r->count++];
    *e = (struct pt_event){.line = r->count, .op = (uint8_t)op, .thread = thread, .object = object};
    if (op == PT_OP_WRITE)
        e->value = pt_value_int(value);
}

static void write(struct run *r, const struct shape *s, uint32_t thread, uint32_t var, int64_t value)
{
    enum { BEGINNING = 100 };
    add(r, thread, PT_OP_WRITE, s->once && var == VARS - 1 && r->count > BEGINNING ? thread % 3 : var, value);
}

static void make(struct run *r, const struct shape *s, uint64_t seed)
{
    uint32_t thread = 0;
    while (r->count + 4 < s->events) {
        if (s->marks && r->count >= s->marks && r->count < s->marks + 4) { /* one is 7, then another one */
            add(r, 0, PT_OP_WRITE, 0, BAD);
            if (!s->observed)
                add(r, 0, PT_OP_WRITE, 0, 1);
            add(r, 1, PT_OP_WRITE, 1, BAD);
            add(r, 1, PT_OP_WRITE, 1, 1);
            add(r, 0, PT_OP_WRITE, 0, 1);
        }
        thread = random_of(&seed) % s->burst ? thread : (uint32_t)(random_of(&seed) % s->threads);
        uint32_t kind = random_of(&seed) % 256, other = (uint32_t)(random_of(&seed) % s->threads);
        if (kind < s->reads)
            add(r, thread, PT_OP_READ, other, 0);
        else if (kind < s->reads + s->user_events)
            add(r, thread, PT_OP_EVENT, other % 3, 0);
        else
            write(r, s, thread, kind % 64 == 1 ? other : thread, (int64_t)(random_of(&seed) % 6));
    }
}

struct explored {
    struct pt_properties *props;
    struct pt_monitor *monitor;
    struct pt_analysis *analysis;
    const struct pt_finding *finding;
    enum pt_status status;
    uint64_t joins, again; /* stretches that joined; events after which the first one was not needed any more */
};

/* `waits`: a little, so that the other thread does what it was given, and is given more. */
static void look(struct explored *x, bool waits)
{
    const struct pt_lattice *l = x->analysis->watched[0].lattice;
    const struct lat_stretches *st = x->analysis->feed ? NULL : l->stretches; /* else it is somebody else's */
    x->again += st && !st->origin_needed;
    if (waits && st && !st->handing && st->given && !lat_stretch_rests(st->given))
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
}

/* Gives up to `upto` events; `finishes`: and looks at what is found. */
static void explore(struct explored *x, struct run *r, const char *text, const struct pt_analysis_options *options,
                    uint32_t upto, bool finishes)
{
    struct pt_err err;
    uint32_t count;
    *x = (struct explored){.props = pt_properties_new(), .status = PT_OK};
    if (pt_properties_add(x->props, "t.prop", text, strlen(text), NULL, NULL, &err) != PT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(pt_monitor_new(&x->props->items[0], 1000, &x->monitor, &err), PT_OK);
    struct pt_analysis_input input = {.property = &x->props->items[0], .monitor = x->monitor};
    x->analysis = pt_analysis_new(&r->names, &input, 1, options);
    for (uint32_t e = 0; e < upto && x->status == PT_OK; e++) {
        x->status = pt_analysis_event(x->analysis, &r->events[e], &err);
        look(x, options->window % 3 && e % 17 == 0); /* not with a window of 3 */
    }
    if (!finishes)
        return;
    enum pt_status flushed = pt_analysis_flush(x->analysis, &err);
    x->status = x->status == PT_OK ? flushed : x->status;
    pt_analysis_finish(x->analysis, NULL);
    x->joins = x->analysis->watched[0].lattice->joins;
    x->finding = pt_analysis_findings(x->analysis, &count)[0];
}

static void release(struct explored *x)
{
    pt_analysis_free(x->analysis);
    pt_monitor_free(x->monitor);
    pt_properties_free(x->props);
}

static void same(const struct explored *x, const struct explored *y)
{
    const struct pt_finding *a = x->finding, *b = y->finding;
    assert_int_equal(x->status, y->status);
    same_findings(a, b);
    same_messages(a, b);
    for (uint32_t v = 0; a->initial && v < a->value_count; v++) {
        assert_int_equal(a->initial[v].value.i, b->initial[v].value.i);
        assert_int_equal(a->initial[v].assumed, b->initial[v].assumed);
    }
    for (uint32_t i = 0; i < a->move_count; i++) {
        assert_int_equal(a->moves[i].step, b->moves[i].step);
        assert_int_equal(a->moves[i].over.number, b->moves[i].over.number);
        assert_int_equal(a->moves[i].over_index, b->moves[i].over_index);
        assert_int_equal(a->moves[i].needs, b->moves[i].needs);
    }
}

static const char *const texts[] = {
    "property p: !(x0 == 7 && x1 == 7) && x2 < 9 && x3 < 9 && x4 < 9 && x5 < 9 && x6 < 9 && x7 < 9;",
    "property p: x0 + x1 < 14 && x2 + x3 < 19 && x4 < 9 && x5 < 9 && x6 < 9 && x7 < 9;",
    "property p: (x0 == 7 && x1 == 7) -> (x2 < 0 since (x3 > 9 && once x4 < 0)) || x5 + x6 + x7 > 99;",
    "property p: event(e0) -> (once (event(e1) && x3 > 3)) || x0 + x1 < 13;",
    "property p: (x0 == 7 && x1 == 7) -> !once (x2 == 5 && x3 == 4 && x4 == 3);", /* sets of several states */
    "property p: !(x0 == 7 && x1 == 7) || 10 / x2 > 100;",                        /* an error, where x2 is 0 */
    "property p: start(x2 == 5) -> !(x0 == 7 && x1 == 7 && x3 < 6);",
};
enum { TEXTS = sizeof texts / sizeof *texts };

static struct pt_analysis_options options_of(uint64_t n)
{
    static const uint64_t windows[] = {3, 16, 64, 100}, lookaheads[] = {12, 48, 256};
    static const uint32_t lengths[] = {1, 2, 8, 40};
    return (struct pt_analysis_options){.window = windows[n % 4],
                                        .lookahead = lookaheads[n / 4 % 3],
                                        .jobs = 1,
                                        .cores = n % 5 ? 2 : 0, /* sleeps at once, or looks on */
                                        .stretch = lengths[n / 12 % 4],
                                        .batch = 16,
                                        .trace = "t",
                                        .batches = true};
}

static struct shape shape_of(uint64_t n, uint64_t *seed, uint32_t events)
{
    struct shape s = {.threads = 2 + (uint32_t)(random_of(seed) % 7), .events = events};
    if (n % 3 == 1)
        s.threads = 2; /* levels are rows (pair.c) */
    static const uint32_t reads[] = {0, 8, 40, 128, 225};
    s.reads = reads[random_of(seed) % 5];
    s.once = random_of(seed) % 2;
    s.user_events = n % TEXTS == 3 ? 30 : 0;
    s.burst = random_of(seed) % 4 ? 1 : 5;
    s.marks = random_of(seed) % 3 ? events / 4 + (uint32_t)(random_of(seed) % (events / 2)) : 0;
    s.observed = random_of(seed) % 4 == 0;
    return s;
}

struct seen {
    uint32_t verdicts[8], joins, again, apart, lost, rows;
};

/* One case, with one thread and with several. */
static void compare(uint64_t n, uint32_t events, struct seen *seen)
{
    uint64_t seed = 7919 * n + 12345;
    struct shape s = shape_of(n, &seed, events);
    struct pt_analysis_options options = options_of(n);
    struct run r;
    struct explored one, two;
    run_init(&r, events + 16);
    make(&r, &s, seed);
    explore(&one, &r, texts[n % TEXTS], &options, r.count, true);
    options.jobs = n % 7 == 6 ? 7 : 2;
    explore(&two, &r, texts[n % TEXTS], &options, r.count, true);
    same(&one, &two);
    seen->verdicts[one.finding->verdict]++;
    seen->joins += two.joins > 0;
    seen->again += two.again > 0;
    seen->apart += two.joins == 0;
    seen->rows += two.joins > 0 && s.threads == 2;
    seen->lost += one.finding->witness_from > 0;
    release(&one);
    release(&two);
    run_release(&r);
}

/* The number of the first case. */
static uint64_t first_seed(void)
{
    const char *given = getenv("PORTENT_TEST_SEED");
    return given ? strtoull(given, NULL, 10) : 0;
}

static void test_like_one_thread(void **state)
{
    struct seen seen = {0};
    uint64_t cases = 400, first = first_seed();
    (void)state;
    print_message("PORTENT_TEST_SEED=%" PRIu64 "\n", first);
    for (uint64_t n = first; n < first + cases; n++)
        compare(n, 300 + (uint32_t)(n * 37 % 5000), &seen);
    print_message("joined %u, of rows %u, apart %u; holds %u, violated %u, error %u, unknown %u\n", seen.joins,
                  seen.rows, seen.apart, seen.verdicts[PT_VERDICT_HOLDS], seen.verdicts[PT_VERDICT_VIOLATED],
                  seen.verdicts[PT_VERDICT_ERROR], seen.verdicts[PT_VERDICT_UNKNOWN]);
    assert_true(seen.joins > cases / 4 && seen.rows > cases / 12);
    assert_true(seen.verdicts[PT_VERDICT_HOLDS] > cases / 10 && seen.verdicts[PT_VERDICT_VIOLATED] > cases / 10);
}

/* Longer than the history: what is to be told is explored once more, from a stretch that began later. */
static void test_beyond_history(void **state)
{
    struct seen seen = {0};
    uint64_t cases = 40, first = first_seed();
    (void)state;
    print_message("PORTENT_TEST_SEED=%" PRIu64 "\n", first);
    for (uint64_t n = first; n < first + cases; n++)
        compare(n, 9000 + (uint32_t)(n * 611 % 7000), &seen);
    print_message("joined %u, of rows %u, again %u, witnesses that begin later %u, violated %u\n", seen.joins,
                  seen.rows, seen.again, seen.lost, seen.verdicts[PT_VERDICT_VIOLATED]);
    assert_true(seen.joins > cases / 4 && seen.rows > 3 && seen.again > 0 && seen.lost > 0);
}

/* What another run had long ago comes to light as far back as the history just reaches, or just does not: the state
 * that it left is no state of the actual run, so that a witness has to go back all the way. */
static void test_long_ago(void **state)
{
    enum { THREADS = 5, EVENTS = 8000, AROUND = LAT_BOUNDED_LEVELS - 40 };
    uint32_t lost = 0, found = 0;
    uint64_t joins = 0;
    (void)state;
    for (uint32_t n = 0; n < 60; n++) {
        static const char text[] = "property p: !(x2 == 9 && once (x0 == 7 && x1 == 7)) && x3 < 9 && x4 < 9;";
        uint64_t seed = 101 * (n + first_seed()) + 9;
        uint32_t marks = 1500 + 37 * n, told = marks + AROUND + n;
        struct pt_analysis_options options = options_of(12 * (n / 2) + 2 + n % 2);
        struct run r;
        struct explored one, two;
        run_init(&r, EVENTS);
        while (r.count < EVENTS) {
            uint32_t t = (uint32_t)(random_of(&seed) % THREADS);
            bool marked = r.count == marks || r.count == marks + 2;
            t = marked || r.count == marks + 1 || r.count == marks + 3 ? (r.count - marks) / 2 : t;
            add(&r, r.count == told ? 2 : t, PT_OP_WRITE, r.count == told ? 2 : t,
                r.count == told ? 9
                : marked        ? BAD
                                : (int64_t)(random_of(&seed) % 6));
        }
        explore(&one, &r, text, &options, r.count, true);
        options.jobs = 2;
        explore(&two, &r, text, &options, r.count, true);
        same(&one, &two);
        lost += one.finding->witness_lost;
        found += one.finding->verdict == PT_VERDICT_VIOLATED && !one.finding->witness_lost;
        joins += two.joins;
        release(&one);
        release(&two);
        run_release(&r);
    }
    print_message("lost %u, found %u, joins %" PRIu64 "\n", lost, found, joins);
    assert_true(lost > 5 && found > 5 && joins > 5);
}

/* So many threads that the first cut has successors by events far beyond those that have bits, and that cones join
 * late. Some are silent for long, or come late. */
static void test_many_threads(void **state)
{
    enum { EVENTS = 9000 };
    char text[2048];
    uint64_t joins = 0;
    uint32_t violated = 0;
    (void)state;
    size_t at = (size_t)snprintf(text, sizeof text, "property p: !(x0 == 7 && x1 == 7) && x2 + x3 < 19");
    for (uint32_t v = 4; v < NAMES; v++)
        at += (size_t)snprintf(text + at, sizeof text - at, " && x%u < 9", v);
    snprintf(text + at, sizeof text - at, ";");
    for (uint32_t n = 0; n < 24; n++) {
        uint64_t seed = 31 * (n + first_seed()) + 5;
        uint32_t marks = n % 3 ? 0 : 2000 + 271 * n;
        struct pt_analysis_options options = options_of(12 * (2 + n % 2) + n % 12);
        struct run r;
        struct explored one, two;
        run_init(&r, EVENTS);
        while (r.count < EVENTS) {
            uint32_t late = r.count < EVENTS / 2 ? 50 : NAMES, t = (uint32_t)(random_of(&seed) % late);
            bool marked = marks && (r.count == marks || r.count == marks + 2);
            t = marks && r.count >= marks && r.count < marks + 4 ? (r.count - marks) / 2 : t;
            if (n % 2 && random_of(&seed) % 4 == 0 && r.count + 1 < EVENTS && !marked)
                add(&r, t, PT_OP_READ, (uint32_t)(random_of(&seed) % late), 0);
            else
                add(&r, t, PT_OP_WRITE, t, marked ? BAD : (int64_t)(random_of(&seed) % 6));
        }
        explore(&one, &r, text, &options, r.count, true);
        options.jobs = 2;
        explore(&two, &r, text, &options, r.count, true);
        same(&one, &two);
        violated += one.finding->verdict == PT_VERDICT_VIOLATED;
        joins += two.joins;
        release(&one);
        release(&two);
        run_release(&r);
    }
    print_message("joins %" PRIu64 ", violated %u\n", joins, violated);
    assert_true(joins > 24 && violated > 3);
}

/* Every part of what is compared counts. */
static void test_snapshots_differ(void **state)
{
    enum { WINDOW = 4 };
    struct pt_analysis_options options = {.window = WINDOW};
    struct pt_lattice *l = pt_xaligned(LAT_CACHE_LINE, sizeof *l);
    struct lat_snapshot x[2];
    (void)state;
    l->options = &options;
    memset(x, 0, sizeof x);
    for (uint32_t i = 0; i < 2; i++) {
        lat_snapshot_init(&x[i], l);
        x[i].count = WINDOW;
        x[i].event_count = 3;
        for (uint32_t k = 0; k < WINDOW; k++) {
            x[i].events[k] = 10 + k;
            x[i].words[k] = lat_bit(k) | lat_bit(100);
            x[i].letters[k] = k;
            x[i].sets[k] = 5;
        }
    }
    x[1].states = 99; /* it does not matter how many there were before */
    assert_true(lat_snapshot_same(&x[0], &x[1]));
    for (uint32_t k = 0; k < WINDOW; k++) {
        x[1].words[k] ^= lat_bit(101);
        assert_false(lat_snapshot_same(&x[0], &x[1]));
        x[1].words[k] ^= lat_bit(101);
        x[1].letters[k]++;
        assert_false(lat_snapshot_same(&x[0], &x[1]));
        x[1].letters[k]--;
        x[1].sets[k]++;
        assert_false(lat_snapshot_same(&x[0], &x[1]));
        x[1].sets[k]--;
    }
    x[1].events[2]++;
    assert_false(lat_snapshot_same(&x[0], &x[1]));
    x[1].events[2]--;
    x[1].event_count = 2;
    assert_false(lat_snapshot_same(&x[0], &x[1]));
    x[1].event_count = 3;
    x[1].row = true; /* the same numbers, but lanes and counts */
    assert_false(lat_snapshot_same(&x[0], &x[1]));
    x[0].row = true;
    assert_true(lat_snapshot_same(&x[0], &x[1]));
    x[1].events[0]++;
    assert_false(lat_snapshot_same(&x[0], &x[1]));
    x[1].events[0]--;
    x[1].count = x[0].count = 0; /* nothing that could be compared */
    assert_false(lat_snapshot_same(&x[0], &x[1]));
    lat_snapshot_release(&x[0]);
    lat_snapshot_release(&x[1]);
    free(l);
}

/* What a snapshot says of a row, of which the first cut has so many events of each thread above `base`; `before`: the
 * same of the row before it. */
static struct lat_snapshot *snapshot_of_row(uint64_t base, uint32_t lane, uint64_t runs, uint64_t before,
                                            struct lat_stretch *s)
{
    enum { WINDOW = 2, LEVEL = 64, BITS = 16 };
    struct pt_analysis_options options = {.window = WINDOW};
    struct pt_lattice *l = pt_xaligned(LAT_CACHE_LINE, sizeof *l);
    struct pt_finding finding = {.width = 7}; /* something was left out before it */
    struct lat_column columns[] = {{.lane = lane}, {.lane = 9}};
    struct lat_field fields[] = {{.column = 0, .base = base, .mask = 255}, {.column = 1, .shift = BITS, .mask = 255}};
    struct lat_layout layout = {.words = 1, .field_count = 2, .fields = fields};
    uint64_t keys[] = {5 | 7 << BITS, 6 | 6 << BITS}, all_runs[] = {UINT64_MAX, runs};
    pt_letter letters[] = {1, 2};
    pt_set sets[] = {3, 4};
    struct lat_part part = {.keys = keys, .runs = all_runs, .letters = letters, .sets = sets, .count = WINDOW};
    struct lat_level level = {.parts = &part, .part_count = 1};
    l->options = &options;
    l->finding = &finding;
    l->columns = columns;
    l->layout = &layout;
    l->current = &level;
    l->paired = l->judges = true;
    l->previous.keys = &before;
    l->previous.count = 1;
    l->level = LEVEL;
    l->stretch = s;
    s->end = UINT64_MAX;
    s->head_count = 0;
    lat_snapshot_init(&s->heads[0], l);
    lat_stretch_check(l);
    assert_int_equal(s->head_count, 1);
    assert_int_equal(s->passage_count, 1);
    assert_int_equal(s->passages[0].level, LEVEL);
    assert_int_equal(s->passages[0].width, 7);
    assert_false(s->passages[0].complete);
    assert_true(finding.complete); /* it is looked at anew from here on */
    assert_int_equal(finding.width, 0);
    free(l);
    return &s->heads[0];
}

/* Rows are the same whose first cuts have as many events of the same threads, if they need not be counted. */
static void test_snapshots_of_rows(void **state)
{
    static const struct {
        uint64_t base;
        uint32_t lane;
        uint64_t runs, before;
        bool same;
    } rows[] = {{10, 4, UINT64_MAX, 4, true},
                {11, 4, UINT64_MAX, 4, false},
                {10, 3, UINT64_MAX, 4, false},
                {10, 4, 99, 4, false},
                {10, 4, UINT64_MAX, 5, false}};
    (void)state;
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lat_stretch *s = pt_xaligned(LAT_CACHE_LINE, 2 * sizeof *s);
        struct lat_snapshot *a = snapshot_of_row(10, 4, UINT64_MAX, 4, &s[0]),
                            *b = snapshot_of_row(rows[i].base, rows[i].lane, rows[i].runs, rows[i].before, &s[1]);
        assert_int_equal(lat_snapshot_same(a, b), rows[i].same);
        lat_snapshot_release(a);
        lat_snapshot_release(b);
        free(s);
    }
}

/* Stretches as long as they are outside of tests, and something to tell after several of them: it is explored once more
 * from where one of them began, and what was written long before that is known. */
static void test_told_late(void **state)
{
    enum { EVENTS = 60000 };
    (void)state;
    for (uint32_t n = 0; n < 6; n++) {
        struct shape s = {
            .threads = MOST_THREADS, .events = EVENTS, .burst = 1, .marks = 50000 + 1013 * n, .once = true};
        struct pt_analysis_options options = {
            .window = 16, .lookahead = 64, .jobs = 1, .cores = 2, .batch = 16, .trace = "t", .batches = true};
        struct run r;
        struct explored one, two;
        run_init(&r, EVENTS + 16);
        make(&r, &s, 19 * n + 3);
        explore(&one, &r, texts[n % 3], &options, r.count, true);
        options.jobs = 2;
        explore(&two, &r, texts[n % 3], &options, r.count, true);
        same(&one, &two);
        assert_int_equal(one.finding->verdict, PT_VERDICT_VIOLATED);
        assert_true(two.joins > 0);
        release(&one);
        release(&two);
        run_release(&r);
    }
}

/* Long traces take no more memory than some stretches of them: also where a thread is silent, so that cones never join,
 * as there is always a cut without its last event. */
static void test_memory(void **state)
{
    enum { EVENTS = 150000, MOST_MB = 60 };
    (void)state;
    for (uint32_t silent = 0; silent < 2; silent++) {
        uint64_t seed = 77;
        struct pt_analysis_options options = {
            .window = 16, .lookahead = 64, .jobs = 2, .cores = 2, .batch = 16, .trace = "t", .batches = true};
        struct run r;
        struct explored one, two;
        run_init(&r, EVENTS);
        while (r.count < EVENTS) {
            uint32_t t = (uint32_t)(random_of(&seed) % 5);
            t = t == 4 && silent && r.count > 100 ? 0 : t;
            add(&r, t, PT_OP_WRITE, t, (int64_t)(random_of(&seed) % 6));
        }
        explore(&two, &r, texts[0], &options, r.count, true);
        options.jobs = 1;
        explore(&one, &r, texts[0], &options, r.count, true);
        same(&one, &two);
        assert_int_equal(two.joins == 0, silent);
        assert_true(two.finding->peak_bytes < (uint64_t)MOST_MB << 20);
        release(&one);
        release(&two);
        run_release(&r);
    }
}

/* Freed, given up, or told that events are missing, anywhere. */
static void test_ends_anywhere(void **state)
{
    (void)state;
    for (uint32_t n = 0; n < 120; n++) {
        uint64_t seed = 31 * n + 7;
        struct shape s = shape_of(n, &seed, 1500);
        struct pt_analysis_options options = options_of(n);
        struct run r;
        struct explored x[2];
        run_init(&r, 1600);
        make(&r, &s, seed);
        for (uint32_t i = 0; i < 2; i++) {
            uint32_t count;
            options.jobs = 1 + i;
            explore(&x[i], &r, texts[n % TEXTS], &options, 200 + 10 * n, false);
            if (n % 3 == 0)
                pt_analysis_gap(x[i].analysis, 1);
            if (n % 3 == 2)
                continue;
            struct pt_err err;
            assert_int_equal(pt_analysis_flush(x[i].analysis, &err), PT_OK);
            pt_analysis_finish(x[i].analysis, n % 3 == 1 ? "it broke off" : NULL);
            x[i].finding = pt_analysis_findings(x[i].analysis, &count)[0];
        }
        if (n % 3 != 2)
            same(&x[0], &x[1]);
        release(&x[0]);
        release(&x[1]);
        run_release(&r);
    }
}

/* Clocks that leave two writes without an order are an error, but not once there is nothing more to explore. */
static void test_error_after_the_end(void **state)
{
    uint32_t errors = 0, tries = 0;
    (void)state;
    for (uint32_t n = 0; n < 150; n++) {
        enum { EVENTS = 900 };
        uint64_t counts[MOST_THREADS] = {0}, seed = n / 10 + 55;
        uint32_t bad = 300 + n / 10 * 20, wrong = bad - 100 + n % 10 * 40;
        struct pt_analysis_options options = options_of(4 * n + 1);
        struct run r;
        struct explored one, two;
        run_init(&r, EVENTS);
        for (uint32_t e = 0; e < EVENTS; e++) {
            uint32_t t = (uint32_t)(random_of(&seed) % 6);
            add(&r, t, PT_OP_WRITE, e == wrong ? (t + 1) % 6 : t, e == bad ? BAD : (int64_t)(random_of(&seed) % 6));
            r.clocks[e] = (struct pt_clock_entry){t, ++counts[t]};
            r.events[e].clock = &r.clocks[e];
            r.events[e].clock_len = 1;
        }
        static const char text[] = "property p: x0 + x1 < 15 && x2 < 7 && x3 < 7 && x4 < 7 && x5 < 7;";
        explore(&one, &r, text, &options, r.count, true);
        options.jobs = 2;
        explore(&two, &r, text, &options, r.count, true);
        same(&one, &two);
        tries++;
        errors += one.status != PT_OK;
        release(&one);
        release(&two);
        run_release(&r);
    }
    assert_true(errors > tries / 10 && errors < tries);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_like_one_thread),  cmocka_unit_test(test_beyond_history),
        cmocka_unit_test(test_long_ago),         cmocka_unit_test(test_many_threads),
        cmocka_unit_test(test_snapshots_differ), cmocka_unit_test(test_snapshots_of_rows),
        cmocka_unit_test(test_told_late),        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_ends_anywhere),    cmocka_unit_test(test_error_after_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
