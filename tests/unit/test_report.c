/* Reports on hand-made findings: the water tank's, and ones that try to break columns, JSON or the terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/json.h"
#include "report/json_writer.h"
#include "report/style.h"
#include "report/text.h"

static const struct pt_style plain = {.color = false, .width = 80};

static struct pt_step step(const char *thread, const char *object, int64_t value, const char *loc, uint64_t number)
{
    return (struct pt_step){
        .thread = thread, .op = "w", .object = object, .loc = loc, .value = pt_value_int(value), .number = number};
}

/* The violation of the JMPaX paper's Example 1, from a run that passed. */
struct water {
    struct pt_step witness[4], actual[4];
    struct pt_move moves[1];
    struct pt_binding initial[2], final[2];
    struct pt_truth truths[3];
    struct pt_finding finding;
};

static void water_init(struct water *water)
{
    memset(water, 0, sizeof *water);
    struct pt_step w24 = step("T2", "w", 24, "water.c:20", 1), v50 = step("T1", "v", 50, "water.c:8", 2),
                   w27 = step("T2", "w", 27, "water.c:20", 3), w31 = step("T2", "w", 31, "water.c:20", 5);
    water->witness[0] = w24, water->witness[1] = w27, water->witness[2] = w31;
    water->actual[0] = w24, water->actual[1] = v50, water->actual[2] = w27, water->actual[3] = w31;
    water->moves[0] = (struct pt_move){.step = 1, .over = v50, .over_index = 1, .needs = 0};
    water->initial[0] = (struct pt_binding){"w", pt_value_int(20)};
    water->initial[1] = (struct pt_binding){"v", pt_value_int(40)};
    water->final[0] = (struct pt_binding){"w", pt_value_int(31)};
    water->final[1] = (struct pt_binding){"v", pt_value_int(40)};
    water->truths[0] = (struct pt_truth){"w > 30 -> v > 55", PT_TRUTH_FALSE, 0};
    water->truths[1] = (struct pt_truth){"w > 30", PT_TRUTH_TRUE, 1};
    water->truths[2] = (struct pt_truth){"eventually v > 55", PT_TRUTH_OPEN, 1};
    water->finding = (struct pt_finding){.property = "valve",
                                         .kind = "ltl",
                                         .text = "w > 30 -> v > 55",
                                         .file = "water.prop",
                                         .line = 3,
                                         .verdict = PT_VERDICT_VIOLATED,
                                         .how = PT_HOW_PREDICTED,
                                         .monitorable = true,
                                         .order = "access",
                                         .relevant = 6,
                                         .levels = 7,
                                         .states = 11,
                                         .width = 3,
                                         .runs = 6,
                                         .window = PT_ALL,
                                         .lookahead = PT_ALL,
                                         .complete = true,
                                         .witness = water->witness,
                                         .witness_count = 3,
                                         .observed = water->witness,
                                         .actual = water->actual,
                                         .actual_count = 4,
                                         .moves = water->moves,
                                         .move_count = 1,
                                         .initial = water->initial,
                                         .final = water->final,
                                         .value_count = 2,
                                         .truths = water->truths,
                                         .truth_count = 3,
                                         .seconds = 0.0004,
                                         .peak_bytes = 81920};
}

static char *text_of(const struct pt_finding *finding, const struct pt_style *style)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_report_text(finding, style, &buf);
    return pt_buf_take(&buf);
}

static char *json_of(struct pt_finding *finding)
{
    struct pt_result result = {.trace = "x.trace", .events = 26, .threads = 3, .findings = &finding, .count = 1};
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_report_json(&result, &buf);
    return pt_buf_take(&buf);
}

static void assert_contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in:\n%s", part, text);
}

static void assert_lines_fit(const char *text, size_t width)
{
    while (*text) {
        size_t len = strcspn(text, "\n");
        char *line = strndup(text, len);
        if (pt_style_columns(line) > width && strncmp(line, "SUMMARY", 7) != 0)
            fail_msg("longer than %zu columns: %s", width, line);
        free(line);
        text += len + (text[len] == '\n');
    }
}

