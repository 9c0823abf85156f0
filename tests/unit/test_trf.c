/* What predict/trf.c keeps is closed after every event, and pt_trf_is_open says what the sections themselves say. No
 * answer of a check depends on either, since every question closes its set again; but its cost does. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_closed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
