/*
 * The logs of the race engine: what is told of an access that is no longer in one, logs of threads that have ended, and
 * real threads that hand granules to each other.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "core/channel.h"
#include "race_util.h"
#include "runtime/race/race.h"

enum { WORKERS = 4, LOCKS = 6, EACH = 8, PLACES = 10, ROUNDS = 6000, LAST = PLACES, SITES };

static struct pt_site sites[SITES];
static struct pt_race_self *t[WORKERS + 1];
static uint64_t one, other, many[PT_RACE_LOG_RING];
static char guard[8], guards[LOCKS][8];

/* What was told of the earlier access, of which granule. */
static struct {
    unsigned count, lost;
    uint32_t thread;
    const struct pt_site *site;
    uint64_t address, size;
    uint32_t kind;
} told;
static bool (*expected)(uintptr_t granule, uint64_t thread, const struct pt_site *site);
static unsigned unexpected;

static bool is_new(uint64_t key)
{
    return key != 0;
}
static uint64_t asked(uintptr_t granule, unsigned bytes, uint32_t first, uint32_t second)
{
    (void)granule, (void)bytes, (void)first, (void)second;
    return PT_RACE_CHECK;
}
static uint64_t apart(uintptr_t address, bool element, uint32_t first, uint32_t second)
{
    (void)address, (void)element, (void)first, (void)second;
    return 0;
}
static void on_found(const struct pt_found *found, uint64_t asked_for)
{
    (void)asked_for;
    told.count++;
    told.thread = (uint32_t)found->sides[0].thread - 1;
    told.site = found->sides[0].stack.sites[0];
    told.lost += found->sides[0].stack.lost;
    told.address = found->sides[0].address;
    told.size = found->sides[0].size;
    told.kind = found->sides[0].kind;
    if (expected && !expected((uintptr_t)found->address & ~(uintptr_t)7, told.thread, told.site))
        unexpected++;
}

static void begin(unsigned threads)
{
    for (unsigned i = 0; i < threads; i++)
        t[i] = pt_race_begin(i, i ? t[0] : NULL, &sites[0]);
    memset(&told, 0, sizeof told);
}
static void end(unsigned threads)
{
    for (unsigned i = 0; i < threads; i++)
        pt_race_end(t[i]);
    for (unsigned i = 0; i < threads; i++)
        pt_race_release(t[i]);
    pt_race_restart();
}

static void access_at(struct pt_race_self *self, const void *at, unsigned size, unsigned kind, unsigned place)
{
    pt_race_plain(self, (uintptr_t)at, size, kind, &sites[place]);
}

/* So many accesses that nothing of before is in the log. */
static void fill_log(struct pt_race_self *self)
{
    for (unsigned i = 0; i < PT_RACE_LOG_RING; i++)
        access_at(self, &many[i], 8, PT_RACE_WRITE, 1);
}

/* Of the last access of a granule it is told whose it was, of which bytes and of which kind; where it was is lost. */
static void test_place_lost(void **state)
{
    (void)state;
    begin(2);
    access_at(t[0], (char *)&one + 4, 2, PT_RACE_WRITE, 2);
    access_at(t[0], &other, 8, PT_RACE_READ, 3);
    fill_log(t[0]);
    access_at(t[1], &one, 4, PT_RACE_WRITE, 4); /* other bytes */
    assert_int_equal(told.count, 0);
    access_at(t[1], &other, 8, PT_RACE_WRITE, 4);
    assert_int_equal(told.count, 1);
    assert_int_equal(told.kind, PT_KIND_READ_AT);
    access_at(t[1], (char *)&one + 4, 1, PT_RACE_READ, 4);
    assert_int_equal(told.count, 2);
    assert_int_equal(told.lost, 2);
    assert_int_equal(told.thread, 0);
    assert_string_equal(told.site->function, "[place lost]");
    assert_int_equal(told.address, (uintptr_t)&one + 4);
    assert_int_equal(told.size, 2);
    assert_int_equal(told.kind, PT_KIND_WRITE_AT);
    end(2);
}

/* What comes before by a lock does so also where its place is lost; what reads a lost write in a race learns of it. */
static void test_lost_and_ordered(void **state)
{
    (void)state;
    begin(2);
    access_at(t[0], &one, 8, PT_RACE_WRITE, 2);
    fill_log(t[0]);
    pt_race_sync(t[0], (uintptr_t)guard, PT_KIND_ACQ, NULL);
    pt_race_sync(t[0], (uintptr_t)guard, PT_KIND_REL, NULL);
    pt_race_sync(t[1], (uintptr_t)guard, PT_KIND_ACQ, NULL);
    access_at(t[1], &one, 8, PT_RACE_WRITE, 4);
    assert_int_equal(told.count, 0);
    end(2);

    begin(2);
    access_at(t[0], &other, 8, PT_RACE_READ, 3);
    access_at(t[0], &one, 8, PT_RACE_WRITE, 2);
    fill_log(t[0]);
    access_at(t[1], &one, 8, PT_RACE_READ, 4);
    assert_int_equal(told.count, 1);
    access_at(t[1], &other, 8, PT_RACE_WRITE, 4); /* after what it has read of the write */
    assert_int_equal(told.count, 1);
    end(2);
}

