/*
 * Sampling (runtime/race/window.c): when windows open and close, and, on random runs of several threads played by one,
 * that whatever is reported is unordered by happens-before, which is computed here by plain vectors.
 */
#include <stdio.h>
#include <string.h>

#include "race_hooks.h"
#include "race_util.h"
#include "runtime/race/asked.h"
#include "runtime/race/choose.h"
#include "runtime/race/fast.h"
#include "runtime/sys/options.h"

enum {
    THREADS = 4,
    GRANULES = 6,
    PLACES = 64,
    OFTEN = 5,
    OBJECTS = 3,
    RUNS = 300,
    STEPS = 3000,
    EVENTS = 1024,
    MADE = 100000
};

struct access {
    unsigned thread, place;
    uint32_t clock;
};
static struct pt_site sites[PLACES];
static struct pt_race_self *t[THREADS];
static uint32_t knows[THREADS][THREADS], carries[3 * OBJECTS][THREADS];
static struct access made[GRANULES][MADE];
static unsigned made_count[GRANULES], owner[OBJECTS], now_thread, now_granule, reported, passed;
static _Alignas(64) uint64_t memory[GRANULES];
static _Alignas(64) uint64_t objects[3 * OBJECTS];

/* Some access of that thread at that place is not known to the thread that makes this one. */
static void on_found(const struct pt_found *found, uint64_t asked_for)
{
    (void)asked_for;
    unsigned thread = (unsigned)found->sides[0].thread - 1;
    bool unordered = false;
    for (unsigned i = 0; i < made_count[now_granule]; i++) {
        const struct access *one = &made[now_granule][i];
        unordered |= one->thread == thread && &sites[one->place] == found->sides[0].stack.sites[0] &&
                     one->clock > knows[now_thread][thread];
    }
    assert_true(unordered);
    reported++;
}

static void begin(unsigned count, int64_t sample)
{
    pt_options.sample = sample;
    pt_race_restart();
    memset(pt_race_often, 0, sizeof pt_race_often);
    memset(knows, 0, sizeof knows);
    memset(carries, 0, sizeof carries);
    memset(made_count, 0, sizeof made_count);
    for (unsigned i = 0; i < OBJECTS; i++)
        owner[i] = THREADS;
    for (unsigned i = 0; i < count; i++) {
        t[i] = pt_race_begin(i, i ? t[0] : NULL, NULL);
        assert_non_null(t[i]);
    }
    reported = 0;
}

static void end(unsigned count)
{
    for (unsigned i = count - 1; i > 0; i--)
        pt_race_join(t[0], t[i]);
    for (unsigned i = 0; i < count; i++) {
        pt_race_end(t[i]);
        pt_race_release(t[i]);
    }
}

static bool is_open(void)
{
    assert_int_equal(pt_is_racing(), pt_race_windows & 1);
    return pt_is_racing();
}

/* As the hooks do it. True: it was looked at. */
static bool access(unsigned thread, unsigned granule, unsigned kind, unsigned place)
{
    const struct pt_site *site = &sites[place];
    bool looks = !(pt_is_between() && pt_race_is_often(site)) &&
                 (pt_race_takes(t[thread], site) || !pt_race_choose(t[thread], site));
    now_thread = thread;
    now_granule = granule;
    if (looks)
        pt_race_plain(t[thread], (uintptr_t)&memory[granule], 8, kind, site);
    assert_true(made_count[granule] < MADE);
    made[granule][made_count[granule]++] = (struct access){thread, place, ++knows[thread][thread]};
    return looks;
}

static void take(unsigned thread, const uint32_t *from)
{
    for (unsigned i = 0; i < THREADS; i++)
        if (from[i] > knows[thread][i])
            knows[thread][i] = from[i];
}

static void put(unsigned thread, uint32_t *to, bool keep)
{
    for (unsigned i = 0; i < THREADS; i++)
        to[i] = keep && to[i] > knows[thread][i] ? to[i] : knows[thread][i];
    knows[thread][thread]++;
}

/* As the wrappers do it, where nobody else wants to know: in a gap a lock is at most counted. */
static bool passes(unsigned thread, bool locks, const struct pt_site *site)
{
    pt_race_window_own = &t[thread]->window;
    bool done = pt_race_is_often(site) && (locks ? pt_race_window_passes() : pt_race_window_is_gap());
    pt_race_window_ended();
    assert_true(!done || (pt_race_passes && !is_open()));
    passed += done;
    return done;
}

