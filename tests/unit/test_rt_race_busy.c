/*
 * Pages that have sent many slots to logs (runtime/race/make.c): that there is a race is seen as everywhere, what is
 * told of it is true, and who reads what was written there learns enough. The last test compares random runs with all
 * their accesses, which nobody forgets.
 */
#include "race_told.h"

enum { THREADS = 4, WORDS = 512, OTHERS = 1 << 17, LOCKS = 2 };
enum { FRESH = 300 }; /* words from here on are not accessed by begin() */

static struct pt_race_self *t[THREADS];
static _Alignas(4096) uint64_t page[WORDS];
static _Alignas(4096) uint64_t others[OTHERS];
static uint64_t locks[LOCKS];

static void access(unsigned thread, void *at, unsigned size, unsigned kind, unsigned site)
{
    pt_race_plain(t[thread], (uintptr_t)at, size, kind, &sites[site]);
}
static void acquire(unsigned thread, unsigned lock)
{
    pt_race_sync(t[thread], (uintptr_t)&locks[lock], PT_KIND_ACQ, NULL);
}
static void release(unsigned thread, unsigned lock)
{
    pt_race_sync(t[thread], (uintptr_t)&locks[lock], PT_KIND_REL, NULL);
}
static bool is_busy(void)
{
    const struct pt_race_leaf *leaf = pt_race_leaf_of((uintptr_t)page);
    return leaf && pt_race_is_busy(leaf, (uintptr_t)page);
}
static uint64_t number_of(unsigned word)
{
    return pt_race_number_of(pt_race_granule_of((uintptr_t)&page[word])->near[0]);
}

/* Records of its own, of pages that take few. */
static void go_on(unsigned thread, unsigned count)
{
    static unsigned at;
    for (unsigned i = 0; i < count; i++, at = (at + 67) % OTHERS)
        access(thread, &others[at], 8, PT_CELL_WRITES, 7);
}

/* Thread 1 fills its log, and has used the page, which is a busy one; what it has done all others know. */
static int begin(void **state)
{
    (void)state;
    for (unsigned i = 0; i < THREADS; i++)
        t[i] = pt_race_begin(i, i ? t[0] : NULL, &sites[0]);
    go_on(1, PT_RACE_RING + PT_RACE_BLOCK);
    for (unsigned i = 0; i < 2 * PT_RACE_BUSY; i++) {
        release(1, 0);
        access(1, &page[i % WORDS], 8, PT_CELL_WRITES, 0);
    }
    atomic_store(&pt_race_leaf_of((uintptr_t)page)->puts[pt_race_page_of((uintptr_t)page)], PT_RACE_BUSY);
    assert_true(is_busy());
    release(1, 0);
    for (unsigned i = 2; i < THREADS; i++)
        acquire(i, 0);
    found_count = 0;
    return 0;
}
static int end(void **state)
{
    (void)state;
    for (unsigned i = 0; i < THREADS; i++)
        pt_race_end(t[i]);
    for (unsigned i = 0; i < THREADS; i++)
        pt_race_release(t[i]);
    pt_race_restart();
    return 0;
}

static void begin_long_region(unsigned thread)
{
    release(thread, 1);
    go_on(thread, 2 * PT_RACE_BLOCK);
}

static void test_first_place_of_a_region(void **state)
{
    (void)state;
    access(1, &page[0], 8, PT_CELL_WRITES, 1);
    release(1, 1);
    access(1, &page[0], 8, PT_CELL_WRITES, 2);
    access(1, &page[0], 8, PT_CELL_WRITES, 3);
    access(2, &page[0], 8, PT_CELL_READS, 4);
    assert_true(is_told(1, 2) && !is_told(1, 3));
}

