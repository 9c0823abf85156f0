/* `.schedule` files: what was written is read back; what is none is refused with its line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/found.h"
#include "explore/schedule.h"

static void reads_what_was_written(void **state)
{
    struct pt_explore_places places;
    struct pt_explore_schedule schedule;
    struct pt_explore_step steps[3] = {{.who = 0}, {.who = 0}, {.who = 1}};
    struct pt_explore_stretch taken[2] = {{0, 2}, {1 | PT_EXPLORE_HANDLES, 1}};
    struct pt_explore_outcome outcome = {.steps = steps, .step_count = 3, .taken = taken, .taken_count = 2};
    struct pt_explore_input input = {.spurious = 3, .wishes = PT_EXPLORE_LATE, .clock = 17, .spin_limit = 500};
    const char *const program[] = {"./a \"b\"\n", "--x", NULL}, *const threads[] = {"main", "wor\nker", NULL};
    struct pt_explore_expected expected = {.measured = true, .status = 7, .checks = 1u << PT_FOUND_LIFETIME};
    struct pt_explore_schedule_head head = {.program = program,
                                            .path = "/a folder/prog\033\"",
                                            .ends = "signal 6",
                                            .comment = "what\nhappened",
                                            .threads = threads,
                                            .expected = &expected,
                                            .fails_at = 2};
    struct pt_buf text;
    struct pt_err err;
    (void)state;
    pt_explore_places_init(&places);
    (void)pt_explore_places_share(&places, 0x1234, "x y");
    (void)pt_explore_places_share(&places, UINT64_MAX, "");
    outcome.result.values = 0xabc;
    pt_buf_init(&text);
    pt_explore_schedule_write(&head, &input, &outcome, &places, &text);
    assert_int_equal(pt_explore_schedule_read("a", text.text, text.len, &schedule, &err), PT_OK);
    assert_string_equal(schedule.ends, "signal 6");
    assert_string_equal(schedule.comment, "what happened");
    assert_true(schedule.expects && schedule.expected.measured);
    assert_int_equal(schedule.expected.status, 7);
    assert_int_equal(schedule.expected.checks, 1u << PT_FOUND_LIFETIME);
    assert_int_equal(schedule.fails_at, 2);
    assert_string_equal(schedule.path, head.path);
    for (uint32_t i = 0; program[i]; i++)
        assert_string_equal(i < schedule.program_count ? schedule.program[i] : "(missing)", program[i]);
    assert_int_equal(schedule.stretch_count, 2);
    assert_memory_equal(schedule.stretches, taken, sizeof taken);
    assert_int_equal(schedule.input.spurious, 3);
    assert_int_equal(schedule.input.clock, 17);
    assert_int_equal(schedule.input.spin_limit, 500);
    assert_true(schedule.input.wishes & PT_EXPLORE_LATE);
    assert_int_equal(schedule.shared_count, 2);
    assert_true(schedule.shared[0] == 0x1234 && schedule.shared[1] == UINT64_MAX);
    assert_string_equal(schedule.variables[0], "x y");
    assert_true(schedule.values == 0xabc);
    uint64_t step;
    assert_int_equal(pt_explore_schedule_compare(&schedule, &outcome, &places, &step), 2);
    outcome.result.diverged_at = 2;
    assert_int_equal(pt_explore_schedule_compare(&schedule, &outcome, &places, &step), 0);
    assert_int_equal(step, 2);
    outcome.result.diverged_at = 0;
    outcome.step_count = 2;
    assert_int_equal(pt_explore_schedule_compare(&schedule, &outcome, &places, &step), 1);
    for (size_t len = 0; len < text.len; len++) /* whatever is cut off */
        assert_int_equal(pt_explore_schedule_read("a", text.text, len, &(struct pt_explore_schedule){0}, &err),
                         PT_EINPUT);
    pt_explore_schedule_release(&schedule);
    pt_explore_places_release(&places);
    pt_buf_release(&text);
}

static void refuses_what_is_none(void **state)
{
    static const struct {
        const char *text;
        unsigned line;
    } cases[] = {{"portent-schedule 2\nend\n", 1},
                 {"portent-schedule 1\nrun 0\nend\n", 2},
                 {"portent-schedule 1\nrun 0 0\nend\n", 2},
                 {"portent-schedule 1\nrun 256 1\nend\n", 2},
                 {"portent-schedule 1\nrun 0 4294967296\nend\n", 2},
                 {"portent-schedule 1\n# fine\nshared xyz\nend\n", 3},
                 {"portent-schedule 1\nsetting colour 1\nend\n", 2},
                 {"portent-schedule 1\nwalk 0 1\nend\n", 2},
                 {"portent-schedule 1\nends purple\nend\n", 2},
                 {"portent-schedule 1\nends signal\nend\n", 2},
                 {"portent-schedule 1\nends deadlock 3\nend\n", 2},
                 {"portent-schedule 1\nends property\nend\n", 2},
                 {"portent-schedule 1\nordinary 256\nend\n", 2},
                 {"portent-schedule 1\nexpected\nend\n", 2},
                 {"portent-schedule 1\nfails_at x\nend\n", 2},
                 {"portent-schedule 1\nprogram ./a\nend\n", 2},
                 {"portent-schedule 1\nprogram \"a\\000\"\nend\n", 2},
                 {"portent-schedule 1\npath \"a\nend\n", 2},
                 {"portent-schedule 1\nvalues 12 34\nend\n", 2},
                 {"portent-schedule 1\nend\nrun 0 1\n", 3},
                 {"portent-schedule 1\nrun 0 1\n", 2}};
    struct pt_explore_schedule schedule;
    struct pt_err err;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(pt_explore_schedule_read("a", cases[i].text, strlen(cases[i].text), &schedule, &err),
                         PT_EINPUT);
        assert_int_equal(err.line, cases[i].line);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_was_written),
        cmocka_unit_test(refuses_what_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
