/* What predict/trf.c keeps is closed after every event, and pt_trf_is_open says what the sections themselves say. No
 * answer of a check depends on either, since every question closes its set again; but its cost does. And who forgets
 * sections and threads that all others know answers like who does not. */
#include "trace_util.h"

#include <stdio.h>

#include "engine/races.h"
#include "predict/trf.h"

enum { THREADS = 4, LOCKS = 3, VARS = 2, EVENTS = 60, RUNS = 300, TEXT = 16384 };

static uint32_t random_below(uint64_t *seed, uint32_t most)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33) % most;
}

/* A run in which threads take and release locks in any order, one at a time each, and read and write variables. */
static void make_run(uint64_t seed, char *text)
{
    uint32_t owner[LOCKS] = {0}, len = 0;
    for (int i = 0; i < EVENTS; i++) {
        uint32_t thread = random_below(&seed, THREADS), lock = random_below(&seed, LOCKS),
                 what = random_below(&seed, 5);
        const char *op = what == 0 ? "r" : "w";
        uint32_t object = random_below(&seed, VARS);
        if (what > 1 && owner[lock] && owner[lock] != thread + 1)
            continue;
        if (what > 1) {
            op = owner[lock] ? "rel" : "acq";
            object = lock;
            owner[lock] = owner[lock] ? 0 : thread + 1;
        }
        len += (uint32_t)snprintf(text + len, TEXT - len, "T%u|%s(o%u)|a.c:%d\n", thread, op, object, i);
    }
}

/* By all sections of the thread. */
static bool is_open(const struct pt_trf_thread *t, uint64_t upto)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (t->sections[i].acquired <= upto && (!t->sections[i].released || t->sections[i].released > upto))
            return true;
    return false;
}

static uint32_t check(const struct pt_trf *trf)
{
    uint32_t opened = 0;
    for (uint32_t i = 0; i < trf->thread_count; i++) {
        uint64_t set[THREADS + PT_VEC_CHUNK] = {0}, closed[THREADS + PT_VEC_CHUNK];
        const struct pt_trf_thread *t = &trf->threads[i];
        for (uint64_t upto = 0; upto < t->hb.clock; upto++)
            assert_int_equal(pt_trf_is_open(trf, i, upto), is_open(t, upto));
        pt_trf_include(set, i, t->hb.clock - 1, t->hb.past);
        memcpy(closed, set, sizeof set);
        assert_true(pt_trf_close(trf, closed));
        assert_memory_equal(closed, set, sizeof set);
        for (uint32_t k = 0; k < trf->thread_count; k++)
            opened += k != i && is_open(&trf->threads[k], set[k]);
    }
    return opened;
}

static void test_closed(void **state)
{
    (void)state;
    static char text[TEXT];
    uint32_t opened = 0;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        struct pt_names names;
        struct pt_event event;
        struct pt_err err;
        struct races_pool pool = {0};
        struct pt_race_memory memory = pt_races_memory(&pool);
        struct pt_trf trf;
        make_run(seed, text);
        pt_names_init(&names);
        pt_trf_begin(&trf, &names, &memory);
        struct pt_source *source = pt_source_from_memory("test.trace", text, strlen(text), &names);
        while (pt_source_next(source, &event, &err) == PT_READ_EVENT) {
            pt_trf_event(&trf, &event);
            opened += check(&trf);
        }
        pt_source_free(source);
        pt_trf_end(&trf);
        pt_races_memory_release(&pool);
        pt_names_release(&names);
    }
    assert_true(opened > RUNS); /* there were such cases */
}

/* ---- threads that come and go ---- */

enum { COMING = 40, AT_A_TIME = 2, STEPS = 300, SELDOM = 12 }; /* of many variables: some are read late */

struct coming {
    uint32_t alive[AT_A_TIME + 1], count, started; /* thread 0 starts and joins the others */
    uint32_t owner[LOCKS];
};

static bool holds_any(const struct coming *c, uint32_t thread)
{
    for (uint32_t i = 0; i < LOCKS; i++)
        if (c->owner[i] == thread + 1)
            return true;
    return false;
}