/* Of memory that ends there all granules share a record, also of those that differ; before it nothing is told. */
static void test_the_end_of_memory(void **state)
{
    enum { LENGTH = 8 };
    (void)state;
    access(1, &page[FRESH + 1], 8, PT_CELL_WRITES, 1);
    access(1, &page[FRESH + 4], 8, PT_CELL_READS, 2);
    pt_race_free(t[1], (uintptr_t)&page[FRESH], (uintptr_t)&page[FRESH + LENGTH], &sites[3]);
    assert_int_equal(number_of(FRESH), number_of(FRESH + LENGTH - 1));
    go_on(1, PT_RACE_RING + PT_RACE_BLOCK);
    access(2, &page[FRESH + LENGTH - 1], 8, PT_CELL_READS, 4);
    access(3, &page[FRESH + 1], 8, PT_CELL_WRITES, 4);
    assert_int_equal(found_count, 2);
    assert_ptr_equal(told[0].site, &sites[3]);
    assert_ptr_equal(told[1].site, &sites[3]);
}
static void test_memory_ends_while_others_use_it(void **state)
{
    (void)state;
    access(2, &page[FRESH + 1], 8, PT_CELL_READS, 1);
    access(3, &page[FRESH + 2], 8, PT_CELL_WRITES, 2);
    pt_race_free(t[1], (uintptr_t)&page[FRESH], (uintptr_t)&page[FRESH + 4], &sites[3]);
    assert_int_equal(found_count, 2);
    assert_true(is_told(2, 1) && is_told(3, 2));
}

/* A race ends it: from then on all places are told. */
static void test_calm_after_a_race(void **state)
{
    (void)state;
    access(1, &page[0], 8, PT_CELL_WRITES, 1);
    access(2, &page[0], 8, PT_CELL_READS, 4);
    assert_int_equal(found_count, 1);
    assert_false(is_busy());
    release(1, 1);
    access(1, &page[9], 8, PT_CELL_WRITES, 2);
    access(1, &page[9], 8, PT_CELL_WRITES, 3);
    access(3, &page[9], 8, PT_CELL_READS, 4);
    assert_true(is_told(1, 2) && is_told(1, 3));
}

static void test_granules_share_a_record(void **state)
{
    (void)state;
    begin_long_region(1);
    for (unsigned i = 0; i < 32; i++)
        access(1, &page[i], 8, PT_CELL_WRITES, 4);
    for (unsigned i = 1; i < 32; i++)
        assert_int_equal(number_of(i), number_of(0));
    access(2, &page[17], 8, PT_CELL_READS, 5);
    assert_int_equal(found_count, 1);
    assert_true(is_told(1, 4));
    pt_race_access(t[1], (uintptr_t)&page[64], 8 * 64, PT_CELL_READS, &sites[1]);
    access(3, &page[100], 8, PT_CELL_WRITES, 6);
    assert_int_equal(found_count, 2);
    assert_true(is_told(1, 1));
}

/* A run of granules, as memcpy makes it, also where some of them were accessed before. */
static void test_runs(void **state)
{
    (void)state;
    begin_long_region(1);
    access(1, &page[70], 4, PT_CELL_WRITES, 2);
    access(1, &page[80], 8, PT_CELL_WRITES, 3);
    pt_race_access(t[1], (uintptr_t)&page[64], 8 * 64, PT_CELL_WRITES, &sites[1]);
    for (unsigned i = 64; i < 128; i++) {
        found_count = 0;
        access(2, &page[i], 8, PT_CELL_WRITES, 4);
        assert_true(found_count > 0 && (i == 80 ? is_told(1, 3) : is_told(1, 1)));
    }
}

/* What is told of bytes is of those bytes. (Writes learn nothing by their races.) */
static void test_bytes(void **state)
{
    (void)state;
    begin_long_region(1);
    for (unsigned i = 0; i < 4; i++)
        access(1, &page[i], 4, PT_CELL_WRITES, 1);
    for (unsigned i = 0; i < 4; i++)
        access(1, (char *)&page[i] + 4, 4, PT_CELL_WRITES, 2);
    for (unsigned i = 4; i < 8; i++)
        for (unsigned half = 0; half < 8; half += 4)
            access(1, (char *)&page[i] + half, 4, PT_CELL_WRITES, 3);
    assert_int_equal(number_of(4), number_of(7));
    access(2, (char *)&page[0] + 4, 4, PT_CELL_WRITES, 5);
    assert_int_equal(found_count, 1);
    assert_true(is_told(1, 2));
    access(3, &page[1], 2, PT_CELL_WRITES, 5);
    assert_int_equal(found_count, 2);
    assert_true(is_told(1, 1));
    access(3, (char *)&page[6] + 6, 2, PT_CELL_WRITES, 5);
    assert_int_equal(found_count, 3);
    assert_true(is_told(1, 3));
}