static void test_prediction(void **state)
{
    (void)state;
    struct water water;
    water_init(&water);
    char *text = text_of(&water.finding, &plain);
    assert_int_equal(strncmp(text, "Property 'valve' can be violated (predicted). Your run passed", 61), 0);
    assert_contains(text, "\n  water.prop:3: valve: w > 30 -> v > 55\n");
    assert_contains(text, "\n  Initially: w = 20, v = 40\n");
    assert_contains(text, "\n     Your run ");
    assert_contains(text, " |    Predicted run\n");
    assert_contains(text, "\n     T2  w: 20 -> 24");
    assert_contains(text, "\n  -  T1  v: 40 -> 50 ");
    assert_contains(text, " | >  T2  w: 24 -> 27");
    assert_contains(text, " |  ! T2  w: 27 -> 31");
    assert_contains(text,
                    "\n  In the violating state, w = 31, v = 40:\n    false  w > 30 -> v > 55\n    true     w > 30\n"
                    "    open     eventually v > 55\n");
    assert_contains(text, "    w(w)=27 by T2 (water.c:20) may come before w(v)=50 by T1 (water.c:8):\n"
                          "      nothing T2 did until then depends on that write.\n");
    assert_contains(text, "\n  Explored: 7 levels, 11 states, 6 runs over 6 relevant events.\n");
    assert_contains(text, "\nSUMMARY: portent: predicted violation of 'valve' at w(w)=31 by T2 (water.c:20)\n");
    assert_null(strchr(text, '\033'));
    assert_lines_fit(text, 80);
    free(text);
}

static void test_observed_in_one_column(void **state)
{
    (void)state;
    struct water water;
    water_init(&water);
    water.finding.how = PT_HOW_OBSERVED;
    water.finding.move_count = 0;
    water.finding.witness = water.actual;
    water.finding.witness_count = 4;
    char *text = text_of(&water.finding, &plain);
    assert_contains(text, "your run itself breaks it");
    assert_null(strstr(text, "Your run passed"));
    assert_null(strchr(text, '|'));
    assert_contains(text, "\n   ! T2  w: 27 -> 31");
    assert_contains(text, "observed violation");
    free(text);
}

static void test_initial_state(void **state)
{
    (void)state;
    struct water water;
    water_init(&water);
    water.finding.how = PT_HOW_OBSERVED;
    water.finding.witness_count = water.finding.actual_count = water.finding.move_count = 0;
    char *text = text_of(&water.finding, &plain);
    assert_contains(text, "the initial state already breaks it");
    assert_contains(text, "SUMMARY: portent: observed violation of 'valve' in the initial state\n");
    free(text);
    text = json_of(&water.finding);
    assert_contains(text, "\"witness\": [], \"observed\": []");
    free(text);
}

static void test_other_verdicts(void **state)
{
    (void)state;
    struct water water;
    water_init(&water);
    water.finding.verdict = PT_VERDICT_HOLDS;
    char *text = text_of(&water.finding, &plain);
    assert_contains(text, "holds in every order of these events that keeps conflicting\n"
                          "  accesses and lock operations as recorded.\n  Explored: 7 levels, ");
    free(text);
    water.finding.complete = false;
    water.finding.window = 64;
    text = text_of(&water.finding, &plain);
    assert_null(strstr(text, "every order"));
    assert_contains(text, "window 64");
    assert_contains(text, "left out");
    free(text);
    water.finding.monitorable = false;
    text = text_of(&water.finding, &plain);
    assert_null(strstr(text, "holds"));
    assert_contains(text, "cannot be violated by any finite prefix");
    free(text);
    water.finding.verdict = PT_VERDICT_ERROR;
    water.finding.message = "division by zero";
    water.finding.message_place = "x.trace:7";
    text = text_of(&water.finding, &plain);
    assert_string_equal(text, "Property 'valve' cannot be evaluated: division by zero (x.trace:7).\n");
    free(text);
    text = json_of(&water.finding);
    assert_contains(text, "\"verdict\": \"error\", \"message\": \"division by zero (x.trace:7)\", \"monitorable\"");
    assert_null(strstr(text, "witness"));
    assert_null(strstr(text, "\"how\""));
    free(text);
}

