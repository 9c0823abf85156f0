/*
 * Random runs for tests of the race engine beside exact cells (race_exact.h): in each round thread 0 writes and reads,
 * by single accesses and in loops; then the others, who know that, read, in several regions, and publish it but for a
 * few; some end, and others begin; and then thread 0 takes what was published. In some runs readers write, too.
 */
#ifndef PT_TESTS_UNIT_RACE_ROUNDS_H
#define PT_TESTS_UNIT_RACE_ROUNDS_H

#include "race_exact.h"

enum { LIVE = 16, WROTE = 0, READ = 1, NOBODY = 2 }; /* objects: what is published there */

static unsigned live[LIVE], lives;
static unsigned careless;   /* one of so many accesses of a reader writes; 0: none does */
static bool (*judge)(void); /* after each access; true: the run ends */

static bool access_any(unsigned thread, unsigned kind)
{
    static const size_t sizes[] = {1, 2, 4, 8, 8, 8, 16, 3, 5, 7, 11, 24, 40, 64, 100};
    size_t size = sizes[below(sizeof sizes / sizeof *sizes)];
    uintptr_t from = (uintptr_t)memory + below(8 * GRANULES - (unsigned)size + 1);
    if (below(2))
        from &= ~(uintptr_t)7;
    unsigned place = below(PLACES);
    if (kind == PT_CELL_WRITES && size <= 8 && place % 2 && peek_both(thread, from, size, place) && judge())
        return true;
    access_both(thread, from, size, kind, place);
    return judge();
}

/* Elements of one size, one after the other, at one place or at two in turn. */
static bool loop_any(unsigned thread, unsigned kind)
{
    unsigned size = 1u << below(4), first = below(GRANULES / 2), place = below(PLACES), other = below(PLACES);
    unsigned count = (2 + below(GRANULES / 2 - 2)) * 8 / size, places = 1 + (below(3) == 0);
    for (unsigned i = 0; i < count * places; i++) {
        uintptr_t from = (uintptr_t)&memory[first] + (uintptr_t)(i / places) * size;
        access_both(thread, from, size, kind, i % places ? other : place);
        if (judge())
            return true;
    }
    return false;
}

static bool some_access(unsigned thread, unsigned kind)
{
    return below(2) ? access_any(thread, kind) : loop_any(thread, kind);
}

/* A thread ends, known to thread 0 or not; another begins. */
static void one_ends(void)
{
    unsigned i = 1 + below(lives - 1), old = live[i];
    if (threads == THREADS)
        return;
    if (below(2))
        release(old, READ);
    end_thread(old, below(3));
    live[i] = threads++;
    begin_thread(live[i]);
}

static bool read_some(unsigned reader)
{
    acquire(reader, WROTE);
    for (unsigned i = 1 + below(6); i > 0; i--) {
        if (some_access(reader, careless && below(careless) == 0 ? PT_CELL_WRITES : PT_CELL_READS))
            return true;
        if (below(3) == 0)
            release(reader, NOBODY);
    }
    if (!careless || below(40))
        release(reader, READ);
    return false;
}

static bool play_round(void)
{
    for (unsigned i = below(12); i > 0; i--)
        if (some_access(0, below(3) ? PT_CELL_WRITES : PT_CELL_READS))
            return true;
    if (below(8) == 0) {
        unsigned count = 1 + below(4);
        forget_both(0, below(GRANULES - 4), count, below(PLACES));
        if (judge())
            return true;
    }
    release(0, WROTE);
    for (unsigned i = below(3 * lives); i > 0; i--) {
        if (read_some(live[1 + below(lives - 1)]))
            return true;
        if (below(6) == 0)
            one_ends();
    }
    acquire(0, READ);
    return false;
}

/* Whether it was ended by judge. The threads are still there. */
static bool play_run(uint64_t seed, unsigned rounds)
{
    test_seed = seed;
    threads = lives = 3 + below(LIVE - 3);
    for (unsigned i = 0; i < lives; i++)
        live[i] = i;
    begin_threads();
    careless = below(3) ? 0 : 1 + below(300);
    for (unsigned i = 1 + below(rounds); i > 0; i--)
        if (play_round())
            return true;
    return access_any(live[below(lives)], PT_CELL_WRITES);
}

#endif