static void lock(unsigned thread, unsigned i)
{
    bool locks = owner[i] == THREADS;
    if (!locks && owner[i] != thread)
        return;
    if (!passes(thread, locks, &sites[PLACES - 1]))
        pt_race_sync(t[thread], (uintptr_t)&objects[i], locks ? PT_KIND_ACQ : PT_KIND_REL, &sites[PLACES - 1]);
    if (locks)
        take(thread, carries[i]);
    else
        put(thread, carries[i], false);
    owner[i] = locks ? thread : THREADS;
}

static void other(unsigned thread, unsigned i, bool notifies)
{
    unsigned object = OBJECTS + i;
    pt_race_sync(t[thread], (uintptr_t)&objects[object], notifies ? PT_KIND_NOTIFY : PT_KIND_WAIT, &sites[PLACES - 2]);
    if (notifies)
        put(thread, carries[object], true);
    else
        take(thread, carries[object]);
}

static void atomic(unsigned thread, unsigned i, unsigned kind)
{
    unsigned object = 2 * OBJECTS + i;
    uintptr_t at = (uintptr_t)&objects[object];
    if (!pt_is_between()) {
        assert_true(pt_race_atomic_begin(t[thread], at, 8));
        pt_race_atomic_end(t[thread], at, 8, kind, PT_HB_ACQ_REL, &sites[PLACES - 3]);
    } else {
        pt_race_window_sync(t[thread], kind & PT_CELL_READS, &sites[PLACES - 3]);
    }
    if (kind & PT_CELL_READS)
        take(thread, carries[object]);
    if (kind & PT_CELL_WRITES)
        put(thread, carries[object], kind & PT_CELL_READS);
}

static void step(unsigned syncs)
{
    unsigned thread = below(THREADS), what = below(100);
    if (what >= syncs)
        access(thread, below(GRANULES), 1 + below(2), below(200) ? below(OFTEN) : below(PLACES - 3));
    else if (what % 3 == 0)
        lock(thread, below(OBJECTS));
    else if (what % 3 == 1)
        other(thread, below(OBJECTS), below(2));
    else
        atomic(thread, below(OBJECTS), 1 + below(3));
}

static void reported_is_unordered(void **state)
{
    unsigned all = 0, changes = 0;
    (void)state;
    for (unsigned run = 0; run < RUNS; run++) {
        pt_race_passes = run & 1;
        begin(THREADS, 2 + below(3));
        unsigned syncs = below(5) * 10;
        for (unsigned i = 0; i < STEPS; i++)
            step(syncs);
        all += reported;
        changes += pt_race_windows;
        end(THREADS);
    }
    pt_race_passes = false;
    print_message("%u pairs, %u windows and gaps, %u locks that passed\n", all, changes, passed);
    assert_true(all > 10 * RUNS && changes > 10 * RUNS && passed > RUNS);
}

/* All is looked at while the window is open; it closes when a thread has made enough events at places it knows well,
 * and one that is new opens the next. */
static void rare_places_open(void **state)
{
    (void)state;
    begin(2, 1000);
    assert_true(is_open());
    unsigned looked = 0;
    while (access(0, 0, PT_CELL_READS, 0))
        looked++;
    assert_in_range(looked, EVENTS, EVENTS + PT_RACE_OFTEN);
    assert_false(is_open());
    assert_false(access(1, 0, PT_CELL_READS, 0));
    assert_true(access(1, 0, PT_CELL_READS, 1));
    assert_true(is_open());
    assert_true(access(0, 0, PT_CELL_READS, 0));
    end(2);
}

static void close(unsigned thread)
{
    while (access(thread, 0, PT_CELL_READS, 0))
        ;
    assert_false(is_open());
}

/* How many accesses of a place that runs often a window lasts that a rare one opens. */
static unsigned length_of(unsigned rare)
{
    unsigned length = 0;
    assert_false(is_open());
    assert_false(pt_race_choose(t[0], &sites[rare]));
    for (; is_open(); length++)
        assert_false(pt_race_choose(t[0], &sites[0]));
    return length;
}