/* A line of a run; its length. */
static uint32_t make_line(struct coming *c, uint64_t *seed, char *text, uint32_t room)
{
    uint32_t at = random_below(seed, c->count), thread = c->alive[at], what = random_below(seed, 6);
    uint32_t lock = random_below(seed, LOCKS), var = random_below(seed, SELDOM);
    if (c->count <= AT_A_TIME && c->started < COMING && random_below(seed, 3) == 0) {
        c->alive[c->count++] = ++c->started;
        return (uint32_t)snprintf(text, room, "T0|fork(T%u)|a.c:1\n", c->started);
    }
    if (thread && what == 0 && (!holds_any(c, thread) || random_below(seed, 20) == 0)) {
        c->alive[at] = c->alive[--c->count];
        return (uint32_t)snprintf(text, room, "T0|join(T%u)|a.c:2\n", thread);
    }
    if (what < 3 || (c->owner[lock] && c->owner[lock] != thread + 1))
        return (uint32_t)snprintf(text, room, "T%u|%s(x%u)|a.c:3\n", thread, what == 1 ? "r" : "w", var);
    c->owner[lock] = c->owner[lock] ? 0 : thread + 1;
    return (uint32_t)snprintf(text, room, "T%u|%s(l%u)|a.c:4\n", thread, c->owner[lock] ? "acq" : "rel", lock);
}

/* The closure of what the next events of two threads need is the same. */
static void compare(const struct pt_trf *all, const struct pt_trf *few, uint32_t a, uint32_t b)
{
    uint64_t whole[COMING + 1 + PT_VEC_CHUNK] = {0}, part[COMING + 1 + PT_VEC_CHUNK];
    const struct pt_hb_thread *one = &all->threads[a].hb, *two = &all->threads[b].hb;
    memset(part, 0xff, sizeof part); /* what nobody may look at */
    pt_trf_include(whole, a, one->clock - 1, one->past);
    pt_trf_include(whole, b, two->clock - 1, two->past);
    one = &few->threads[a].hb;
    two = &few->threads[b].hb;
    pt_trf_begin_set(few, part, a, one->clock - 1, one->past);
    pt_trf_add(few, part, b, two->clock - 1, two->past);
    bool possible = pt_trf_close(all, whole);
    assert_int_equal(pt_trf_close(few, part), possible);
    pt_trf_complete(few, part);
    for (uint32_t i = 0; possible && i < all->thread_count; i++)
        assert_int_equal(part[i], whole[i]);
}

/* T2 is settled before T3 reads what T1 wrote in an older section, which then has to end: the lock itself knows why. */
static const char known_to_all[] = "T0|fork(T1)|a\nT0|fork(T2)|a\nT0|fork(T3)|a\n"
                                   "T1|acq(l)|a\nT1|w(x)|a\nT1|rel(l)|a\nT2|acq(l)|a\nT2|rel(l)|a\nT2|w(p)|a\n"
                                   "T1|r(p)|a\nT3|r(p)|a\nT0|join(T2)|a\nT1|w(y)|a\nT3|r(x)|a\nT3|w(y)|a\n";

static void test_settled(void **state)
{
    (void)state;
    static char text[TEXT];
    uint32_t settled = 0, sparse = 0;
    for (uint64_t seed = 0; seed <= RUNS; seed++) {
        struct coming c = {.count = 1};
        struct pt_names names;
        struct pt_event event;
        struct pt_err err;
        struct races_pool pool = {0};
        struct pt_race_memory memory = pt_races_memory(&pool);
        struct pt_trf all, few;
        uint64_t random = seed;
        memcpy(text, known_to_all, sizeof known_to_all);
        for (uint32_t i = 0, len = 0; seed && i < STEPS; i++)
            len += make_line(&c, &random, text + len, TEXT - len);
        pt_names_init(&names);
        pt_trf_begin(&all, &names, &memory);
        pt_trf_begin(&few, &names, &memory);
        few.forgets = few.settles = true;
        struct pt_source *source = pt_source_from_memory("test.trace", text, strlen(text), &names);
        while (pt_source_next(source, &event, &err) == PT_READ_EVENT) {
            few.settle_at = few.prune_at = 1;
            pt_trf_event(&all, &event);
            pt_trf_event(&few, &event);
            for (uint32_t a = 0; a < all.thread_count; a++)
                for (uint32_t b = 0; b < a; b++)
                    if (!all.threads[a].ended && !all.threads[b].ended)
                        compare(&all, &few, a, b);
            sparse += pt_trf_is_sparse(&few);
        }
        for (uint32_t i = 0; i < few.thread_count; i++)
            settled += few.threads[i].settled;
        pt_source_free(source);
        pt_trf_end(&all);
        pt_trf_end(&few);
        pt_races_memory_release(&pool);
        pt_names_release(&names);
    }
    assert_true(settled > RUNS && sparse > RUNS); /* there were such cases */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_closed), cmocka_unit_test(test_settled)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
