/*
 * Granules that share a chain of slots (runtime/race/loop.c): readers that bring them to it, or on to their own,
 * against writers that take them out of it, and against the leaving of those who brought them. A link is given back
 * once, when nobody names it any more, and not before; its count is that of those who do; and of a read and a write
 * that do not know of each other, one sees the other.
 */
#include "race_threads.h"

enum { FIRST_READER = 1, READER = 2, WRITER = 3, CHAINED = 2 };

static bool read_made, written;

/* Reads of these granules by the thread are a loop, as access.c begins one. */
static void begin_loop(unsigned id, uint64_t r)
{
    struct pt_race_self *self = &selves[id];
    uint64_t key = pt_race_loop_site(self, PT_CELL_WHOLE, &site);
    struct pt_race_loop *loop = pt_race_loop_of(self, r, key);
    pt_race_loop_begin(self, loop, r, key);
    loop->seen = PT_RACE_LOOP_ROWS;
}

static void end_region(unsigned id)
{
    selves[id].log.region = pt_race_slot_of(&selves[id], selves[id].hb.clock, 0);
    selves[id].log.epoch += PT_RACE_EPOCH;
}

/* All granules have been read by thread 0, and CHAINED of them by FIRST_READER, too, whose loop goes on. */
static int start(void **state)
{
    (void)state;
    begin_anew();
    for (unsigned id = 0; id < SELVES; id++)
        begin_thread(id);
    begin_loop(0, 0);
    for (unsigned i = 0; i < GRANULES; i++)
        assert_true(make(0, i, PT_CELL_READS));
    learn(WRITER, 0);
    begin_loop(FIRST_READER, pairs[0].r);
    for (unsigned i = 0; i < CHAINED; i++)
        assert_true(make(FIRST_READER, i, PT_CELL_READS));
    assert_true(pt_race_is_chain(pairs[0].r) && pairs[0].r == pairs[1].r);
    return 0;
}

/* The region of that loop is over, and the writer knows it. */
static int start_known(void **state)
{
    start(state);
    end_region(FIRST_READER);
    learn(WRITER, FIRST_READER);
    begin_loop(READER, pairs[0].r);
    return 0;
}

static int start_left(void **state)
{
    start_known(state);
    pt_race_loop_end(&selves[FIRST_READER]);
    return 0;
}

static uint32_t names_of(uint32_t row)
{
    uint32_t count = 0;
    for (unsigned i = 0; i < GRANULES; i++)
        count += pt_race_is_chain(pairs[i].r) && (pairs[i].r & ((1u << PT_RACE_ROW_BITS) - 1)) == row;
    for (unsigned i = 1; i < ROWS; i++)
        count += is_row_used[i] && pt_race_is_chain(rows[i].first) &&
                 (rows[i].first & ((1u << PT_RACE_ROW_BITS) - 1)) == row;
    return count;
}

static const char *check_links(void)
{
    for (uint32_t i = 1; i < ROWS; i++) {
        if (!is_row_used[i] && names_of(i))
            return "a link was given back that is named";
        if (is_row_used[i] && rows[i].count != names_of(i))
            return "the count of a link is not that of those who name it";
        if (is_row_used[i] && !rows[i].count)
            return "a link was not given back";
    }
    return NULL;
}

/* ---- one brings a granule to its chain, and leaves; another writes it, and knows nothing of that ---- */

static void bring_and_leave(void)
{
    read_made = make(FIRST_READER, CHAINED, PT_CELL_READS);
    pt_race_loop_end(&selves[FIRST_READER]);
}

static void write_next(void)
{
    written = make(WRITER, CHAINED, PT_CELL_WRITES);
}

static const char *check_seen(void)
{
    return read_made && written ? "neither has seen the other" : check_links();
}

__attribute__((unused)) static void test_a_reader_and_a_writer(void **state)
{
    (void)state;
    expect(pt_interleave(
        &(struct pt_interleave){.threads = 2, .body = {bring_and_leave, write_next}, .check = check_seen}));
}

/* ---- a chain that one leaves, while another takes granules out of it, and a third brings one on to its own ---- */

static void leave(void)
{
    pt_race_loop_end(&selves[FIRST_READER]);
}

static void write_all(void)
{
    make(WRITER, 1, PT_CELL_WRITES);
    written = make(WRITER, 0, PT_CELL_WRITES);
}

static void read_on(void)
{
    read_made = make(READER, 0, PT_CELL_READS);
    pt_race_loop_end(&selves[READER]);
}

static const char *check_written(void)
{
    if (pairs[1].r)
        return "a write that knows all reads was not made";
    return check_seen();
}

__attribute__((unused)) static void test_a_chain_that_is_left(void **state)
{
    (void)state;
    expect(pt_interleave(&(struct pt_interleave){.threads = 2, .body = {leave, write_all}, .check = check_links}));
}

static void test_a_chain_on_a_chain(void **state)
{
    (void)state;
    expect(pt_interleave(&(struct pt_interleave){.threads = 2, .body = {read_on, write_all}, .check = check_written}));
}

static void test_three(void **state)
{
    (void)state;
    expect(pt_interleave(&(struct pt_interleave){
        .threads = 3, .body = {leave, write_all, read_on}, .check = check_written, .direct = true}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifndef PT_SEEDED /* it is about chains on chains */
        cmocka_unit_test_setup(test_a_reader_and_a_writer, start),
        cmocka_unit_test_setup(test_a_chain_that_is_left, start_known),
#endif
        cmocka_unit_test_setup(test_a_chain_on_a_chain, start_left), cmocka_unit_test_setup(test_three, start_known)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
