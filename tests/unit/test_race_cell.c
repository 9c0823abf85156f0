/* Which accesses of a cell race: kinds, bytes, places, atomics and what is forgotten. Random runs against the
 * definition are in tests/oracle/run_races.py; here is what traces cannot say: bytes, ranges, pruning, and cells that
 * are copied. */
#include "race_util.h"

enum { R = PT_CELL_READS, W = PT_CELL_WRITES, A = PT_CELL_ATOMIC, MANY = 200 };

static struct pt_hb_thread t[MANY];
static struct pt_cell cell;
static struct pt_cell_seen found[MANY];
static unsigned found_count;

static void on_race(void *context, const struct pt_cell_seen *earlier)
{
    (void)context;
    assert_true(found_count < MANY);
    found[found_count++] = *earlier;
}

static struct pt_cell_env env = {.memory = &test_memory, .race = on_race};

static int begin(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < MANY; i++)
        pt_hb_begin(&t[i], i);
    pt_cell_begin(&cell);
    env.is_past = NULL;
    return 0;
}

static int end(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < MANY; i++)
        pt_hb_end(&test_memory, &t[i]);
    pt_cell_end(&test_memory, &cell);
    assert_int_equal(taken, 0);
    return 0;
}

/* How many races the access has. */
static unsigned touch(unsigned thread, unsigned kind, unsigned bytes, uint32_t place)
{
    struct pt_cell_access access = {.place = place,
                                    .kind = (uint8_t)kind,
                                    .bytes = (uint8_t)bytes,
                                    .op = (uint8_t)kind,
                                    .order = PT_HB_RELAXED,
                                    .note = {.event = place}};
    found_count = 0;
    pt_cell_access(&env, &cell, &t[thread], &access);
    return found_count;
}

static void test_kinds(void **state)
{
    (void)state;
    assert_int_equal(touch(0, R, 0xff, 1), 0);
    assert_int_equal(touch(1, R, 0xff, 2), 0);
    assert_int_equal(touch(2, W, 0xff, 3), 2);
    assert_int_equal(touch(2, W, 0xff, 4), 2); /* of other places */
    assert_int_equal(touch(3, R | A, 0xff, 5), 2);
    assert_int_equal(touch(3, W | A, 0xff, 6), 2); /* the read has seen the writes, but not the reads */
}

static void test_atomics_do_not_race_with_each_other(void **state)
{
    (void)state;
    assert_int_equal(touch(0, W | A, 0xff, 1), 0);
    assert_int_equal(touch(1, R | W | A, 0xff, 2), 0);
    assert_int_equal(touch(2, R | A, 0xff, 3), 0);
    assert_int_equal(touch(3, R, 0xff, 4), 2);
    assert_int_equal(touch(4, W, 0xff, 5), 4);
}

static void test_bytes(void **state)
{
    (void)state;
    assert_int_equal(touch(0, W, 0x0f, 1), 0);
    assert_int_equal(touch(1, W, 0xf0, 2), 0);
    assert_int_equal(touch(2, R, 0x18, 3), 2);
    assert_true(pt_hb_knows(&t[2], pt_epoch_make(0, 1))); /* it has seen both halves */
    assert_true(pt_hb_knows(&t[2], pt_epoch_make(1, 1)));
    assert_int_equal(touch(3, R, 0x01, 4), 1);
    assert_int_equal(found[0].access.place, 1);
    assert_false(pt_hb_knows(&t[3], pt_epoch_make(1, 1)));
}

/* Every place of a thread, not only its latest; of one place the latest access. */
static void test_places(void **state)
{
    (void)state;
    for (uint32_t place = 0; place < 40; place++)
        assert_int_equal(touch(0, W, 0xff, place), 0);
    touch(0, W, 0xff, 7);
    assert_int_equal(touch(1, W, 0xff, 99), 40);
    for (unsigned i = 0; i < found_count; i++)
        assert_int_equal(pt_epoch_clock(found[i].at), found[i].access.place == 7 ? 41 : found[i].access.place + 1);
    assert_int_equal(touch(0, R, 0xff, 7), 1);
    assert_int_equal(found[0].access.place, 99);
}

/* A range is one event: what its first cell teaches does not hide a race of its second. */
static void test_ranges(void **state)
{
    (void)state;
    struct pt_cell other;
    struct pt_cell_access write = {.kind = W, .bytes = 0xff}, read = {.kind = R, .bytes = 0xff};
    pt_cell_begin(&other);
    pt_cell_access(&env, &other, &t[0], &write);
    pt_cell_access(&env, &cell, &t[0], &write);
    found_count = 0;
    bool covers = pt_cell_check(&env, &cell, &t[1], &read), covers_other = pt_cell_check(&env, &other, &t[1], &read);
    pt_cell_record(&env, &cell, &t[1], &read, covers);
    pt_cell_record(&env, &other, &t[1], &read, covers_other);
    assert_int_equal(found_count, 2);
    pt_cell_end(&test_memory, &other);
}

static bool all_but_last(void *context, pt_epoch epoch)
{
    (void)context;
    return pt_epoch_thread(epoch) < 60;
}

static void test_pruning(void **state)
{
    (void)state;
    env.is_past = all_but_last;
    for (unsigned i = 0; i < 65; i++)
        touch(i, R, 0xff, i);
    assert_int_equal(cell.count, 5);
    assert_int_equal(touch(100, W, 0xff, 1000), 5);
    for (unsigned i = 0; i < 5; i++)
        assert_true(pt_epoch_thread(found[i].at) >= 60);
}