/* What came before the last access may have raced with one that comes now, if its slot is gone: nothing is told, and
 * nobody may say that there is no race. Who comes after it in any case is not concerned. */
static void test_before_lost(void **state)
{
    static struct pt_channel channel;
    (void)state;
    begin(3);
    pt_channel = &channel;
    for (unsigned i = 0; i < 2; i++) {
        access_at(t[0], i ? &other : &one, 8, PT_RACE_WRITE, 2);
        pt_race_sync(t[0], (uintptr_t)guard, PT_KIND_ACQ, NULL);
        pt_race_sync(t[0], (uintptr_t)guard, PT_KIND_REL, NULL);
        pt_race_sync(t[1], (uintptr_t)guard, PT_KIND_ACQ, NULL);
        access_at(t[1], i ? &other : &one, 8, PT_RACE_READ, 3);
        pt_race_sync(t[1], (uintptr_t)guard, PT_KIND_REL, NULL);
        if (i == 0)
            fill_log(t[0]);
    }
    pt_race_sync(t[0], (uintptr_t)guard, PT_KIND_ACQ, NULL);
    access_at(t[0], &one, 8, PT_RACE_READ, 4);
    assert_int_equal(atomic_load(&channel.dropped), 0);
    access_at(t[2], &other, 8, PT_RACE_READ, 5); /* that write is in the log */
    assert_int_equal(told.count, 1);
    assert_int_equal(atomic_load(&channel.dropped), 0);
    end(3);

    begin(3);
    access_at(t[0], &one, 8, PT_RACE_WRITE, 2);
    pt_race_sync(t[0], (uintptr_t)guard, PT_KIND_ACQ, NULL);
    pt_race_sync(t[0], (uintptr_t)guard, PT_KIND_REL, NULL);
    pt_race_sync(t[1], (uintptr_t)guard, PT_KIND_ACQ, NULL);
    access_at(t[1], &one, 8, PT_RACE_READ, 3);
    fill_log(t[0]);
    access_at(t[2], &one, 8, PT_RACE_READ, 5);
    assert_int_equal(told.count, 0);
    assert_int_equal(atomic_load(&channel.dropped), 1);
    pt_channel = NULL;
    end(3);
}

/* Places that are in the log are told, however many accesses there were of other granules. */
static void test_place_kept(void **state)
{
    (void)state;
    begin(2);
    access_at(t[0], &one, 8, PT_RACE_WRITE, 2);
    for (unsigned i = 0; i < PT_RACE_LOG_RING / 2; i++)
        access_at(t[0], &many[i], 8, PT_RACE_WRITE, 1);
    for (unsigned turn = 0; turn < 10 * PT_RACE_LOG_RING; turn++) /* what is repeated takes no room */
        access_at(t[0], &many[turn % 2], 8, PT_RACE_WRITE, 1);
    access_at(t[1], &one, 8, PT_RACE_READ, 4);
    assert_int_equal(told.count, 1);
    assert_int_equal(told.lost, 0);
    assert_ptr_equal(told.site, &sites[2]);
    end(2);
}

/* Logs of threads that have ended go, the first first; that these have accessed something is still told. */
static void test_ended(void **state)
{
    enum { THREADS = 8 };
    static uint64_t own[THREADS][PT_RACE_LOG_RING];
    struct pt_race_self *ended;
    (void)state;
    begin(1);
    for (unsigned i = 1; i <= THREADS; i++) {
        ended = pt_race_begin(i, t[0], &sites[0]);
        access_at(ended, &many[i], 8, PT_RACE_WRITE, 2);
        for (unsigned k = 0; k < PT_RACE_LOG_RING - 4096; k++)
            access_at(ended, &own[i - 1][k], 8, PT_RACE_READ, 1);
        pt_race_end(ended);
        pt_race_release(ended);
    }
    assert_int_equal(told.count, 0);
    for (unsigned i = 1; i <= THREADS; i++) {
        memset(&told, 0, sizeof told);
        access_at(t[0], &many[i], 8, PT_RACE_READ, 4);
        assert_int_equal(told.count, 1);
        assert_int_equal(told.thread, i);
        assert_int_equal(told.lost, i <= THREADS / 2);
    }
    end(1);
}

/* ---- real threads ---- */