/* Ints of one granule that were written in two regions are in a list. */
static void test_lists(void **state)
{
    (void)state;
    access(1, &page[0], 4, PT_CELL_WRITES, 1);
    acquire(1, 1);
    release(1, 1);
    acquire(2, 1);
    access(1, (char *)&page[0] + 4, 4, PT_CELL_WRITES, 2);
    access(1, (char *)&page[0] + 4, 4, PT_CELL_WRITES, 3);
    access(2, &page[0], 4, PT_CELL_READS, 5);
    assert_int_equal(found_count, 0);
    access(2, (char *)&page[0] + 4, 4, PT_CELL_READS, 5);
    assert_int_equal(found_count, 1);
    assert_true(is_told(1, 2));
}

/* A list of two ints that were written and of a read of both, which the second write has left the first one of. All of
 * it is gone, but for what is told of a granule's latest write and read. */
static void make_list(void)
{
    access(1, &page[FRESH], 4, PT_CELL_WRITES, 1);
    release(1, 1);
    access(1, &page[FRESH], 8, PT_CELL_READS, 2);
    release(1, 1);
    access(1, (char *)&page[FRESH] + 4, 4, PT_CELL_WRITES, 3);
    go_on(1, 2 * PT_RACE_RING);
}
static void test_places_of_lists(void **state)
{
    (void)state;
    make_list();
    access(2, (char *)&page[FRESH] + 2, 2, PT_CELL_WRITES, 5);
    assert_int_equal(found_count, 2);
    assert_true(is_told(1, 2));
    access(3, (char *)&page[FRESH] + 4, 4, PT_CELL_WRITES, 5);
    assert_true(found_count > 2);
    assert_true(is_told(1, 3));
}
static void test_lists_that_end(void **state)
{
    (void)state;
    const pt_race_word *first = &pt_race_granule_of((uintptr_t)&page[FRESH])->near[0];
    make_list();
    pt_race_forget(t[1], (uintptr_t)&page[FRESH], (uintptr_t)&page[FRESH] + 6, &sites[6]);
    assert_true(*first && !found_count);
    pt_race_forget(t[1], (uintptr_t)&page[FRESH], (uintptr_t)&page[FRESH + 1], &sites[6]);
    assert_true(!*first && !found_count);
    make_list();
    pt_race_forget(t[2], (uintptr_t)&page[FRESH], (uintptr_t)&page[FRESH + 1], &sites[6]);
    assert_int_equal(found_count, 3);
    assert_true(!*first && is_told(1, 2) && is_told(1, 3));
}

/* Who reads what was written again knows what was done before that, and not what was done since. */
static void learn(unsigned site, bool is_long)
{
    if (is_long)
        begin_long_region(1);
    access(1, &page[0], 8, PT_CELL_WRITES, 1);
    access(1, &others[3], 8, PT_CELL_WRITES, 2);
    access(1, &page[0], 8, PT_CELL_WRITES, site);
    access(1, &others[5], 8, PT_CELL_WRITES, 3);
    access(2, &page[0], 8, PT_CELL_READS, 4);
    assert_int_equal(found_count, 1);
    access(2, &others[3], 8, PT_CELL_READS, 4);
    assert_int_equal(found_count, 1);
    access(2, &others[5], 8, PT_CELL_READS, 4);
    assert_int_equal(found_count, 2);
    assert_true(is_told(1, 3));
}
static void test_who_reads_learns(void **state)
{
    (void)state;
    learn(1, false);
}
static void test_who_reads_learns_of_another_place(void **state)
{
    (void)state;
    learn(6, false);
}
static void test_who_reads_learns_in_a_long_region(void **state)
{
    (void)state;
    learn(6, true);
}
/* The same of one of two ints that were written in two regions. */
static void test_who_reads_learns_of_a_list(void **state)
{
    (void)state;
    char *second = (char *)&page[FRESH] + 4;
    access(1, &page[FRESH], 4, PT_CELL_WRITES, 1);
    release(1, 1);
    access(1, second, 4, PT_CELL_WRITES, 2);
    access(1, &others[3], 8, PT_CELL_WRITES, 3);
    access(1, second, 4, PT_CELL_WRITES, 5);
    access(2, second, 4, PT_CELL_READS, 4);
    assert_int_equal(found_count, 1);
    access(2, &others[3], 8, PT_CELL_READS, 4);
    assert_int_equal(found_count, 1);
}
/* The first write of a granule, at a place whose record was put long before. */
static void test_who_reads_learns_of_a_proxy(void **state)
{
    (void)state;
    begin_long_region(1);
    access(1, &page[7], 8, PT_CELL_WRITES, 1);
    learn(1, false);
}
/* A region that has ended, whose records are there or gone: no more is learned than it. */
static void learn_of_the_past(unsigned count)
{
    access(1, &page[0], 8, PT_CELL_WRITES, 1);
    access(1, &page[0], 8, PT_CELL_WRITES, 2);
    release(1, 1);
    go_on(1, count);
    access(1, &others[11], 8, PT_CELL_WRITES, 3);
    access(1, &page[1], 8, PT_CELL_WRITES, 1);
    access(1, &page[1], 8, PT_CELL_WRITES, 1);
    access(2, &page[0], 8, PT_CELL_READS, 4);
    assert_int_equal(found_count, 1);
    access(2, &others[11], 8, PT_CELL_READS, 4);
    assert_true(found_count >= 2 && is_told(1, 3)); /* go_on() may have been there before, too */
}
static void test_a_region_that_has_ended(void **state)
{
    (void)state;
    learn_of_the_past(1);
}
static void test_a_region_that_is_gone(void **state)
{
    (void)state;
    learn_of_the_past(2 * PT_RACE_RING);
}