static void test_json(void **state)
{
    (void)state;
    struct water water;
    water_init(&water);
    water.finding.witness_count = 1;
    water.finding.witness[0].op = "u";
    char *text = json_of(&water.finding);
    assert_string_equal(
        text,
        "{\"portent\": 1, \"trace\": \"x.trace\", \"events\": 26, \"threads\": 3, \"properties\": [{\"name\": "
        "\"valve\", "
        "\"kind\": \"ltl\", \"verdict\": \"violated\", \"how\": \"predicted\", \"monitorable\": true, \"order\": "
        "\"access\", \"relevant\": 6, \"levels\": 7, \"states\": 11, \"width\": 3, \"runs\": \"6\", \"window\": "
        "\"all\", "
        "\"lookahead\": \"all\", \"complete\": true, \"witness\": [{\"thread\": \"T2\", \"op\": \"u\", "
        "\"object\": \"w\", "
        "\"value\": 24, \"loc\": \"water.c:20\"}], \"observed\": [{\"thread\": \"T2\", \"op\": \"u\", "
        "\"object\": \"w\", "
        "\"value\": 24, \"loc\": \"water.c:20\"}], \"text\": \"w > 30 -> v > 55\", \"file\": \"water.prop\", "
        "\"line\": 3, \"id\": \"45d470bc6a20224a\", \"detail\": {\"variables\": [{\"name\": \"w\", \"initial\": 20, "
        "\"final\": 31}, {\"name\": \"v\", \"initial\": 40, \"final\": 40}], \"formulas\": [{\"text\": \"w > 30 -> "
        "v > 55\", \"depth\": 0, \"final\": \"false\"}, {\"text\": \"w > 30\", \"depth\": 1, \"final\": "
        "\"true\"}, {\"text\": \"eventually v > 55\", \"depth\": 1, \"final\": \"open\"}], \"switches\": 0}, "
        "\"seconds\": 0.0004, \"peak_bytes\": 81920}]}\n");
    free(text);
    water.finding.witness_from = 3;
    water.finding.from_values = water.final;
    water.finding.from_count = 2;
    water.finding.window = 64;
    water.finding.runs = UINT64_MAX;
    water.finding.runs_overflow = true;
    text = json_of(&water.finding);
    assert_contains(text, "\"witness_from\": {\"events\": 3, \"values\": {\"w\": 31, \"v\": 40}}, \"witness\"");
    assert_contains(text, "\"window\": 64, \"lookahead\": \"all\"");
    assert_contains(text, "\"runs\": \">18446744073709551615\"");
    free(text);
}

static char *json_value(struct pt_value value)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    struct pt_json json = {.buf = &buf};
    pt_json_value(&json, NULL, value);
    return pt_buf_take(&buf);
}

static void test_json_values(void **state)
{
    (void)state;
    static const struct {
        struct pt_value value;
        const char *text;
    } cases[] = {
        {{.kind = PT_VALUE_INT, .i = INT64_MIN}, "-9223372036854775808"},
        {{.kind = PT_VALUE_UINT, .u = UINT64_MAX}, "18446744073709551615"},
        {{.kind = PT_VALUE_FLOAT, .d = 0.1}, "0.1"},
        {{.kind = PT_VALUE_FLOAT, .d = 3}, "3.0"},
        {{.kind = PT_VALUE_FLOAT, .d = 1e300}, "1e+300"},
        {{.kind = PT_VALUE_FLOAT, .d = 0.1 + 0.2}, "0.30000000000000004"},
        {{.kind = PT_VALUE_FLOAT, .d = NAN}, "\"nan\""},
        {{.kind = PT_VALUE_FLOAT, .d = -INFINITY}, "\"-inf\""},
        {{.kind = PT_VALUE_BOOL, .i = 1}, "true"},
        {{.kind = PT_VALUE_UNKNOWN}, "null"},
        {{.kind = PT_VALUE_STRING, .len = 5, .s = "a\"\\\n\x01"}, "\"a\\\"\\\\\\n\\u0001\""},
        {{.kind = PT_VALUE_STRING, .len = 4, .s = "\xc3\xa4\xc3("}, "\"\xc3\xa4\\ufffd(\""},
        {{.kind = PT_VALUE_STRING, .len = 3, .s = "\xed\xa0\x80"}, "\"\\ufffd\\ufffd\\ufffd\""},
        {{.kind = PT_VALUE_STRING, .len = 3, .s = "a\0b"}, "\"a\\u0000b\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = json_value(cases[i].value);
        assert_string_equal(text, cases[i].text);
        free(text);
    }
}

static void test_long_names_fit(void **state)
{
    (void)state;
    static const char name[] =
        "a_thread_or_a_variable_or_a_file_whose_name_goes_on_and_on_and_on_without_end.c:1234567";
    static const unsigned widths[] = {60, 80, 131};
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        struct pt_style style = {.width = widths[w]};
        for (unsigned which = 0; which < 16; which++) {
            struct water water;
            water_init(&water);
            for (uint32_t i = 0; i < 3; i++) {
                water.witness[i].thread = which & 1 ? name : "T";
                water.witness[i].object = which & 2 ? name : "x";
                water.witness[i].loc = which & 4 ? name : "-";
            }
            water.initial[0].name = which & 8 ? name : "w";
            char *text = text_of(&water.finding, &style);
            assert_lines_fit(text, widths[w]);
            if (which & 4)
                assert_contains(text, "567\n"); /* a place keeps its end: the line number */
            free(text);
        }
    }
}

