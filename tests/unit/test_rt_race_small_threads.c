/*
 * Threads that truly run at once, in the race engine with little room (PT_RACE_SMALL): they read in loops what they
 * have all read before, while one writes it, or ends it, who knows of the first reads only. Each reader is told to race
 * with it, and of no read before that; and no row or link of a chain is left in use in the end.
 */
#include <pthread.h>
#include <sched.h>

#include "race_hooks.h"
#include "race_util.h"
#include "runtime/race/fast.h"

enum { READERS = 3, WRITER = READERS, PLAYERS, GRANULES = 40, ROUNDS = 4000, SITES = 4, FIRST = 1, AGAIN, WRITE };

static struct pt_site sites[SITES];
static struct pt_race_self *t[PLAYERS], *first;
static uint32_t numbers[PLAYERS]; /* of these threads */
static uint64_t memory[GRANULES], objects[PLAYERS], written;
static pthread_barrier_t barrier;
static _Atomic bool told[READERS];
static _Atomic unsigned wrong, silent, ready;

static bool is_at(const struct pt_found_side *side, unsigned site)
{
    return side->stack.sites[0] == &sites[site] || !strcmp(side->stack.sites[0]->function, "[place lost]");
}

static void on_found(const struct pt_found *found, uint64_t asked_for)
{
    (void)asked_for;
    bool swapped = found->sides[0].thread - 1 == numbers[WRITER];
    const struct pt_found_side *read = &found->sides[swapped], *write = &found->sides[!swapped];
    wrong += write->thread - 1 != numbers[WRITER] || !is_at(read, AGAIN) || !is_at(write, WRITE);
    for (unsigned i = 0; i < READERS; i++)
        if (read->thread - 1 == numbers[i])
            told[i] = true;
}

/* All of it, by elements of a size that each round has its own of. */
static void access_all(unsigned player, unsigned round, unsigned kind, unsigned site)
{
    unsigned size = 1u << (2 + round % 2), count = GRANULES * 8 / size;
    uintptr_t from = (uintptr_t)memory;
    if (round % 8 == 7 && kind == PT_CELL_READS) {
        pt_race_access(t[player], from, sizeof memory, kind, &sites[site]);
        return;
    }
    for (unsigned i = 0; i < count; i++)
        pt_race_plain(t[player], from + (uintptr_t)i * size, size, kind, &sites[site]);
}

static void notify(unsigned player, uint64_t *object)
{
    pt_race_sync(t[player], (uintptr_t)object, PT_KIND_NOTIFY, NULL);
}

static void wait_for(unsigned player, uint64_t *object)
{
    pt_race_sync(t[player], (uintptr_t)object, PT_KIND_WAIT, NULL);
}

/* Nothing is known of the memory; the readers read it at once, and then the writer knows that. */
static void prepare(unsigned player, unsigned round)
{
    if (player == WRITER) {
        pt_race_discard(t[player], (uintptr_t)memory, (uintptr_t)(memory + GRANULES));
        notify(player, &written);
    }
    pthread_barrier_wait(&barrier);
    if (player != WRITER) {
        wait_for(player, &written);
        access_all(player, round, PT_CELL_READS, FIRST);
        notify(player, &objects[player]);
        told[player] = false;
    }
    pthread_barrier_wait(&barrier);
    for (unsigned i = 0; i < READERS && player == WRITER; i++)
        wait_for(player, &objects[i]);
    pthread_barrier_wait(&barrier);
}

/* Another thread plays on. */
static void replace(unsigned player)
{
    uint32_t number = numbers[player] + PLAYERS;
    pt_race_end(t[player]);
    pt_race_release(t[player]);
    t[player] = pt_race_begin(number, NULL, &sites[0]);
    numbers[player] = number;
}

/* Who waits at a barrier is woken late; so those that are about to begin wait for each other once more, and do not
 * sleep. */
static void start_together(unsigned player, unsigned round)
{
    ready++;
    while (ready < (round + 1) * PLAYERS)
        sched_yield();
    for (volatile unsigned wait = (round * 7 + player * 13) % 40; wait > 0; wait--)
        ;
}

static void *play(void *argument)
{
    unsigned player = (unsigned)(uintptr_t)argument;
    for (unsigned round = 0; round < ROUNDS; round++) {
        prepare(player, round);
        start_together(player, round);
        if (player != WRITER)
            access_all(player, round, PT_CELL_READS, AGAIN);
        else if (round % 3)
            access_all(player, round, PT_CELL_WRITES, WRITE);
        else
            pt_race_free(t[player], (uintptr_t)memory, (uintptr_t)(memory + GRANULES), &sites[WRITE]);
        pthread_barrier_wait(&barrier);
        if (player != WRITER)
            silent += !told[player];
        if (round % 16 == 4 * player)
            replace(player);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void test_at_once(void **state)
{
    (void)state;
    pthread_t threads[PLAYERS];
    for (uintptr_t i = 0; i < PLAYERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, play, (void *)i), 0);
    for (unsigned i = 0; i < PLAYERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(wrong, 0);
    assert_int_equal(silent, 0);
    pt_race_discard(first, (uintptr_t)memory, (uintptr_t)(memory + GRANULES));
    for (unsigned i = 0; i < PLAYERS; i++) {
        pt_race_end(t[i]);
        pt_race_release(t[i]);
    }
}

static int start(void **state)
{
    (void)state;
    if (!start_races(sites, SITES, on_found) || pthread_barrier_init(&barrier, NULL, PLAYERS))
        return -1;
    first = pt_race_begin(0, NULL, &sites[0]);
    for (unsigned i = 0; i < PLAYERS; i++) {
        numbers[i] = i + 1;
        t[i] = pt_race_begin(numbers[i], first, &sites[0]);
    }
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_at_once)};
    return cmocka_run_group_tests(tests, start, NULL);
}
