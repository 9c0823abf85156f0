/* Clocks that count by lanes (core/channel.h), at the observer's end: threads that have taken over the lane of another
 * one, by records written by hand. */
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "channel_util.h"
#include "trace/clock_state.h"
#include "trace/writer.h"

static const char *const events[] = {"go"};

static const char *function(void *context, uint64_t start, uint64_t base)
{
    (void)context;
    return start - base == 16 ? "t" : NULL;
}

static int set_up(void **state, uint64_t counted_before)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct pt_err err;
    pt_names_init(&f->names);
    struct pt_channel_setup how = {.events = events,
                                   .event_count = 1,
                                   .ring_bytes = RING_BYTES,
                                   .ring_max = RINGS,
                                   .counted_before = counted_before};
    assert_int_equal(pt_channel_create(&how, &f->names, &f->reader, &err), PT_OK);
    pt_channel_set_function(f->reader, function, NULL);
    f->map = pt_channel_map(f->reader);
    f->now = SECOND;
    open_ring(f, 0);
    *state = f;
    return 0;
}

static int setup(void **state)
{
    return set_up(state, 0);
}

enum { BEFORE = 1000 };
static int setup_counted(void **state)
{
    return set_up(state, BEFORE);
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    pt_channel_free(f->reader);
    pt_names_release(&f->names);
    free(f);
    return 0;
}

/* All of them use one ring, one after the other. The clock has the pairs that do not end with a count of 0. */
static void put_go(struct fixture *f, uint32_t thread, uint32_t marks, struct pt_clock_pair a, struct pt_clock_pair b,
                   struct pt_clock_pair c)
{
    struct written w = {.type = PT_RECORD_EVENT,
                        .kind = PT_KIND_USER,
                        .thread = thread,
                        .marks = marks,
                        .number = f->map->next_number,
                        .clock = {a, b, c}};
    while (w.clock_count < 3 && w.clock[w.clock_count].count)
        w.clock_count++;
    put_event(f, 0, w);
}
#define NONE            ((struct pt_clock_pair){0, 0})
#define AT(lane, count) ((struct pt_clock_pair){lane, count})

static bool next(struct fixture *f, struct pt_event *ret_event)
{
    return chan_next(f->reader, f->now, ret_event);
}

static void expect(struct fixture *f, const char *line)
{
    struct pt_event event;
    struct pt_buf buf;
    pt_buf_init(&buf);
    if (next(f, &event))
        pt_event_to_text(&f->names, &event, &buf);
    else
        pt_buf_puts(&buf, "nothing");
    assert_string_equal(buf.text, line);
    pt_buf_release(&buf);
}

static void put_threads(struct fixture *f, uint32_t count)
{
    put_thread(f, 0, 0, 0, "");
    for (uint32_t i = 1; i < count; i++)
        put_thread(f, 0, i, 16, "");
}

/* t has two events, t#2 comes behind them, and t#3 behind both; t#4, who does not, knows a part of that. */
static void who_had_an_event(void **state)
{
    struct fixture *f = *state;
    put_threads(f, 5);
    put_go(f, 1, 0, AT(1, 1), NONE, NONE);
    put_go(f, 1, 0, AT(1, 2), NONE, NONE);
    put_go(f, 2, PT_MARK_LANE, AT(1, 2), AT(1, 3), NONE);
    put_go(f, 2, 0, AT(1, 4), NONE, NONE);
    put_go(f, 3, PT_MARK_LANE, AT(1, 4), AT(1, 5), NONE);
    put_go(f, 4, 0, AT(1, 1), AT(4, 1), NONE);
    put_go(f, 4, 0, AT(1, 2), AT(4, 2), NONE);
    put_go(f, 4, 0, AT(1, 3), AT(4, 3), NONE);
    put_go(f, 4, 0, AT(1, 5), AT(4, 4), NONE);
    expect(f, "t|event(go)|-|c=t:1");
    expect(f, "t|event(go)|-|c=t:2");
    expect(f, "t#2|event(go)|-|c=t:2,t#2:1");
    expect(f, "t#2|event(go)|-|c=t:2,t#2:2");
    expect(f, "t#3|event(go)|-|c=t:2,t#2:2,t#3:1");
    expect(f, "t#4|event(go)|-|c=t:1,t#4:1");
    expect(f, "t#4|event(go)|-|c=t:2,t#4:2");
    expect(f, "t#4|event(go)|-|c=t:2,t#2:1,t#4:3");
    expect(f, "t#4|event(go)|-|c=t:2,t#2:2,t#3:1,t#4:4");
    expect(f, "nothing");
    assert_int_equal(pt_channel_losses(f->reader).corrupt, 0);
}

/* Each thread's first event is one of many here. */
static void counts_that_begin_late(void **state)
{
    struct fixture *f = *state;
    put_threads(f, 3);
    put_go(f, 1, 0, AT(1, BEFORE + 1), NONE, NONE);
    put_go(f, 2, PT_MARK_LANE, AT(1, 1), AT(1, BEFORE + 2), NONE);
    put_go(f, 0, 0, AT(0, BEFORE + 1), AT(1, BEFORE + 1), NONE);
    put_go(f, 0, 0, AT(0, BEFORE + 2), AT(1, BEFORE + 2), NONE);
    expect(f, "t|event(go)|-|c=t:1001");
    expect(f, "t#2|event(go)|-|c=t:1001,t#2:1001");
    expect(f, "main|event(go)|-|c=main:1001,t:1001");
    expect(f, "main|event(go)|-|c=main:1002,t:1001,t#2:1001");
    assert_int_equal(pt_channel_losses(f->reader).corrupt, 0);
}