static void test_long_witness_is_shortened(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    struct water water;
    water_init(&water);
    struct pt_step *steps = calloc(COUNT, sizeof *steps);
    for (uint32_t i = 0; i < COUNT; i++)
        steps[i] = step("T1", "w", i, "a.c:1", i + 1);
    water.finding.witness = water.finding.observed = water.finding.actual = steps;
    water.finding.witness_count = water.finding.actual_count = COUNT;
    water.finding.move_count = 0;
    char *text = text_of(&water.finding, &plain);
    size_t lines = 0;
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    assert_in_range(lines, 20, 60);
    assert_contains(text, "... 974 rows left out ...");
    assert_contains(text, "w: 998 -> 999");
    free(text);
    free(steps);
}

static void test_assumed_values(void **state)
{
    (void)state;
    struct water water;
    water_init(&water);
    water.initial[1] = (struct pt_binding){"v", pt_value_int(0), true};
    char *text = text_of(&water.finding, &plain);
    assert_contains(text, "\n  Initially: w = 20, v = 0 (not given, taken as 0)\n");
    free(text);
    water.initial[0] = (struct pt_binding){"w", pt_value_int(0), true};
    text = text_of(&water.finding, &plain);
    assert_contains(text, "\n  Initially: w = 0*, v = 0* (*: not given, taken as 0)\n");
    free(text);
}

static void test_reasons_per_pair_of_threads(void **state)
{
    (void)state;
    enum { MOVES = 20 };
    static const char *const threads[] = {"A", "B", "C", "D", "E", "F", "G", "H"};
    struct water water;
    water_init(&water);
    struct pt_move moves[MOVES];
    for (uint32_t i = 0; i < MOVES; i++) {
        moves[i] = water.moves[0];
        moves[i].over.thread = threads[i % 8];
        moves[i].over.op = i % 8 ? "w" : "event";
    }
    water.finding.moves = moves;
    water.finding.move_count = MOVES;
    char *text = text_of(&water.finding, &plain);
    assert_contains(text, "depends on that event.\n");
    assert_contains(text, "    and 2 more, of other threads.\n");
    size_t reasons = 0;
    for (const char *at = text; (at = strstr(at, " may come before ")); at++)
        reasons++;
    assert_int_equal(reasons, 6);
    free(text);
}

/* Names that two columns would cut: one run below the other, with nothing cut. */
static void test_stacked_runs(void **state)
{
    (void)state;
    struct water water;
    water_init(&water);
    for (uint32_t i = 0; i < 4; i++) {
        water.witness[i].thread = water.actual[i].thread = "connection_pool_worker";
        water.witness[i].loc = water.actual[i].loc = "a/long/way/to/the/file/water.c:20";
    }
    char *text = text_of(&water.finding, &plain);
    assert_contains(text,
                    "\n     Your run\n     connection_pool_worker  w: 20 -> 24  a/long/way/to/the/file/water.c:20\n");
    assert_contains(text, "\n\n     Predicted run\n     connection_pool_worker  w: 20 -> 24");
    assert_null(strstr(text, ".."));
    free(text);
    water_init(&water);
    for (uint32_t i = 0; i < 4; i++)
        water.witness[i].loc = water.actual[i].loc = "a/long/way/to/the/file/water.c:20";
    text = text_of(&water.finding, &plain);
    assert_contains(text, "../file/water.c:20 | ");
    assert_contains(text, ".."); /* side by side, places without folders */
    assert_lines_fit(text, 80);
    free(text);
}

/* What violates where no line of the breakdown says so. */
static void test_conclusions(void **state)
{
    (void)state;
    struct water water;
    water_init(&water);
    char *text = text_of(&water.finding, &plain);
    assert_null(strstr(text, "continuation"));
    free(text);
    water.truths[0].value = PT_TRUTH_OPEN;
    text = text_of(&water.finding, &plain);
    assert_contains(text, "\n    No accepting continuation is left.\n");
    free(text);
    water.finding.kind = "ere";
    text = text_of(&water.finding, &plain);
    assert_contains(text, "\n    The run up to here is matched by the expression.\n");
    free(text);
    water.finding.witness_from = 3;
    water.finding.truth_count = 0;
    text = text_of(&water.finding, &plain);
    assert_contains(text, "\n    (no formula breakdown: that needs the run's beginning, which is not kept)\n");
    free(text);
}

