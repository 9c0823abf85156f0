/* What built-in checks found, as bytes: what is written is read back, stacks shrink to fit, damage is noticed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/found.h"
#include "core/ops.h"

static const struct pt_site store = {"a.c", "put", "stack[]", 12, 3}, call = {"a.c", "worker", "", 30, 1},
                            spawn = {"main.c", "main", "", 7, 1}, make = {"a.c", "make", "", 4, 1};
static const struct pt_site *const access_stack[] = {&store, &call}, *const spawned[] = {&spawn},
                                   *const made[] = {&make, &spawn};
static const struct pt_found_lock held[] = {{"mutex", 0x1000, &call}, {NULL, 0x2000, NULL}};

static struct pt_found race(struct pt_found_side *sides)
{
    sides[0] = (struct pt_found_side){.thread = 1,
                                      .thread_name = "main",
                                      .kind = PT_KIND_READ_AT,
                                      .flags = PT_FOUND_ATOMIC,
                                      .address = 0x7008,
                                      .size = 8,
                                      .variable = "stack[]",
                                      .stack.lost = true};
    sides[1] = (struct pt_found_side){.thread = 2,
                                      .thread_name = "worker",
                                      .kind = PT_KIND_WRITE_AT,
                                      .address = 0x7008,
                                      .size = 4,
                                      .variable = "stack[]",
                                      .stack = {access_stack, 2, false},
                                      .locks = held,
                                      .lock_count = 2,
                                      .created = {spawned, 1, false}};
    return (struct pt_found){.check = PT_FOUND_RACE,
                             .key = 77,
                             .object = "stack",
                             .address = 0x7008,
                             .size = 4,
                             .block = {64, 0x7000, 1, "main", {made, 2, false}},
                             .sides = sides,
                             .side_count = 2};
}

static void expect_frame(struct pt_local_report_reader *r, const char *function, const char *file, uint64_t line)
{
    struct pt_found_frame frame = pt_found_read_frame(r);
    assert_string_equal(frame.function, function);
    assert_string_equal(frame.file, file);
    assert_int_equal(frame.line, line);
}

static void reads_back(void **state)
{
    (void)state;
    char bytes[PT_FOUND_BYTES];
    struct pt_found_side sides[2];
    struct pt_found found = race(sides);
    struct pt_local_report_reader r = {bytes, pt_found_write(&found, bytes, sizeof bytes), false};
    struct pt_found_frame at;
    assert_true(pt_found_is_whole(bytes, r.left));
    struct pt_found_head head = pt_found_read_head(&r);
    assert_int_equal(head.check, PT_FOUND_RACE);
    assert_int_equal(head.how, PT_FOUND_OBSERVED);
    assert_int_equal(head.key, 77);
    assert_string_equal(head.note, "");
    assert_string_equal(head.object, "stack");
    assert_int_equal(head.address, 0x7008);
    assert_int_equal(head.size, 4);
    assert_int_equal(head.block_size, 64);
    assert_int_equal(head.block_start, 0x7000);
    assert_int_equal(head.block_thread, 1);
    assert_string_equal(head.block_thread_name, "main");
    assert_int_equal(pt_found_read_stack(&r), 2);
    expect_frame(&r, "make", "a.c", 4);
    expect_frame(&r, "main", "main.c", 7);
    assert_int_equal(pt_found_read_sides(&r), 2);
    struct pt_found_side side = pt_found_read_side(&r);
    assert_int_equal(side.thread, 1);
    assert_int_equal(side.kind, PT_KIND_READ_AT);
    assert_int_equal(side.flags, PT_FOUND_ATOMIC);
    assert_int_equal(side.size, 8);
    assert_true(pt_found_read_stack(&r) == PT_FOUND_LOST);
    assert_int_equal(pt_found_read_locks(&r), 0);
    assert_int_equal(pt_found_read_stack(&r), 0);
    side = pt_found_read_side(&r);
    assert_string_equal(side.thread_name, "worker");
    assert_string_equal(side.variable, "stack[]");
    assert_int_equal(pt_found_read_stack(&r), 2);
    expect_frame(&r, "put", "a.c", 12);
    expect_frame(&r, "worker", "a.c", 30);
    assert_int_equal(pt_found_read_locks(&r), 2);
    struct pt_found_lock lock = pt_found_read_lock(&r, &at);
    assert_string_equal(lock.name, "mutex");
    assert_int_equal(lock.address, 0x1000);
    assert_string_equal(at.function, "worker");
    lock = pt_found_read_lock(&r, &at);
    assert_string_equal(lock.name, "");
    assert_string_equal(at.file, "");
    assert_int_equal(pt_found_read_stack(&r), 1);
    expect_frame(&r, "main", "main.c", 7);
    assert_false(r.bad);
    assert_int_equal(r.left, 0);
}

/* Deep stacks are cut, more of them where the room is small, and what is left is whole. */
static void stacks_are_cut(void **state)
{
    (void)state;
    const struct pt_site *deep[200];
    char bytes[PT_FOUND_BYTES];
    struct pt_found_side sides[2];
    struct pt_found found = race(sides);
    for (unsigned i = 0; i < 200; i++)
        deep[i] = &call;
    sides[1].stack = (struct pt_found_stack){deep, 200, false};
    for (size_t room = sizeof bytes; room >= 1000; room /= 2) {
        size_t len = pt_found_write(&found, bytes, room);
        assert_in_range(len, 1, room);
        assert_true(pt_found_is_whole(bytes, len));
    }
    struct pt_local_report_reader r = {bytes, pt_found_write(&found, bytes, sizeof bytes), false};
    (void)pt_found_read_head(&r);
    for (uint64_t left = pt_found_read_stack(&r); left; left--)
        (void)pt_found_read_frame(&r);
    (void)pt_found_read_sides(&r);
    (void)pt_found_read_side(&r);
    (void)pt_found_read_stack(&r);
    (void)pt_found_read_locks(&r);
    (void)pt_found_read_stack(&r);
    (void)pt_found_read_side(&r);
    assert_int_equal(pt_found_read_stack(&r), PT_FOUND_FRAMES + 1);
    for (unsigned i = 0; i < PT_FOUND_FRAMES; i++)
        expect_frame(&r, "worker", "a.c", 30);
    expect_frame(&r, "...", "", 0);
    assert_int_equal(pt_found_write(&found, bytes, 40), 0);
}