/* The same of the first write of a granule, at a place whose record was put before. */
static void test_who_reads_learns_of_a_first_write(void **state)
{
    (void)state;
    begin_long_region(1);
    access(1, &page[7], 8, PT_CELL_WRITES, 1);
    access(1, &others[3], 8, PT_CELL_WRITES, 2);
    access(1, &page[0], 8, PT_CELL_WRITES, 1);
    access(2, &page[0], 8, PT_CELL_READS, 4);
    access(2, &others[3], 8, PT_CELL_READS, 4);
    assert_int_equal(found_count, 1);
    assert_true(is_told(1, 1));
}

/* Further bytes of a granule that the filter has forgotten, which another thread has accessed meanwhile. */
static void test_further_bytes_race(void **state)
{
    (void)state;
    begin_long_region(1);
    access(1, &page[FRESH], 4, PT_CELL_READS, 1);
    access(1, &page[FRESH + 1], 4, PT_CELL_WRITES, 2);
    access(2, (char *)&page[FRESH] + 4, 4, PT_CELL_WRITES, 3);
    access(2, (char *)&page[FRESH + 1] + 4, 4, PT_CELL_READS, 4);
    assert_int_equal(found_count, 0);
    go_on(1, 4 << PT_RACE_FILTER_BITS);
    access(1, (char *)&page[FRESH + 1] + 4, 4, PT_CELL_WRITES, 2);
    assert_int_equal(found_count, 1);
    assert_true(is_told(2, 4));
    access(1, (char *)&page[FRESH] + 4, 4, PT_CELL_READS, 1);
    assert_int_equal(found_count, 2);
    assert_true(is_told(2, 3));
}

/* The same of what several have read: the thread's column says which bytes it was. */
static void test_further_bytes_that_several_read(void **state)
{
    (void)state;
    access(1, &page[FRESH], 4, PT_CELL_READS, 1);
    access(2, &page[FRESH], 4, PT_CELL_READS, 2);
    access(1, &page[FRESH], 4, PT_CELL_READS, 3);
    access(1, (char *)&page[FRESH] + 4, 4, PT_CELL_READS, 4);
    access(3, (char *)&page[FRESH] + 6, 2, PT_CELL_WRITES, 5);
    assert_int_equal(found_count, 1);
    assert_true(is_told(1, 4));
}

static void test_run_over_reads_of_another(void **state)
{
    (void)state;
    begin_long_region(1);
    access(2, &page[FRESH + 6], 8, PT_CELL_READS, 2);
    pt_race_access(t[1], (uintptr_t)&page[FRESH], 8 * 16, PT_CELL_WRITES, &sites[1]);
    assert_int_equal(found_count, 1);
    assert_true(is_told(2, 2));
}
static void test_run_over_its_own_reads(void **state)
{
    (void)state;
    begin_long_region(1);
    access(1, &page[FRESH + 9], 8, PT_CELL_READS, 3);
    pt_race_access(t[1], (uintptr_t)&page[FRESH], 8 * 16, PT_CELL_WRITES, &sites[1]);
    access(3, &page[FRESH + 9], 8, PT_CELL_WRITES, 4);
    assert_int_equal(found_count, 1);
    assert_true(is_told(1, 1));
}

