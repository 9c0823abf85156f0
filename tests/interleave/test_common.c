/*
 * What several threads have read (runtime/race/common.c): a thread that reads again against one that writes and knows
 * only of the first read. Whoever comes first, one of the two sees the other: the protocol rests on the look after the
 * slot was put, and on the exchange that puts it.
 */
#include "race_threads.h"

enum { READER = 1, WRITER = 2, ROW = 1, FIRST = 5 };

static bool reader_saw, writer_saw, wrote;
static unsigned tries;

static void read_again(void)
{
    struct pt_race_self *self = &selves[READER];
    enum pt_race_made made = PT_RACE_CHANGED;
    while (made == PT_RACE_CHANGED && tries++ < 4) {
        uint64_t w = atomic_load_explicit(&pairs[0].w, memory_order_acquire);
        uint64_t r = atomic_load_explicit(&pairs[0].r, memory_order_acquire);
        if (w & PT_RACE_LOCKED) { /* as make.c does it */
            pt_race_unlock_word(&pairs[0].w, pt_race_lock_word(&pairs[0].w));
            continue;
        }
        if (w && !pt_race_knows(self, w)) {
            reader_saw = true;
            return;
        }
        if (!(r & PT_RACE_OWN)) /* its compare-and-swap would fail: w is not as it was */
            continue;
        made = pt_race_common_read(self, &pairs[0], w, r, 0x1000, 0xff, &site);
    }
}

static void write_once(void)
{
    enum pt_race_made made = pt_race_common_write(&selves[WRITER], &pairs[0], 0x1000, 0xff, PT_CELL_WRITES, &site);
    writer_saw = made == PT_RACE_RACES;
    wrote = made == PT_RACE_MADE;
}

static const char *check(void)
{
    if (!writer_saw && !wrote)
        return "the write was neither made nor seen to race";
    if (!writer_saw && !reader_saw)
        return "neither has seen the other";
    return NULL;
}

/* The reader has read it at FIRST, and another thread then; the writer knows that. */
static int start(void **state)
{
    (void)state;
    begin_anew();
    begin_thread(READER);
    begin_thread(WRITER);
    chunks[WRITER].at[READER] = FIRST;
    is_row_used[ROW] = true;
    rows[ROW].generation = 1;
    rows[ROW].first = pt_race_slot_of(&selves[READER], FIRST, 0xff);
    pairs[0].r = PT_RACE_OWN | UINT64_C(1) << PT_RACE_ROW_BITS | ROW;
    return 0;
}

static void test_a_reader_and_a_writer(void **state)
{
    (void)state;
    expect(pt_interleave(&(struct pt_interleave){.threads = 2, .body = {read_again, write_once}, .check = check}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(test_a_reader_and_a_writer, start)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