/* The more of them rare places open, the shorter they are; and then each place opens fewer. */
static void windows_become_shorter(void **state)
{
    (void)state;
    begin(2, 1000);
    for (unsigned i = 0; i < PT_RACE_OFTEN; i++)
        assert_false(pt_race_choose(t[0], &sites[0]));
    while (is_open())
        assert_false(pt_race_choose(t[0], &sites[0]));
    unsigned first = length_of(1), last = 0;
    for (unsigned i = 0; i < 3 * PT_RACE_OFTEN; i++)
        last = length_of(2 + i / PT_RACE_OFTEN);
    unsigned times[40] = {0};
    for (unsigned place = 5; place < 40; place++)
        for (; !pt_race_is_often(&sites[place]); times[place]++)
            length_of(place);
    assert_in_range(times[5], 9, PT_RACE_OFTEN); /* the 64th window is one of these */
    assert_int_equal(times[7], 8);
    assert_int_equal(times[39], 4);
    assert_in_range(first, EVENTS - 2, EVENTS);
    assert_in_range(last, 16, 64);
    /* a long access counts for many */
    assert_false(pt_race_choose(t[0], &sites[40]));
    assert_true(is_open());
    pt_race_window_spend(t[0], 1 << 20);
    assert_false(pt_race_choose(t[0], &sites[0]));
    assert_false(is_open());
    end(2);
}

/* Stretches are asked about all their accesses in windows, in gaps about rare places alone, and of one thread alone
 * about nothing: what was answered in one gap is so in all of them. */
static void stretches_are_asked_in_windows(void **state)
{
    (void)state;
    begin(2, 1000);
    for (unsigned i = 0; i < 3; i++) {
        close(0);
        assert_int_equal(__portent_asks, PT_ASKS_RARE);
        assert_false(pt_race_choose(t[0], &sites[1 + i]));
        assert_true(is_open());
        assert_int_equal(__portent_asks, PT_ASKS_ALL);
    }
    pt_race_window_several(false);
    assert_int_equal(__portent_asks, PT_ASKS_NOBODY);
    pt_race_window_several(true);
    assert_int_equal(__portent_asks, PT_ASKS_ALL);
    close(0);
    pt_race_window_several(false);
    pt_race_window_several(true);
    assert_int_equal(__portent_asks, PT_ASKS_RARE);
    end(2);
}

/* And the bytes that their code looks at say so: of a module that is known, in windows and gaps. What is no longer rare
 * is asked in windows alone; what has left is written no more. */
static void what_is_asked_is_written_to_modules(void **state)
{
    (void)state;
    static struct {
        struct pt_asked head;
        uint8_t quiet[4];
    } module = {.head = {.count = 2}}, other = {.head = {.count = 2}};
    const uint8_t *quiet = module.head.quiet;
    begin(2, 1000);
    pt_race_asked_list(&module.head);
    pt_race_asked_list(&module.head);
    assert_true(quiet[0] == 0 && quiet[1] == 0);
    pt_race_asked_known(&module.head, 0, PT_ASKS_RARE); /* it was found in a gap, and a window has been opened since */
    assert_true(quiet[0] == 0 && quiet[1] == 0);
    close(0);
    assert_true(quiet[0] == 1 && quiet[1] == 0);
    assert_false(pt_race_choose(t[0], &sites[1]));
    assert_true(quiet[0] == 0 && quiet[1] == 0);
    pt_race_window_several(false);
    pt_race_asked_list(&other.head);
    assert_true(quiet[0] == 1 && quiet[1] == 1 && other.head.quiet[0] == 1);
    other.head.state = PT_ASKED_NEW; /* as where a child was forked in the middle of that */
    pt_race_asked_list(&other.head);
    pt_race_window_several(true);
    close(0);
    assert_true(quiet[0] == 1 && quiet[1] == 0);
    pt_race_asked_known(&module.head, 1, PT_ASKS_RARE);
    assert_true(quiet[1] == 1);
    pt_race_asked_leave(&other.head);
    memset(other.head.quiet, 5, 2);
    assert_false(pt_race_choose(t[0], &sites[2]));
    assert_true(quiet[0] == 0 && quiet[1] == 0 && other.head.quiet[0] == 5);
    close(0);
    assert_true(quiet[0] == 1 && quiet[1] == 1 && other.head.quiet[0] == 5);
    pt_race_asked_leave(&module.head); /* threads may go on in it */
    assert_true(quiet[0] == 0 && quiet[1] == 0);
    pt_race_asked_known(&module.head, 1, PT_ASKS_RARE);
    pt_race_asked_list(&module.head);
    assert_true(quiet[1] == 0 && module.head.state == PT_ASKED_LEFT);
    end(2);
}

