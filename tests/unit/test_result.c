/* Results read back, places, ids, suppressions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "finding/suppress.h"
#include "report/json.h"
#include "report/place.h"
#include "report/result.h"

static struct pt_loaded *read_text(const char *text)
{
    struct pt_loaded *loaded;
    struct pt_err err;
    if (pt_result_read("r.json", text, strlen(text), &loaded, &err) != PT_OK)
        fail_msg("%s", err.message);
    return loaded;
}

static void assert_refused(const char *text, const char *message)
{
    struct pt_loaded *loaded;
    struct pt_err err;
    assert_int_equal(pt_result_read("r.json", text, strlen(text), &loaded, &err), PT_EINPUT);
    if (!strstr(err.message, message))
        fail_msg("'%s' is not in: %s", message, err.message);
    assert_string_equal(err.file, "r.json");
}

#define HEAD "{\"portent\": 1, \"trace\": \"x.trace\", \"events\": 3, \"threads\": 2, \"properties\": ["
#define VIOLATED                                                                                                       \
    "{\"name\": \"p\", \"kind\": \"ltl\", \"verdict\": \"violated\", \"how\": \"predicted\", \"runs\": "               \
    "\">18446744073709551615\", \"window\": 64, \"lookahead\": \"all\", "

static void test_values(void **state)
{
    (void)state;
    struct pt_loaded *loaded = read_text(
        HEAD VIOLATED
        "\"witness\": [{\"thread\": \"a\", \"op\": \"w\", \"object\": \"x\", \"value\": 18446744073709551615, "
        "\"loc\": \"\"}, {\"thread\": \"a\", \"op\": \"w\", \"object\": \"x\", \"value\": "
        "-9223372036854775808, \"loc\": \"\"}, {\"thread\": \"a\", \"op\": \"w\", \"object\": \"x\", "
        "\"value\": \"123456789012345678901\\\"\", \"loc\": \"\"}, {\"thread\": \"a\", \"op\": \"w\", "
        "\"object\": \"x\", \"value\": 0.1234567890123456789, \"loc\": \"\"}], \"observed\": [{\"thread\": "
        "\"a\", \"op\": \"w\", \"object\": \"x\", \"loc\": \"\"}, {\"thread\": \"a\", \"op\": \"w\", "
        "\"object\": \"x\", \"loc\": \"\"}, {\"thread\": \"a\", \"op\": \"w\", \"object\": \"x\", \"loc\": "
        "\"\"}, {\"thread\": \"a\", \"op\": \"w\", \"object\": \"x\", \"loc\": \"\"}]}]}");
    const struct pt_finding *finding = loaded->result.findings[0];
    assert_int_equal(finding->witness_count, 4);
    assert_int_equal(finding->witness[0].value.kind, PT_VALUE_UINT);
    assert_true(finding->witness[0].value.u == UINT64_MAX);
    assert_true(finding->witness[1].value.kind == PT_VALUE_INT && finding->witness[1].value.i == INT64_MIN);
    assert_string_equal(finding->witness[2].value.s, "123456789012345678901\"");
    assert_true(finding->witness[3].value.kind == PT_VALUE_FLOAT &&
                finding->witness[3].value.d == 0.1234567890123456789);
    assert_true(finding->runs_overflow && finding->window == 64 && finding->lookahead == PT_ALL);
    pt_loaded_free(loaded);
}

/* A result whose witness is one write of this value, in JSON. */
static const char *with_value(const char *json)
{
    static char text[1024];
    const char *step = "[{\"thread\": \"a\", \"op\": \"w\", \"object\": \"x\", \"value\": ";
    snprintf(text, sizeof text, HEAD VIOLATED "\"witness\": %s%s}], \"observed\": %s0}]}]}", step, json, step);
    return text;
}