/* What it finds made already stays as it is, with its place. */
static void test_run_over_its_own_writes(void **state)
{
    (void)state;
    release(1, 1);
    access(1, &page[FRESH + 9], 8, PT_CELL_WRITES, 3);
    go_on(1, 2 * PT_RACE_BLOCK);
    pt_race_access(t[1], (uintptr_t)&page[FRESH], 8 * 16, PT_CELL_WRITES, &sites[1]);
    go_on(1, 2 * PT_RACE_RING);
    access(3, &page[FRESH + 9], 8, PT_CELL_WRITES, 4);
    access(3, &page[FRESH + 10], 8, PT_CELL_WRITES, 4);
    assert_int_equal(found_count, 2);
    assert_true(is_told(1, 3) && is_told(1, 1));
}

static void test_place_of_what_is_gone(void **state)
{
    (void)state;
    begin_long_region(1);
    for (unsigned i = 0; i < 8; i++)
        access(1, &page[FRESH + i], 8, PT_CELL_WRITES, 1);
    go_on(1, 2 * PT_RACE_RING);
    access(3, &page[FRESH + 5], 8, PT_CELL_WRITES, 4);
    assert_int_equal(found_count, 1);
    assert_true(is_told(1, 1));
}

/* Accesses by other calls have another record. */
static void test_calls(void **state)
{
    (void)state;
    begin_long_region(1);
    access(1, &page[FRESH], 8, PT_CELL_WRITES, 1);
    access(1, &page[FRESH + 1], 8, PT_CELL_WRITES, 1);
    __portent_calls.frames[__portent_calls.depth++ % PT_CALLS] = &sites[6];
    access(1, &page[FRESH + 2], 8, PT_CELL_WRITES, 1);
    __portent_calls.depth--;
    assert_int_equal(number_of(FRESH), number_of(FRESH + 1));
    assert_int_not_equal(number_of(FRESH), number_of(FRESH + 2));
}

/* What a granule's former memory has sent to logs is none of the accesses of what is there now, however few slots that
 * had in the end. */
static void fill_and_end(bool in_two_steps)
{
    _Atomic uint16_t *puts = &pt_race_leaf_of((uintptr_t)page)->puts[pt_race_page_of((uintptr_t)page)];
    atomic_store(puts, 0);
    for (unsigned i = 1; i < 8; i++)
        access(2, &page[FRESH], 8, PT_CELL_WRITES, i);
    atomic_store(puts, PT_RACE_BUSY);
    release(2, 0);
    acquire(1, 0);
    if (in_two_steps) {
        pt_race_free(t[1], (uintptr_t)&page[FRESH], (uintptr_t)&page[FRESH + 1], &sites[7]);
        pt_race_discard(t[1], (uintptr_t)&page[FRESH], (uintptr_t)&page[FRESH + 1]);
    } else {
        access(1, &page[FRESH], 8, PT_CELL_WRITES, 1);
        pt_race_forget(t[1], (uintptr_t)&page[FRESH], (uintptr_t)&page[FRESH + 1], &sites[7]);
    }
    assert_int_equal(found_count, 0);
    atomic_store(puts, 0);
    for (unsigned i = 0; i < 4; i++)
        access(3, &page[FRESH], 8, PT_CELL_WRITES, 1 + i);
    if (pt_race_atomic_begin(t[3], (uintptr_t)&page[FRESH], 8))
        pt_race_atomic_end(t[3], (uintptr_t)&page[FRESH], 8, PT_CELL_WRITES, PT_HB_RELAXED, &sites[6]);
    assert_int_equal(found_count, 0);
}
static void test_former_memory(void **state)
{
    (void)state;
    fill_and_end(false);
}
static void test_former_memory_in_two_steps(void **state)
{
    (void)state;
    fill_and_end(true);
}