/* Of t nothing has arrived, and of t#2 the second event is missing: t#3 is behind what there is. */
static void what_was_lost(void **state)
{
    struct fixture *f = *state;
    put_threads(f, 5);
    put_go(f, 2, PT_MARK_LANE, AT(1, 3), AT(1, 4), NONE);
    put_go(f, 3, PT_MARK_LANE, AT(1, 5), AT(1, 7), NONE); /* its first one is missing, too */
    put_go(f, 4, 0, AT(1, 2), AT(4, 1), NONE);
    put_go(f, 4, 0, AT(1, 5), AT(4, 2), NONE);
    put_go(f, 4, 0, AT(1, 6), AT(4, 3), NONE);
    put_go(f, 4, 0, AT(1, 7), AT(4, 4), NONE);
    expect(f, "t#2|event(go)|-|c=t#2:1");
    expect(f, "t#3|event(go)|-|c=t#2:1,t#3:1");
    expect(f, "t#4|event(go)|-|c=t#4:1");
    expect(f, "t#4|event(go)|-|c=t#2:1,t#4:2");
    expect(f, "t#4|event(go)|-|c=t#2:1,t#4:3");
    expect(f, "t#4|event(go)|-|c=t#2:1,t#3:1,t#4:4");
    assert_int_equal(pt_channel_losses(f->reader).corrupt, 0);
}

/* What no program says: a lane is said to be one's own, or that of one who follows another, or twice, or of more
 * events than there are; nobody is behind himself. */
static void nonsense(void **state)
{
    struct fixture *f = *state;
    put_threads(f, 8);
    put_go(f, 1, 0, AT(1, 1), NONE, NONE);
    put_go(f, 2, PT_MARK_LANE, AT(1, 1), AT(1, 2), NONE);
    put_go(f, 3, PT_MARK_LANE, AT(3, 1), AT(3, 2), NONE);
    put_go(f, 4, PT_MARK_LANE, AT(2, 2), AT(2, 3), NONE);
    put_go(f, 2, PT_MARK_LANE, AT(1, 2), AT(1, 3), NONE);
    put_go(f, 5, PT_MARK_LANE, AT(1, 1), AT(1, 2), NONE);
    put_go(f, 1, PT_MARK_LANE, AT(6, 1), AT(6, 2), NONE);
    put_go(f, 6, PT_MARK_LANE, AT(UINT32_MAX, 1), AT(UINT32_MAX, 2), NONE);
    put_go(f, 7, PT_MARK_LANE, NONE, NONE, NONE);
    expect(f, "t|event(go)|-|c=t:1");
    expect(f, "t#2|event(go)|-|c=t:1,t#2:1");
    expect(f, "nothing");
    assert_int_equal(pt_channel_losses(f->reader).corrupt, 7);
}

/* Many, one behind the other: a clock names as many as make it a long one, and completed it has them all. */
static void a_long_lane(void **state)
{
    enum { MANY = 500 };
    struct fixture *f = *state;
    struct pt_clock_state clocks = {0};
    struct pt_event event;
    put_thread(f, 0, 0, 0, "");
    for (uint32_t t = 1; t <= MANY; t++) {
        put_thread(f, 0, t, 16, "");
        put_go(f, t, t > 1 ? PT_MARK_LANE : 0, AT(1, t > 1 ? t - 1 : 1), AT(1, t > 1 ? t : 0), NONE);
        assert_true(next(f, &event));
        assert_int_equal(event.thread, t);
        assert_int_equal(event.clock_len, t > PT_CLOCK_SHORT ? PT_CLOCK_SHORT + 1 : t);
        assert_int_equal(event.behind, t > 1 ? t : 0); /* the thread before it, plus 1 */
        pt_clock_state_take(&clocks, &event);
    }
    put_go(f, 0, 0, AT(0, 1), AT(1, MANY - 1), NONE);
    assert_true(next(f, &event));
    assert_int_equal(event.clock_len, PT_CLOCK_SHORT + 1);
    pt_clock_state_take(&clocks, &event);
    for (uint32_t t = 0; t <= MANY; t++)
        assert_int_equal(pt_tree_get(&pt_clock_state_thread(&clocks, 0)->now, t), t < MANY);
    pt_clock_state_release(&clocks);
}

/* A clock of so many lanes that nobody is named for people: who the thread is behind is there nevertheless, or what is
 * known of that one would be lost to whoever does not complete clocks. */
static void a_wide_clock(void **state)
{
    enum { WIDE = PT_CLOCK_SHORT + 4 };
    struct fixture *f = *state;
    struct pt_event event;
    struct written w = {.type = PT_RECORD_EVENT, .kind = PT_KIND_USER, .thread = WIDE + 1, .marks = PT_MARK_LANE};
    put_threads(f, WIDE + 2);
    w.clock[w.clock_count++] = AT(3, 1);
    for (uint32_t t = 1; t <= WIDE; t++) {
        put_go(f, t, 0, AT(t, 1), NONE, NONE);
        assert_true(next(f, &event));
        w.clock[w.clock_count++] = AT(t, t == 3 ? 2 : 1);
    }
    w.number = f->map->next_number;
    put_event(f, 0, w);
    assert_true(next(f, &event));
    assert_int_equal(event.clock_len, WIDE + 1);
    assert_int_equal(event.behind, 3 + 1);
    bool named = false;
    for (uint32_t i = 0; i < event.clock_len; i++)
        named |= event.clock[i].thread == 3 && event.clock[i].count == 1;
    assert_true(named);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(who_had_an_event), cmocka_unit_test_setup_teardown(counts_that_begin_late, setup_counted, teardown),
        TEST(what_was_lost),    TEST(nonsense),
        TEST(a_long_lane),      TEST(a_wide_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