/* A text is a text, whatever it begins with; an integer is that integer, or refused. */
static void test_integers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t kind;
    } cases[] = {{"\"\\u000142\"", PT_VALUE_STRING},      {"\"\\u0001\"", PT_VALUE_STRING},
                 {"9223372036854775807", PT_VALUE_INT},   {"9223372036854775808", PT_VALUE_UINT},
                 {"18446744073709551615", PT_VALUE_UINT}, {"-9223372036854775808", PT_VALUE_INT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pt_loaded *loaded = read_text(with_value(cases[i].text));
        struct pt_buf buf;
        char again[80];
        pt_buf_init(&buf);
        pt_report_json(&loaded->result, &buf);
        snprintf(again, sizeof again, "\"value\": %s,", cases[i].text);
        assert_int_equal(loaded->result.findings[0]->witness[0].value.kind, cases[i].kind);
        assert_non_null(strstr(buf.text, again));
        pt_buf_release(&buf);
        pt_loaded_free(loaded);
    }
    assert_refused("{\"portent\": 9223372036854775808}", "version 9223372036854775808,");
    assert_refused("{\"portent\": -1}", "version -1,");
    static const char *const large[] = {"18446744073709551616", "-9223372036854775809"};
    for (size_t i = 0; i < 2; i++) {
        char text[1024];
        assert_refused(with_value(large[i]), "64 bits do not hold");
        /* A member that is not known here is nobody's business. */
        snprintf(text, sizeof text,
                 "{\"portent\": 1, \"newer\": %s, \"trace\": \"t\", \"events\": 0, "
                 "\"threads\": 0, \"properties\": []}",
                 large[i]);
        pt_loaded_free(read_text(text));
    }
}

static void test_refused(void **state)
{
    (void)state;
    assert_refused("", "not JSON");
    assert_refused("[1]", "no \"portent\"");
    assert_refused("{\"portent\": \"1\"}", "no \"portent\"");
    assert_refused("{\"portent\": 1, \"portent\": 1}", "not JSON");
    assert_refused(HEAD "{\"kind\": \"ltl\", \"verdict\": \"holds\"}]}", "no \"name\"");
    assert_refused(HEAD "{\"name\": \"a\\u0000b\", \"kind\": \"ltl\", \"verdict\": \"holds\"}]}", "not a text");
    assert_refused(HEAD VIOLATED "\"witness\": [], \"observed\": [{}]}]}", "same length");
    assert_refused(HEAD VIOLATED
                   "\"witness\": [], \"observed\": [], \"detail\": {\"threads\": [\"a\"], \"actual\": "
                   "[{\"thread\": \"b\", \"op\": \"w\", \"object\": \"x\", \"number\": 1, \"clock\": [1]}], "
                   "\"witness\": []}}]}",
                   "does not list");
    assert_refused("{\"portent\": 1, \"blocks\": [{\"thread\": 1, \"block\": 1, \"witness\": [{\"thread\": 1, "
                   "\"after\": [0]}]}]}",
                   "more steps than");
}

static void test_model(void **state)
{
    (void)state;
    struct pt_loaded *loaded = read_text(
        "{\"portent\": 1, \"file\": \"x.sml\", \"threads\": [\"main\"], \"blocks\": [{\"thread\": 1, \"block\": 2, "
        "\"line\": 3, \"causally_atomic\": false, \"witness\": [{\"thread\": 1, \"line\": 3}, {\"thread\": 2}, "
        "{\"thread\": 1}]}]}");
    assert_true(loaded->is_model);
    const struct pt_block *block = &loaded->blocks[0];
    assert_string_equal(block->thread_name, "main");
    assert_string_equal(block->steps[1].thread, "thread 2");
    assert_int_equal(block->steps[1].after_count, 0);
    assert_int_equal(block->steps[2].after_count, 1); /* without "after": the step before it in its thread */
    assert_int_equal(block->steps[2].after[0], 0);
    pt_loaded_free(loaded);
}