/* The same of memory that had a cell for a time. */
static void test_former_memory_with_a_cell(void **state)
{
    (void)state;
    atomic_store(&pt_race_leaf_of((uintptr_t)page)->puts[pt_race_page_of((uintptr_t)page)], 0);
    for (unsigned i = 1; i < 8; i++)
        access(2, &page[FRESH], 8, PT_CELL_WRITES, i);
    for (unsigned i = 0; i < 10; i++) {
        char *at = (char *)&page[FRESH] + i % 8;
        if (pt_race_atomic_begin(t[2], (uintptr_t)at, 1))
            pt_race_atomic_end(t[2], (uintptr_t)at, 1, PT_CELL_WRITES, PT_HB_RELAXED, &sites[i % 8]);
    }
    release(2, 0);
    acquire(1, 0);
    access(1, &page[FRESH], 8, PT_CELL_WRITES, 1);
    assert_false(pt_race_granule_of((uintptr_t)&page[FRESH])->near[0] & PT_RACE_OWN);
    pt_race_forget(t[1], (uintptr_t)&page[FRESH], (uintptr_t)&page[FRESH + 1], &sites[7]);
    for (unsigned i = 0; i < 4; i++)
        access(3, &page[FRESH], 8, PT_CELL_WRITES, 1 + i);
    if (pt_race_atomic_begin(t[3], (uintptr_t)&page[FRESH], 8))
        pt_race_atomic_end(t[3], (uintptr_t)&page[FRESH], 8, PT_CELL_WRITES, PT_HB_RELAXED, &sites[6]);
    assert_int_equal(found_count, 0);
}

/* Memory that a thread frees and gets again in one region: what it has done to the former says nothing of it. */
static void test_former_memory_of_a_region(void **state)
{
    (void)state;
    atomic_store(&pt_race_leaf_of((uintptr_t)page)->puts[pt_race_page_of((uintptr_t)page)], 0);
    release(1, 1);
    for (unsigned i = 1; i < 6; i++)
        access(1, &page[FRESH], 8, PT_CELL_READS, i);
    pt_race_forget(t[1], (uintptr_t)&page[FRESH], (uintptr_t)&page[FRESH + 1], &sites[7]);
    const unsigned others_first[] = {1, 2, 3, 5};
    for (unsigned i = 0; i < 4; i++)
        access(1, &page[FRESH], 4, PT_CELL_READS, others_first[i]);
    access(1, &page[FRESH], 8, PT_CELL_READS, 4);
    access(2, (char *)&page[FRESH] + 4, 4, PT_CELL_WRITES, 6);
    assert_int_equal(found_count, 1);
    assert_true(is_told(1, 4));
}

/* A record of a region that goes on is gone: who reads what was written again since then learns until then. */
static void test_who_reads_learns_of_what_is_gone(void **state)
{
    (void)state;
    release(1, 1);
    access(1, &page[0], 8, PT_CELL_WRITES, 1);
    for (unsigned i = 0; i < 2 * PT_RACE_RING; i++)
        if (pt_race_atomic_begin(t[1], (uintptr_t)&others[77], 8))
            pt_race_atomic_end(t[1], (uintptr_t)&others[77], 8, PT_CELL_WRITES, PT_HB_RELAXED, &sites[6]);
    access(1, &others[3], 8, PT_CELL_WRITES, 2);
    access(1, &page[0], 8, PT_CELL_WRITES, 1);
    access(2, &page[0], 8, PT_CELL_READS, 4);
    assert_int_equal(found_count, 1);
    access(2, &others[3], 8, PT_CELL_READS, 4);
    assert_int_equal(found_count, 1);
}

static void call(unsigned thread, const struct pt_site *from, void *at, unsigned site)
{
    __portent_calls.frames[__portent_calls.depth++ % PT_CALLS] = from;
    access(thread, at, 8, PT_CELL_WRITES, site);
    __portent_calls.depth--;
}
static void tick(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (pt_race_atomic_begin(t[1], (uintptr_t)&others[77], 8))
            pt_race_atomic_end(t[1], (uintptr_t)&others[77], 8, PT_CELL_WRITES, PT_HB_RELAXED, &sites[6]);
}
/* The same of a place that is accessed in turn in two calls, in a page that is not busy. */
static void test_calls_in_turn_that_are_gone(void **state)
{
    (void)state;
    release(1, 1);
    call(1, &sites[1], &others[5], 2);
    call(1, &sites[3], &others[6], 2);
    call(1, &sites[1], &others[5], 2);
    for (unsigned i = 0; i < 8; i++) {
        tick(PT_RACE_RING / 4);
        call(1, &sites[1], &others[5], 2);
    }
    access(1, &others[3], 8, PT_CELL_WRITES, 4);
    call(1, &sites[1], &others[5], 2);
    access(2, &others[5], 8, PT_CELL_READS, 4);
    assert_true(found_count > 0);
    found_count = 0;
    access(2, &others[3], 8, PT_CELL_READS, 4);
    assert_int_equal(found_count, 0);
}

