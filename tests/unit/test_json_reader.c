/* JSON read: integers exactly, strings, and everything that is not JSON refused with its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "report/json_reader.h"
#include "report/json_writer.h"

static struct pt_arena arena;

static int setup(void **state)
{
    (void)state;
    pt_arena_init(&arena);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    pt_arena_release(&arena);
    return 0;
}

static const struct pt_json_node *read_bytes(const char *text, size_t len)
{
    const struct pt_json_node *root = NULL;
    struct pt_err err;
    if (pt_json_read("x", "bad", text, len, &arena, &root, &err) != PT_OK)
        fail_msg("%s: %s", text, err.message);
    return root;
}

static const struct pt_json_node *read_text(const char *text)
{
    return read_bytes(text, strlen(text));
}

static void refuse_bytes(const char *text, size_t len, uint64_t line, uint32_t column, const char *message)
{
    const struct pt_json_node *root = NULL;
    struct pt_err err;
    if (pt_json_read("x", "bad", text, len, &arena, &root, &err) == PT_OK)
        fail_msg("accepted: %.60s", text);
    assert_null(root);
    if (!strstr(err.message, message) || err.line != line || err.column != column)
        fail_msg("%.60s: %d:%d: %s", text, (int)err.line, (int)err.column, err.message);
}

static void refuse(const char *text, uint64_t line, uint32_t column, const char *message)
{
    refuse_bytes(text, strlen(text), line, column, message);
}

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        struct pt_value value;
    } cases[] = {
        {"[0]", {.kind = PT_VALUE_INT, .i = 0}},
        {"[-0]", {.kind = PT_VALUE_INT, .i = 0}},
        {"[42]", {.kind = PT_VALUE_INT, .i = 42}},
        {"[-9223372036854775808]", {.kind = PT_VALUE_INT, .i = INT64_MIN}},
        {"[9223372036854775807]", {.kind = PT_VALUE_INT, .i = INT64_MAX}},
        {"[9223372036854775808]", {.kind = PT_VALUE_UINT, .u = (uint64_t)INT64_MAX + 1}},
        {"[18446744073709551615]", {.kind = PT_VALUE_UINT, .u = UINT64_MAX}},
        {"[1e3]", {.kind = PT_VALUE_FLOAT, .d = 1000}},
        {"[-0.5]", {.kind = PT_VALUE_FLOAT, .d = -0.5}},
        {"[5E-324]", {.kind = PT_VALUE_FLOAT, .d = 5e-324}},
        {"[18446744073709551616.0]", {.kind = PT_VALUE_FLOAT, .d = 18446744073709551616.0}},
    };
    static const char *const too_large[] = {"[18446744073709551616]", "[-9223372036854775809]",
                                            "[99999999999999999999999999]", "[1e400]"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct pt_json_node *node = pt_json_at(read_text(cases[i].text), 0);
        if (node->kind != PT_JSON_VALUE || !pt_value_same(node->value, cases[i].value))
            fail_msg("%s", cases[i].text);
    }
    for (size_t i = 0; i < sizeof too_large / sizeof *too_large; i++) {
        const struct pt_json_node *node = pt_json_at(read_text(too_large[i]), 0);
        assert_int_equal(node->kind, PT_JSON_TOO_LARGE);
        assert_false(pt_json_is_integer(node));
    }
    refuse("[01]", 1, 2, "begins with 0");
    refuse("[-]", 1, 2, "a value is expected");
    refuse("[+1]", 1, 2, "a value is expected");
    refuse("[1.]", 1, 4, "after the point");
    refuse("[1e+]", 1, 5, "in the exponent");
    refuse("[.5]", 1, 2, "a value is expected");
    refuse("[0x10]", 1, 3, "',' or ']'");
    refuse("[NaN]", 1, 2, "a value is expected");
    refuse("[nul]", 1, 2, "a value is expected");
}

/* What the writer writes comes back as it was: texts that look like numbers, and all bytes of UTF-8. */
static void test_round_trip(void **state)
{
    (void)state;
    struct pt_value values[] = {
        pt_value_string("\00142", 3), pt_value_string("18446744073709551615", 20),
        pt_value_string("a\0b", 3),   pt_value_string("\"\\\t\n\x7f\xc2\x80\xe2\x82\xac\xf0\x9f\x98\x80", 14),
        pt_value_string("", 0),       pt_value_uint(UINT64_MAX),
        pt_value_int(INT64_MIN),      pt_value_float(0.1),
        pt_value_bool(true),          {.kind = PT_VALUE_UNKNOWN},
    };
    const size_t count = sizeof values / sizeof *values;
    struct pt_buf buf;
    pt_buf_init(&buf);
    struct pt_json json = {.buf = &buf};
    pt_json_open(&json, NULL, '[');
    for (size_t i = 0; i < count; i++)
        pt_json_value(&json, NULL, values[i]);
    pt_json_close(&json, ']');
    const struct pt_json_node *list = read_bytes(buf.text, buf.len);
    assert_int_equal(pt_json_count(list), count);
    for (size_t i = 0; i < count; i++)
        if (!pt_json_is(pt_json_at(list, i), values[i].kind) || !pt_value_same(pt_json_at(list, i)->value, values[i]))
            fail_msg("value %zu of %s", i, buf.text);
    pt_buf_release(&buf);
}