static void test_places(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t path_len;
        uint64_t line, column;
    } cases[] = {
        {"a.c:20", 3, 20, 0}, {"a.c:20:5", 3, 20, 5}, {"C:a.c:7", 5, 7, 0}, {"a.c", 0, 0, 0},
        {"", 0, 0, 0},        {":7", 0, 0, 0},        {"a.c:0", 0, 0, 0},   {"a.c:12345678901234567890", 0, 0, 0},
        {"a.c:20x", 0, 0, 0}, {"7", 0, 0, 0},         {"a b:3", 3, 3, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pt_loc_parts place = pt_loc_parts(cases[i].text);
        assert_int_equal(place.path_len, cases[i].path_len);
        assert_int_equal(place.line, cases[i].line);
        assert_int_equal(place.column, cases[i].column);
    }
}

static void test_patterns(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *text;
        bool whole, matches;
    } cases[] = {
        {"valve", "valve", true, true},  {"valve", "valve2", true, false}, {"va*", "valve", true, true},
        {"*", "", true, true},           {"a*b*c", "aXbYbZc", true, true}, {"a*b", "aXbY", true, false},
        {"foo", "a_foo_b", false, true}, {"^foo", "a_foo", false, false},  {"^foo", "foo_b", false, true},
        {"foo$", "a_foo", false, true},  {"foo$", "foofoo", false, true},  {"foo$", "foo_b", false, false},
        {"f*o$", "xxfabo", false, true}, {"", "anything", false, true},    {"^$", "", false, true},
        {"aab", "aaab", false, true},    {"**b", "ab", true, true},        {"x", "", false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (pt_suppress_pattern(cases[i].pattern, strlen(cases[i].pattern), cases[i].text, cases[i].whole) !=
            cases[i].matches)
            fail_msg("'%s' on '%s'", cases[i].pattern, cases[i].text);
}

static void test_suppressions(void **state)
{
    (void)state;
    struct pt_suppressions list;
    struct pt_err err;
    static const char text[] = "# comment\n\n  property:p  \r\nrace:^counter$\ndeadlock:foo";
    struct pt_binding variable = {.name = "counter"};
    struct pt_known with = {.text = "races with",
                            .thread = "worker",
                            .state = 2,
                            .from = {.thread = "worker", .op = "w", .object = "other", .loc = "b.c:2"}};
    struct pt_finding race = {.property = "q",
                              .kind = "mttl",
                              .text = "race_free(*)",
                              .first = {.thread = "main",
                                        .state = 3,
                                        .event = {.thread = "main", .op = "w", .object = "counter", .loc = "a.c:1"},
                                        .knew = &with,
                                        .knew_count = 1}};
    struct pt_finding other = {
        .property = "r", .kind = "ltl", .text = "counter > 0", .initial = &variable, .value_count = 1};
    struct pt_finding named = {.property = "p", .kind = "ltl", .text = ""};
    pt_suppressions_init(&list);
    assert_int_equal(pt_suppressions_add(&list, "s", text, sizeof text - 1, &err), PT_OK);
    assert_int_equal(list.count, 3);
    assert_string_equal(pt_suppressions_match(&list, &named)->text, "property:p");
    assert_string_equal(pt_suppressions_match(&list, &race)->text, "race:^counter$");
    assert_null(pt_suppressions_match(&list, &other));
    race.first.event.object = "limit"; /* the property's text has an "a", an event of it has not */
    assert_null(pt_suppressions_match(&list, &race));
    static const char sides[] = "race:^a$\nrace:b.c\n";
    assert_int_equal(pt_suppressions_add(&list, "s", sides, sizeof sides - 1, &err), PT_OK);
    assert_string_equal(pt_suppressions_match(&list, &race)->text, "race:b.c");
    assert_int_equal(pt_suppressions_add(&list, "s", "ok\n", 3, &err), PT_EINPUT);
    assert_int_equal(pt_suppressions_add(&list, "s", "\nfoo:bar\n", 9, &err), PT_EINPUT);
    assert_int_equal(err.line, 2);
    assert_int_equal(pt_suppressions_add(&list, "s", "property:", 9, &err), PT_EINPUT);
    pt_suppressions_release(&list);
}

static void test_ids(void **state)
{
    (void)state;
    struct pt_step steps[2] = {{.thread = "worker#2", .op = "w", .object = "x", .loc = "a.c:1"},
                               {.thread = "worker#11", .op = "w", .object = "x", .loc = "a.c:9"}};
    struct pt_binding variables[2] = {{.name = "x"}, {.name = "y"}};
    struct pt_binding swapped[2] = {{.name = "y"}, {.name = "x"}};
    struct pt_finding a = {.property = "p",
                           .kind = "ltl",
                           .witness = &steps[0],
                           .witness_count = 1,
                           .initial = variables,
                           .value_count = 2};
    struct pt_finding b = a;
    struct pt_finding_id first, second;
    b.witness = &steps[1];
    b.initial = swapped;
    first = pt_finding_id(&a);
    second = pt_finding_id(&b);
    assert_string_equal(first.text, second.text);
    assert_int_equal(strlen(first.text), 16);
    steps[1].thread = "worker#x";
    second = pt_finding_id(&b);
    assert_string_not_equal(first.text, second.text);
    b = a;
    b.property = "q";
    second = pt_finding_id(&b);
    assert_string_not_equal(first.text, second.text);
}

/* A race on the heap, a violation at a lock of the stack: the address is another one in the next run. */
static void test_ids_of_addresses(void **state)
{
    (void)state;
    struct pt_finding a = {.property = "p", .kind = "mttl"};
    struct pt_finding_id first, second;
    a.first = (struct pt_finding_first){.state = 3, .event = {.thread = "T1", .op = "acq", .object = "0x55b7fd3b1370"}};
    first = pt_finding_id(&a);
    a.first.event.object = "0x5566eb554370#2";
    second = pt_finding_id(&a);
    assert_string_equal(first.text, second.text);
    a.first.event.object = "lock";
    second = pt_finding_id(&a);
    assert_string_not_equal(first.text, second.text);
}

/* Of a disturbed block its name and both threads count, not the event that shows it. */
static void test_ids_of_blocks(void **state)
{
    (void)state;
    struct pt_known knew[2] = {
        {.text = "@j(x > 0)", .thread = "T9", .value = pt_value_bool(true)},
        {.text = "was disturbed by", .thread = "worker#2", .value = pt_value_string("update", 6), .heard = true}};
    struct pt_finding a = {.property = "p", .kind = "mttl"};
    a.first = (struct pt_finding_first){.thread = "main",
                                        .state = 3,
                                        .event = {.thread = "main", .op = "acq", .object = "latch"},
                                        .knew = knew,
                                        .knew_count = 2};
    struct pt_finding_id first = pt_finding_id(&a), second;
    a.first.event = (struct pt_step){.thread = "main", .op = "r", .object = "level"};
    second = pt_finding_id(&a);
    assert_string_equal(first.text, second.text);
    a.first.thread = "worker#4";
    knew[1].thread = "main";
    second = pt_finding_id(&a);
    assert_string_equal(first.text, second.text);
    knew[1].thread = "mai"; /* where one name begins like the other */
    second = pt_finding_id(&a);
    assert_string_not_equal(first.text, second.text);
    knew[1].thread = "main";
    knew[1].value = pt_value_string("update2", 7);
    second = pt_finding_id(&a);
    assert_string_not_equal(first.text, second.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),        cmocka_unit_test(test_integers), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_model),         cmocka_unit_test(test_places),   cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_suppressions),  cmocka_unit_test(test_ids),      cmocka_unit_test(test_ids_of_addresses),
        cmocka_unit_test(test_ids_of_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