/* What a trace says must not reach the terminal as a command. */
static void test_text_is_harmless(void **state)
{
    (void)state;
    struct water water;
    water_init(&water);
    water.finding.property = "a\033[2Jb\xff\xc2\x9b";
    water.witness[2].thread = "T\r\n\t\x7f";
    water.final[0].value = pt_value_string("\033]0;x\a", 6);
    char *text = text_of(&water.finding, &plain);
    for (const char *c = text; *c; c++)
        assert_true(*c == '\n' || ((unsigned char)*c >= 0x20 && (unsigned char)*c < 0x7f));
    free(text);
}

static void test_color(void **state)
{
    (void)state;
    struct pt_style style = {.color = true, .width = 80};
    struct water water;
    water_init(&water);
    char *text = text_of(&water.finding, &style);
    assert_contains(text, "\033[31m");
    free(text);
}

static void test_stream_tells_what_changed(void **state)
{
    (void)state;
    struct water water;
    water_init(&water);
    struct pt_buf buf;
    pt_buf_init(&buf);
    water.finding.how = PT_HOW_OBSERVED;
    struct pt_pending_report told = {&water.finding, PT_HOW_PREDICTED, 7, 11};
    pt_report_text_later(&water.finding, &told, &plain, &buf);
    assert_contains(buf.text,
                    "and later your run itself broke\n  it.\nSUMMARY: portent: observed violation of 'valve'");
    assert_null(strstr(buf.text, "Explored"));
    pt_buf_release(&buf);
    told.how = PT_HOW_OBSERVED;
    told.states = 10;
    pt_report_text_later(&water.finding, &told, &plain, &buf);
    assert_string_equal(buf.text, "Property 'valve' is violated, as reported above. Explored in the end: 7 levels,\n"
                                  "  11 states, 6 runs over 6 relevant events.\n");
    pt_buf_release(&buf);
    pt_report_text_observed(&water.finding, &water.witness[2], false, &buf);
    assert_string_equal(buf.text, "Property 'valve': your run has just broken it, at w(w)=31 by T2 (water.c:20). "
                                  "The full report follows.\n");
    pt_buf_release(&buf);
    pt_report_text_observed(&water.finding, NULL, true, &buf);
    assert_string_equal(buf.text, "Property 'valve', reported above as predicted: your run has just broken it, in "
                                  "the initial state.\n");
    pt_buf_release(&buf);
}

static void test_fit_and_wrap(void **state)
{
    (void)state;
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_style_fit(&buf, "\xc3\xa4\xc3\xb6\xc3\xbc", 5, PT_CUT_END);
    assert_string_equal(buf.text, "\xc3\xa4\xc3\xb6\xc3\xbc  ");
    pt_buf_release(&buf);
    pt_style_fit(&buf, "directory/file.c:12", 9, PT_CUT_START);
    assert_string_equal(buf.text, "..le.c:12");
    pt_buf_release(&buf);
    pt_style_fit(&buf, "abcdefgh", 5, PT_CUT_END);
    assert_string_equal(buf.text, "abc..");
    pt_buf_release(&buf);
    pt_style_wrap(&buf, "one two three four", 2, 4, 15);
    assert_string_equal(buf.text, "  one two three\n    four\n");
    pt_buf_release(&buf);
    pt_style_wrap(&buf, "unbreakableunbreakable", 0, 0, 20);
    assert_string_equal(buf.text, "unbreakableunbreakab\nle\n");
    pt_buf_release(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prediction),
        cmocka_unit_test(test_observed_in_one_column),
        cmocka_unit_test(test_initial_state),
        cmocka_unit_test(test_other_verdicts),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_json_values),
        cmocka_unit_test(test_long_names_fit),
        cmocka_unit_test(test_long_witness_is_shortened),
        cmocka_unit_test(test_assumed_values),
        cmocka_unit_test(test_reasons_per_pair_of_threads),
        cmocka_unit_test(test_stacked_runs),
        cmocka_unit_test(test_conclusions),
        cmocka_unit_test(test_text_is_harmless),
        cmocka_unit_test(test_color),
        cmocka_unit_test(test_stream_tells_what_changed),
        cmocka_unit_test(test_fit_and_wrap),
    };
    return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