/* An inlined function's site brings its callers; outer calls that are lost are said to be. */
static void inlined_and_lost(void **state)
{
    (void)state;
    char bytes[PT_FOUND_BYTES];
    struct pt_found_side sides[2];
    struct pt_found found = race(sides);
    struct pt_site inner = {"a.h", "get", "x", 3, 1}, outer = {"a.c", "use", "", 9, 1};
    const struct pt_site *stack[] = {&inner, &call};
    inner.caller = &outer;
    sides[0].stack = (struct pt_found_stack){stack, 2, true};
    found.block.size = 0;
    struct pt_local_report_reader r = {bytes, pt_found_write(&found, bytes, sizeof bytes), false};
    assert_true(pt_found_is_whole(bytes, r.left));
    (void)pt_found_read_head(&r);
    (void)pt_found_read_sides(&r);
    (void)pt_found_read_side(&r);
    assert_int_equal(pt_found_read_stack(&r), 4);
    expect_frame(&r, "get", "a.h", 3);
    expect_frame(&r, "use", "a.c", 9);
    expect_frame(&r, "worker", "a.c", 30);
    expect_frame(&r, "[stack lost]", "", 0);
}

/* Every cut, and every byte set to something else: never a read beyond the end (each copy ends where its memory does),
 * never an endless one. */
static void damage(void **state)
{
    (void)state;
    char bytes[PT_FOUND_BYTES];
    struct pt_found_side sides[2];
    struct pt_found found = race(sides);
    size_t len = pt_found_write(&found, bytes, sizeof bytes);
    for (size_t cut = 0; cut < len; cut++) {
        char *copy = malloc(cut + 1);
        memcpy(copy + 1, bytes, cut);
        assert_false(pt_found_is_whole(copy + 1, cut));
        free(copy);
    }
    for (size_t at = 0; at < len; at++)
        for (unsigned value = 0; value < 256; value += 51) {
            char *copy = malloc(len);
            memcpy(copy, bytes, len);
            copy[at] = (char)value;
            (void)pt_found_is_whole(copy, len);
            free(copy);
        }
    bytes[0] = PT_FOUND_CHECKS;
    assert_false(pt_found_is_whole(bytes, len));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_back),
        cmocka_unit_test(stacks_are_cut),
        cmocka_unit_test(inlined_and_lost),
        cmocka_unit_test(damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