static void test_strings(void **state)
{
    (void)state;
    const struct pt_json_node *list =
        read_text("[\"\\u000142\", \"\\\"\\\\\\/\\b\\f\\n\\r\\t\", \"\\u20AC\\ud83d\\ude00\", \"x\\u0000y\"]");
    static const struct {
        const char *text;
        uint32_t len;
    } texts[] = {{"\00142", 3}, {"\"\\/\b\f\n\r\t", 8}, {"\xe2\x82\xac\xf0\x9f\x98\x80", 7}, {"x\0y", 3}};
    for (size_t i = 0; i < 4; i++)
        assert_true(pt_value_same(pt_json_at(list, i)->value, pt_value_string(texts[i].text, texts[i].len)));
    refuse("[\"\\ud83d\"]", 1, 9, "second half");
    refuse("[\"\\ud83dx12345\"]", 1, 9, "second half");
    refuse("[\"\\ude00\"]", 1, 9, "begins with its second");
    refuse("[\"\\u12g4\"]", 1, 5, "hexadecimal");
    refuse("[\"\\x\"]", 1, 4, "escape");
    refuse("[\"\\", 1, 4, "escape");
    refuse("[\"a", 1, 4, "does not end");
    refuse("[\"\\n", 1, 5, "does not end");
    refuse("[\n \"a\tb\"]", 2, 4, "control character");
    refuse("[\"\xc0\x80\"]", 1, 3, "UTF-8");
    refuse("[\"\xed\xa0\x80\"]", 1, 3, "UTF-8");
    refuse("[\"\xe2\x82\"]", 1, 3, "UTF-8");
}

static void test_objects(void **state)
{
    (void)state;
    const struct pt_json_node *root = read_text(" {\"a\": [1, [], {}], \"b\": null, \"\": {\"a\": true}} \n");
    assert_int_equal(root->count, 3);
    assert_int_equal(pt_json_count(pt_json_get(root, "a")), 3);
    assert_true(pt_json_is(pt_json_get(root, "b"), PT_VALUE_UNKNOWN));
    assert_true(pt_json_is(pt_json_get(pt_json_get(root, ""), "a"), PT_VALUE_BOOL));
    assert_null(pt_json_get(root, "c"));
    assert_null(pt_json_get(pt_json_get(root, "a"), "a"));
    assert_null(pt_json_at(root, 0));
    assert_null(pt_json_at(pt_json_get(root, "a"), 3));
    refuse("", 1, 1, "'{' or '['");
    refuse("1", 1, 1, "'{' or '['");
    refuse("{\"a\": 1, \"b\": 2, \"a\": 3}", 1, 1, "same key");
    refuse("[{\"a\\u0000\": 1}]", 1, 3, "NUL");
    refuse("{\"a\" 1}", 1, 6, "':'");
    refuse("{1: 1}", 1, 2, "a key");
    refuse("{\"a\": 1,}", 1, 9, "a key");
    refuse("[1,]", 1, 4, "a value is expected");
    refuse("[1 2]", 1, 4, "',' or ']'");
    refuse("{\"a\": 1]", 1, 8, "',' or '}'");
    refuse("[1", 1, 3, "does not end");
    refuse("{\"a\": 1", 1, 8, "does not end");
    refuse("{\"a\":", 1, 6, "ends where");
    refuse("[1] x", 1, 5, "follows");
    refuse_bytes("[1]\0", 4, 1, 4, "follows");
}

/* Many members: the keys are sorted to find one that stands twice. */
static void test_many_members(void **state)
{
    (void)state;
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_buf_puts(&buf, "{");
    for (int i = 0; i < 1000; i++)
        pt_buf_printf(&buf, "%s\"k%d\": %d", i ? ", " : "", i * 7919 % 1000, i);
    size_t len = buf.len;
    pt_buf_puts(&buf, "}");
    const struct pt_json_node *root = read_bytes(buf.text, buf.len);
    assert_int_equal(root->count, 1000);
    assert_int_equal(pt_json_get(root, "k919")->value.i, 1);
    buf.len = len;
    pt_buf_puts(&buf, ", \"k500\": 0}");
    refuse_bytes(buf.text, buf.len, 1, 1, "same key");
    pt_buf_release(&buf);
}

static void test_depth(void **state)
{
    (void)state;
    char text[2 * 2048 + 3];
    for (int depth = 2048; depth <= 2049; depth++) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        if (depth == 2048)
            assert_int_equal(pt_json_count(read_bytes(text, (size_t)depth * 2)), 1);
        else
            refuse_bytes(text, (size_t)depth * 2, 1, 2049, "nest too deep");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_numbers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_round_trip, setup, teardown),
        cmocka_unit_test_setup_teardown(test_strings, setup, teardown),
        cmocka_unit_test_setup_teardown(test_objects, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many_members, setup, teardown),
        cmocka_unit_test_setup_teardown(test_depth, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