static void test_copy(void **state)
{
    (void)state;
    struct pt_cell part;
    for (unsigned i = 0; i < 30; i++)
        touch(i, W | A, 0xff, i);
    pt_cell_copy(&test_memory, &part, &cell);
    pt_cell_end(&test_memory, &cell);
    cell = part;
    assert_int_equal(touch(50, R, 0xff, 1000), 30);
}

/* What is copied may lie on a stack: nothing of the copy is there, also where there is nothing to copy. */
static void test_copy_of_nothing(void **state)
{
    (void)state;
    struct pt_cell_seen seen[1];
    struct pt_cell_written written[1];
    struct pt_cell view, copy;
    pt_cell_begin(&view);
    view.seen = seen;
    view.written = written;
    pt_cell_copy(&test_memory, &copy, &view);
    assert_null(copy.seen);
    assert_null(copy.written);
}

/* Two worlds with the same random accesses and hand-overs of a lock: in the second one an access that may be raised is.
 * All races are the same, with the same clocks. */
enum { WORLDS = 2, THREADS = 3, STEPS = 4000 };

static unsigned races_of(bool raise, struct pt_cell *of, struct pt_hb_thread *thread,
                         const struct pt_cell_access *access, unsigned *raised_count)
{
    struct pt_cell_seen *raised = NULL;
    found_count = 0;
    if (!raise || !pt_cell_raise(&env, of, thread, access, UINT64_MAX, &raised)) {
        pt_cell_access(&env, of, thread, access);
    } else {
        assert_non_null(raised);
        raised->access.note = access->note;
        if (access->kind & W)
            pt_hb_tick(thread);
        ++*raised_count;
    }
    return found_count;
}

static uint64_t sum_found(void)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < found_count; i++)
        sum += found[i].at * 31 + found[i].access.note.event;
    return sum;
}

static void step(struct pt_hb_thread (*threads)[THREADS], struct pt_cell *cells, struct pt_hb_lock *locks, uint32_t die,
                 unsigned *raised_count)
{
    static const uint8_t bytes[] = {0xff, 0xff, 0xff, 0xf0};
    struct pt_cell_access access = {
        .place = die >> 4 & 1, .kind = die >> 6 & 3 ? R : W, .bytes = bytes[die >> 8 & 3], .note = {.event = die}};
    unsigned count[WORLDS], id = die % THREADS;
    uint64_t sums[WORLDS];
    for (unsigned w = 0; w < WORLDS; w++) {
        if (die >> 12 & 15)
            pt_hb_lock(&test_memory, &threads[w][id], &locks[w], false);
        count[w] = races_of(w, &cells[w], &threads[w][id], &access, raised_count);
        sums[w] = sum_found();
        if (die >> 12 & 15)
            pt_hb_unlock(&test_memory, &threads[w][id], &locks[w], false);
    }
    assert_int_equal(count[0], count[1]);
    assert_int_equal(sums[0], sums[1]);
}

static void test_raise(void **state)
{
    (void)state;
    struct pt_hb_thread threads[WORLDS][THREADS];
    struct pt_cell cells[WORLDS];
    struct pt_hb_lock locks[WORLDS] = {0};
    unsigned raised_count = 0;
    uint32_t die = 1;
    for (unsigned w = 0; w < WORLDS; w++) {
        pt_cell_begin(&cells[w]);
        for (uint32_t i = 0; i < THREADS; i++)
            pt_hb_begin(&threads[w][i], i);
    }
    for (unsigned i = 0; i < STEPS; i++) {
        if (i % 50 == 0) { /* few entries: they are raised as long as there is no index */
            pt_cell_end(&test_memory, &cells[0]);
            pt_cell_end(&test_memory, &cells[1]);
        }
        die = die * 1664525 + 1013904223;
        step(threads, cells, locks, die >> 8, &raised_count);
    }
    assert_true(raised_count > STEPS / 50);
    for (unsigned w = 0; w < WORLDS; w++) {
        pt_cell_end(&test_memory, &cells[w]);
        pt_hb_lock_clear(&test_memory, &locks[w]);
        for (uint32_t i = 0; i < THREADS; i++)
            pt_hb_end(&test_memory, &threads[w][i]);
    }
}

/* Ordered accesses of several threads at one place are one entry where threads do not matter, and stay apart where they
 * do; who races with what made room still meets that place. */
static void test_any_thread(void **state)
{
    (void)state;
    struct pt_hb_lock lock = {0};
    env.any_thread = true;
    for (uint32_t i = 0; i < 5; i++) {
        pt_hb_lock(&test_memory, &t[i], &lock, false);
        assert_int_equal(touch(i, R, 0xff, 1), 0);
        assert_int_equal(touch(i, W, 0xff, 2), 0);
        pt_hb_unlock(&test_memory, &t[i], &lock, false);
        assert_int_equal(cell.count, 2);
    }
    assert_int_equal(touch(9, W, 0xff, 3), 2);
    assert_int_equal(cell.count, 3);
    env.any_thread = false;
    pt_hb_lock(&test_memory, &t[5], &lock, false);
    touch(5, R, 0xff, 1);
    assert_int_equal(cell.count, 4);
    pt_hb_lock_clear(&test_memory, &lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_any_thread, begin, end),
        cmocka_unit_test_setup_teardown(test_kinds, begin, end),
        cmocka_unit_test_setup_teardown(test_atomics_do_not_race_with_each_other, begin, end),
        cmocka_unit_test_setup_teardown(test_bytes, begin, end),
        cmocka_unit_test_setup_teardown(test_places, begin, end),
        cmocka_unit_test_setup_teardown(test_ranges, begin, end),
        cmocka_unit_test_setup_teardown(test_pruning, begin, end),
        cmocka_unit_test(test_copy_of_nothing),
        cmocka_unit_test_setup_teardown(test_copy, begin, end),
        cmocka_unit_test_setup_teardown(test_raise, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
