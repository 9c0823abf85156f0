/*
 * Threads that truly run at once read and write what several have read before (runtime/race/common.c): whoever of them
 * comes first, each unordered pair is told.
 */
#include <pthread.h>
#include <stdio.h>

#include "race_hooks.h"
#include "race_util.h"
#include "runtime/race/fast.h"

enum { READERS = 2, WRITER = READERS + 1, ROUNDS = 40000, FIRST = 1, AGAIN = 2, WRITE = 3, SITES = 4 };

static struct pt_site sites[SITES];
static struct pt_race_self *t[WRITER + 1];
static uint64_t memory[ROUNDS], objects[WRITER + 1];
static pthread_barrier_t barrier;
static _Atomic bool told[WRITER]; /* of this reader's second read and the write */
static _Atomic unsigned wrong;

static void on_found(const struct pt_found *found, uint64_t asked_for)
{
    (void)asked_for;
    const struct pt_found_side *read = &found->sides[0], *write = &found->sides[1];
    if (read->thread - 1 == WRITER) {
        read = &found->sides[1];
        write = &found->sides[0];
    }
    if (write->thread - 1 == WRITER && write->stack.sites[0] == &sites[WRITE] && read->stack.sites[0] == &sites[AGAIN])
        told[read->thread - 1] = true;
    else
        wrong++;
}

static void access(unsigned thread, unsigned at, unsigned kind, unsigned site)
{
    pt_race_plain(t[thread], (uintptr_t)&memory[at], 8, kind, &sites[site]);
}

/* Both have read it; the writer knows that, and not that they are about to do so again. */
static void prepare(unsigned at)
{
    for (unsigned reader = 1; reader <= READERS; reader++)
        access(reader, at, PT_CELL_READS, FIRST);
    for (unsigned reader = 1; reader <= READERS; reader++) {
        told[reader] = false;
        pt_race_sync(t[reader], (uintptr_t)&objects[reader], PT_KIND_NOTIFY, NULL);
        pt_race_sync(t[WRITER], (uintptr_t)&objects[reader], PT_KIND_WAIT, NULL);
    }
}

static void *play(void *argument)
{
    unsigned thread = (unsigned)(uintptr_t)argument;
    for (unsigned round = 0; round < ROUNDS; round++) {
        if (thread == WRITER)
            prepare(round);
        pthread_barrier_wait(&barrier);
        for (volatile unsigned wait = (round * 7 + thread * 13) % 40; wait > 0; wait--)
            ;
        if (thread == WRITER)
            access(thread, round, PT_CELL_WRITES, WRITE);
        else
            access(thread, round, PT_CELL_READS, AGAIN);
        pthread_barrier_wait(&barrier);
        if (thread == WRITER)
            for (unsigned reader = 1; reader <= READERS; reader++)
                wrong += !told[reader];
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void test_at_once(void **state)
{
    (void)state;
    pthread_t threads[WRITER + 1];
    for (uintptr_t i = 1; i <= WRITER; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, play, (void *)i), 0);
    for (unsigned i = 1; i <= WRITER; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(wrong, 0);
}

static int start(void **state)
{
    (void)state;
    if (!start_races(sites, SITES, on_found) || pthread_barrier_init(&barrier, NULL, WRITER))
        return -1;
    for (unsigned i = 0; i <= WRITER; i++)
        t[i] = pt_race_begin(i, i ? t[0] : NULL, &sites[0]);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_at_once)};
    return cmocka_run_group_tests(tests, start, NULL);
}