/* Writes of two windows, with nothing between them that could order them, race; a lock that the second thread takes
 * may. */
static void windows_apart(void **state)
{
    (void)state;
    for (unsigned locks = 0; locks < 2; locks++) {
        begin(2, 1000);
        for (unsigned i = 0; i < PT_RACE_OFTEN && locks; i++) { /* so that it opens no window */
            lock(0, 0);
            lock(1, 1);
        }
        access(0, 1, PT_CELL_WRITES, 1);
        close(0);
        if (locks)
            lock(1, 0);
        assert_int_equal(reported, 0);
        assert_true(access(1, 1, PT_CELL_WRITES, 2));
        assert_int_equal(reported, locks ? 0 : 1);
        end(2);
    }
}

/* A lock goes from thread 1 to 2, which ends, and then to 3, all in one window: 3 takes what was in earlier ones for
 * known at that moment, the end of 2 among it, and knows of 1 all the same. */
static void who_ends_in_a_window_hands_on(void **state)
{
    (void)state;
    begin(4, 1000);
    close(0);
    assert_true(access(1, 1, PT_CELL_WRITES, 1));
    assert_true(is_open());
    for (unsigned thread = 1; thread <= 2; thread++) {
        lock(thread, 0);
        assert_true(thread == 2 || access(1, 2, PT_CELL_WRITES, 2));
        lock(thread, 0);
    }
    pt_race_end(t[2]);
    pt_race_release(t[2]);
    lock(3, 0);
    assert_true(is_open());
    assert_true(access(3, 2, PT_CELL_WRITES, 3));
    assert_int_equal(reported, 0);
    for (unsigned i = 0; i < 4; i++) {
        if (i == 2)
            continue;
        pt_race_end(t[i]);
        pt_race_release(t[i]);
    }
}

/* A thread that goes on synchronising opens a window now and then: less and less often, and in the long run so that one
 * event in N is in a window. */
static void synchronisation_opens(void **state)
{
    enum { RATE = 50, TURNS = 2000000 };
    unsigned early = 0, late = 0;
    (void)state;
    begin(2, RATE);
    for (unsigned i = 0; i < TURNS; i++) {
        bool opened = is_open();
        lock(0, 0);
        early += opened && i < TURNS / 20;
        late += opened && i >= TURNS / 2;
    }
    double early_share = early / (TURNS / 20.0), late_share = late / (TURNS / 2.0);
    print_message("in windows: %.3f at first, %.3f then\n", early_share, late_share);
    assert_true(early_share > 2 * late_share);
    assert_true(late_share > 0.3 / RATE && late_share < 1.5 / RATE); /* two threads: the other one could, too */
    end(2);
}

/* A thread begins in a window if few were created there. */
static void threads_open(void **state)
{
    (void)state;
    begin(1, 1000);
    for (unsigned i = 0; i < 2 * PT_RACE_OFTEN; i++) {
        t[1] = pt_race_begin(i + 1, t[0], &sites[0]);
        close(0);
        pt_race_window_begun(t[1]);
        assert_int_equal(is_open(), i < 1);
        pt_race_join(t[0], t[1]);
        pt_race_end(t[1]);
        pt_race_release(t[1]);
    }
    end(1);
}

static int start(void **state)
{
    (void)state;
    return start_races(sites, PLACES, on_found) ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reported_is_unordered),
                                       cmocka_unit_test(rare_places_open),
                                       cmocka_unit_test(stretches_are_asked_in_windows),
                                       cmocka_unit_test(what_is_asked_is_written_to_modules),
                                       cmocka_unit_test(windows_become_shorter),
                                       cmocka_unit_test(windows_apart),
                                       cmocka_unit_test(who_ends_in_a_window_hands_on),
                                       cmocka_unit_test(synchronisation_opens),
                                       cmocka_unit_test(threads_open)};
    return cmocka_run_group_tests(tests, start, NULL);
}