static uint64_t shared[LOCKS][EACH];
static bool made[LOCKS][EACH][WORKERS + 1][SITES];
static pthread_mutex_t mutexes[LOCKS];

static bool was_made(uintptr_t granule, uint64_t thread, const struct pt_site *site)
{
    size_t at = (granule - (uintptr_t)shared) / 8;
    return at < LOCKS * EACH && made[at / EACH][at % EACH][thread][site - sites];
}

static void *work(void *argument)
{
    unsigned me = (unsigned)(uintptr_t)argument;
    uint64_t random = me * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (unsigned round = 0; round < ROUNDS; round++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        unsigned lock = (unsigned)(random >> 33) % LOCKS;
        pthread_mutex_lock(&mutexes[lock]);
        pt_race_sync(t[me], (uintptr_t)guards[lock], PT_KIND_ACQ, NULL);
        for (unsigned i = 0; i < 12; i++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
            unsigned at = (unsigned)(random >> 33) % EACH, place = (unsigned)(random >> 40) % PLACES;
            unsigned size = 1u << (random >> 50) % 4, offset = (unsigned)(random >> 55) % 8 & ~(size - 1);
            made[lock][at][me][place] = true;
            access_at(t[me], (char *)&shared[lock][at] + offset, size, random >> 60 & 1 ? PT_RACE_WRITE : PT_RACE_READ,
                      place);
        }
        pt_race_sync(t[me], (uintptr_t)guards[lock], PT_KIND_REL, NULL);
        pthread_mutex_unlock(&mutexes[lock]);
    }
    return NULL;
}

/* Granules that locks guard never race, whoever has them next; then one who has no lock comes, and of each granule a
 * race is told, of accesses that were made. */
static void test_real_threads(void **state)
{
    pthread_t threads[WORKERS];
    (void)state;
    begin(WORKERS + 1);
    for (unsigned i = 0; i < LOCKS; i++)
        pthread_mutex_init(&mutexes[i], NULL);
    for (unsigned i = 0; i < WORKERS; i++)
        pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)(i + 1));
    for (unsigned i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(told.count, 0);
    expected = was_made;
    for (unsigned i = 0; i < LOCKS * EACH; i++) {
        unsigned before = told.count;
        access_at(t[0], &shared[i / EACH][i % EACH], 8, PT_RACE_WRITE, LAST);
        assert_true(told.count > before);
    }
    assert_int_equal(unexpected, 0);
    assert_int_equal(told.lost, 0);
    expected = NULL;
    end(WORKERS + 1);
}

/* ---- granules that are opened by one while another repeats ---- */

static _Atomic unsigned go;
static void *repeat(void *argument)
{
    (void)argument;
    for (unsigned round = 0; round < ROUNDS; round++) {
        while (atomic_load(&go) != 2 * round + 1)
            ;
        for (unsigned i = 0; i < 20; i++)
            access_at(t[1], &shared[0][0], 8, PT_RACE_WRITE, 1 + i % 2);
        atomic_store(&go, 2 * round + 2);
    }
    return NULL;
}

/* Both access it at once in each round, after its end: each time it is told, whoever comes first. */
static void test_opened(void **state)
{
    pthread_t thread;
    (void)state;
    begin(2);
    pthread_create(&thread, NULL, repeat, NULL);
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned before = told.count;
        atomic_store(&go, 2 * round + 1);
        for (unsigned i = 0; i < 3; i++)
            access_at(t[0], &shared[0][0], 8, PT_RACE_WRITE, 5);
        while (atomic_load(&go) != 2 * round + 2)
            ;
        assert_true(told.count > before);
        pt_race_discard(t[0], (uintptr_t)&shared[0][0], (uintptr_t)&shared[0][1]);
        pt_race_sync(t[1], (uintptr_t)guards[1], PT_KIND_ACQ, NULL); /* another region: nothing counts as said */
        pt_race_sync(t[1], (uintptr_t)guards[1], PT_KIND_REL, NULL);
    }
    pthread_join(thread, NULL);
    end(2);
}

static int start(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SITES; i++)
        sites[i] = (struct pt_site){"a.c", "f", "x", i + 1, 0, NULL};
    pt_race_hooks = (struct pt_race_hooks){asked, apart, is_new, on_found};
    pt_race_looks.races = pt_race_looks.threads = true;
    return pt_race_start() ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_place_lost),  cmocka_unit_test(test_lost_and_ordered),
                                       cmocka_unit_test(test_before_lost), cmocka_unit_test(test_place_kept),
                                       cmocka_unit_test(test_ended),       cmocka_unit_test(test_real_threads),
                                       cmocka_unit_test(test_opened)};
    return cmocka_run_group_tests(tests, start, NULL);
}