#ifdef PT_RACE_SMALL
/* A thread whose numbers are used up goes on in a lane that has no log, in the middle of any access. */
static void test_no_log_any_more(void **state)
{
    (void)state;
    for (unsigned number = THREADS;; number++) {
        struct pt_race_self *self = pt_race_begin(number, t[0], &sites[0]);
        uint32_t lane = self->hb.id;
        pt_race_end(self);
        pt_race_join(t[0], self);
        pt_race_release(self);
        if (lane >= PT_RACE_LOG_THREADS)
            break;
    }
    for (unsigned i = 1; i < THREADS; i++) {
        for (unsigned k = 0; t[i]->log.ring; k++) {
            access(i, &page[i], 8, k % 2 ? PT_CELL_WRITES : PT_CELL_READS, k % 5);
            pt_race_access(t[i], (uintptr_t)&page[FRESH + 8 * i], 40, i % 2 ? PT_CELL_WRITES : PT_CELL_READS,
                           &sites[5 + k % 2]);
            if (i == 3)
                pt_race_free(t[i], (uintptr_t)&page[FRESH + 8 * i], (uintptr_t)&page[FRESH + 8 * i + 5], &sites[4]);
            release(i, 1);
            assert_int_equal(found_count, 0);
        }
        access(0, &page[i], 8, PT_CELL_WRITES, 1);
        assert_true(found_count > 0);
        found_count = 0;
        access(0, &page[FRESH + 8 * i + 4], 8, PT_CELL_WRITES, 1);
        assert_true(found_count > 0);
        found_count = 0;
    }
}
#endif

/* ---- random runs ---- */

enum { STEPS = 400, USED = 6 };
struct made {
    unsigned thread, word, bytes, site;
    bool writes;
    uint32_t when; /* its thread's own clock */
};
static struct made made[STEPS];
static unsigned made_count;
static uint32_t clocks[THREADS][THREADS], published[LOCKS][THREADS];
static int holder[LOCKS];

static bool races(const struct made *a, const struct made *b)
{
    return a->thread != b->thread && a->word == b->word && a->bytes & b->bytes && (a->writes || b->writes) &&
           clocks[b->thread][a->thread] < a->when;
}

static void step_lock(unsigned thread, unsigned lock)
{
    if (holder[lock] == (int)thread) {
        release(thread, lock);
        memcpy(published[lock], clocks[thread], sizeof clocks[thread]);
        clocks[thread][thread]++;
        holder[lock] = -1;
    } else if (holder[lock] < 0) {
        acquire(thread, lock);
        for (unsigned i = 0; i < THREADS; i++)
            if (published[lock][i] > clocks[thread][i])
                clocks[thread][i] = published[lock][i];
        holder[lock] = (int)thread;
    }
}

/* True: there was a race, and it was told, by a place that has it. */
static bool step_access(unsigned thread)
{
    unsigned size = 1u << below(4), at = below(8 / size) * size;
    struct made now = {.thread = thread,
                       .word = below(USED),
                       .bytes = ((1u << size) - 1) << at,
                       .site = 1 + below(4),
                       .writes = below(3) == 0,
                       .when = clocks[thread][thread]};
    bool expected = false, is_true = true;
    for (unsigned i = 0; i < made_count; i++)
        expected = expected || races(&made[i], &now);
    access(thread, (char *)&page[now.word] + at, size, now.writes ? PT_CELL_WRITES : PT_CELL_READS, now.site);
    assert_int_equal(found_count > 0, expected);
    for (unsigned i = 0; i < found_count; i++) {
        bool is_there = false;
        for (unsigned j = 0; j < made_count; j++)
            is_there = is_there || (made[j].thread == told[i].thread && races(&made[j], &now) &&
                                    &sites[made[j].site] == told[i].site);
        is_true = is_true && (is_there || !strcmp(told[i].site->function, "[place lost]"));
    }
    assert_true(is_true);
    made[made_count++] = now;
    return expected;
}

static void test_random(void **state)
{
    unsigned with = 0;
    for (unsigned round = 0; round < 300; round++) {
        if (round)
            begin(state);
        made_count = 0;
        memset(clocks, 0, sizeof clocks);
        memset(published, 0, sizeof published);
        for (unsigned i = 0; i < LOCKS; i++)
            holder[i] = -1;
        for (unsigned i = 0; i < THREADS; i++)
            clocks[i][i] = 1;
        acquire(1, 0); /* what it has done in begin() is known to all who take that lock, as in the clocks */
        release(1, 0);
        bool raced = false;
        for (unsigned i = 0; i < STEPS && !raced; i++) {
            unsigned thread = 1 + below(THREADS - 1);
            if (below(3) == 0)
                step_lock(thread, below(LOCKS));
            else if (below(40) == 0)
                go_on(1, 2 * PT_RACE_BLOCK);
            else if (below(8) || holder[0] == (int)thread || holder[1] == (int)thread)
                raced = step_access(thread);
        }
        with += raced;
        if (round < 299)
            end(state);
    }
    assert_true(with > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_first_place_of_a_region, begin, end),
        cmocka_unit_test_setup_teardown(test_the_end_of_memory, begin, end),
        cmocka_unit_test_setup_teardown(test_memory_ends_while_others_use_it, begin, end),
        cmocka_unit_test_setup_teardown(test_calm_after_a_race, begin, end),
        cmocka_unit_test_setup_teardown(test_granules_share_a_record, begin, end),
        cmocka_unit_test_setup_teardown(test_runs, begin, end),
        cmocka_unit_test_setup_teardown(test_bytes, begin, end),
        cmocka_unit_test_setup_teardown(test_lists, begin, end),
        cmocka_unit_test_setup_teardown(test_places_of_lists, begin, end),
        cmocka_unit_test_setup_teardown(test_lists_that_end, begin, end),
        cmocka_unit_test_setup_teardown(test_run_over_its_own_writes, begin, end),
        cmocka_unit_test_setup_teardown(test_who_reads_learns, begin, end),
        cmocka_unit_test_setup_teardown(test_who_reads_learns_of_another_place, begin, end),
        cmocka_unit_test_setup_teardown(test_who_reads_learns_in_a_long_region, begin, end),
        cmocka_unit_test_setup_teardown(test_who_reads_learns_of_a_list, begin, end),
        cmocka_unit_test_setup_teardown(test_who_reads_learns_of_a_proxy, begin, end),
        cmocka_unit_test_setup_teardown(test_a_region_that_has_ended, begin, end),
        cmocka_unit_test_setup_teardown(test_a_region_that_is_gone, begin, end),
        cmocka_unit_test_setup_teardown(test_who_reads_learns_of_a_first_write, begin, end),
        cmocka_unit_test_setup_teardown(test_further_bytes_race, begin, end),
        cmocka_unit_test_setup_teardown(test_further_bytes_that_several_read, begin, end),
        cmocka_unit_test_setup_teardown(test_run_over_reads_of_another, begin, end),
        cmocka_unit_test_setup_teardown(test_run_over_its_own_reads, begin, end),
        cmocka_unit_test_setup_teardown(test_place_of_what_is_gone, begin, end),
        cmocka_unit_test_setup_teardown(test_calls, begin, end),
        cmocka_unit_test_setup_teardown(test_former_memory, begin, end),
        cmocka_unit_test_setup_teardown(test_former_memory_in_two_steps, begin, end),
        cmocka_unit_test_setup_teardown(test_former_memory_with_a_cell, begin, end),
        cmocka_unit_test_setup_teardown(test_former_memory_of_a_region, begin, end),
        cmocka_unit_test_setup_teardown(test_who_reads_learns_of_what_is_gone, begin, end),
        cmocka_unit_test_setup_teardown(test_calls_in_turn_that_are_gone, begin, end),
#ifdef PT_RACE_SMALL
        cmocka_unit_test_setup_teardown(test_no_log_any_more, begin, end),
#endif
        cmocka_unit_test_setup_teardown(test_random, begin, end),
    };
    return cmocka_run_group_tests(tests, start_told, NULL);
}
