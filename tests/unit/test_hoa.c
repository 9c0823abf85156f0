/* The HOA reader on good and bad input, each error with its place; the writer by round trip; and the DOT writer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/table.h"
#include "logic/automaton/automaton.h"

/* ---- Bad input ---- */

#define HEAD "HOA: v1\nStates: 2\nStart: 0\nAP: 2 \"a\" \"b\"\nAcceptance: 1 Inf(0)\n--BODY--\n"

static const struct {
    const char *text;
    unsigned line, column;
    const char *message; /* a part of it */
} bad[] = {
    {"", 1, 1, "expected 'HOA: v1', found the end of the file"},
    {"never claim", 1, 1, "expected 'HOA: v1', found 'never'"},
    {"HOA: v2\n", 1, 6, "version v1"},
    {"HOA: v1\nStates: 4000000000\n", 2, 9, "more than 1000000 states"},
    {"HOA: v1\nStates: 99999999999999999999999\n", 2, 9, "more than 1000000 states"},
    {"HOA: v1\nStates: x\n", 2, 9, "expected the number of states, found 'x'"},
    {"HOA: v1\nStates: 1\nStates: 1\n", 3, 1, "second time"},
    {"HOA: v1\nStates: 01\n", 2, 9, "may not begin with 0"},
    {"HOA: v1\nStart: 0 & 1\n", 2, 10, "alternating"},
    {"HOA: v1\nStart: 2\nStates: 2\nAcceptance: 0 t\n--BODY--\n--END--\n", 2, 8, "no such state"},
    {"HOA: v1\nStates: 2\nStart: 2\n", 3, 8, "no such state"},
    {"HOA: v1\nAP: 65\n", 2, 5, "more than 64 propositions"},
    {"HOA: v1\nAP: 2 \"a\"\n--BODY--", 2, 1, "announces 2 propositions but 1"},
    {"HOA: v1\nAP: 1 \"a\" \"b\"\n", 2, 11, "more propositions"},
    {"HOA: v1\nAP: 2 \"a\" \"a\"\n", 2, 11, "named before"},
    {"HOA: v1\nAP: 1 \"a\n", 2, 7, "not closed"},
    {"HOA: v1\n/* a /* b */\n", 2, 1, "comment is not closed"},
    {"HOA: v1\nAlias: x 0\n", 2, 8, "@NAME"},
    {"HOA: v1\nAlias: @ 0\n", 2, 8, "alias name"},
    {"HOA: v1\nAP: 1 \"a\"\nAlias: @a 0\nAlias: @a 0\n", 4, 8, "defined before"},
    {"HOA: v1\nAP: 1 \"a\"\nAlias: @a 1\n", 3, 11, "no proposition '1'"},
    {"HOA: v1\nAlias: @a 1\nAP: 1 \"a\"\nAcceptance: 0 t\n--BODY--\n", 2, 11, "no proposition '1'"},
    {"HOA: v1\nAP: 1 \"a\"\nAlias: @a @b\n", 3, 11, "'@b' is not defined"},
    {"HOA: v1\nAcceptance: 2 Inf(0)&Inf(1)\n", 2, 13, "generalised"},
    {"HOA: v1\nAcceptance: 1 Fin(0)\n", 2, 13, "Fin"},
    {"HOA: v1\nAcceptance: 1 Inf(!0)\n", 2, 13, "not supported"},
    {"HOA: v1\nAcceptance: 2 Inf(1)\n", 2, 13, "not supported"},
    {"HOA: v1\nAcceptance: 2 Inf(0)|Inf(1)\n", 2, 13, "not supported"},
    {"HOA: v1\nAcceptance: 2 (Fin(0)&Inf(1))\n", 2, 13, "not supported"},
    {"HOA: v1\nAcceptance: 0 f\n", 2, 13, "not supported"},
    {"HOA: v1\nAcceptance: 1 Inf(0\n--BODY--\n", 3, 1, "expected ')'"},
    {"HOA: v1\nSpot: 1\n", 2, 1, "capital"},
    {"HOA: v1\nproperties: state-acc Odd\n", 2, 23, "capital"},
    {"HOA: v1\nAP: 0\n--BODY--\n--END--\n", 3, 1, "Acceptance: is missing"},
    {"HOA: v1\nAcceptance: 0 t\n--ABORT--\n", 3, 1, "gave up"},
    {"HOA: v1\nAcceptance: 0 t\n--BODY--\n--ABORT--\n", 4, 1, "gave up"},
    {"HOA: v1\nAcceptance: 0 t\n--BOD\n", 3, 1, "expected --BODY--"},
    {"HOA: v1\nAcceptance: 0 t\n--BODY--\n--END--\nHOA: v1\n", 5, 1, "follows --END--"},
    {"HOA: v1\nAcceptance: 0 t\n--BODY--\n[t] 0\n", 4, 1, "'State:'"},
    {"HOA: v1\nAcceptance: 0 t\n--BODY--\nState: 2000000\n", 4, 8, "more than 1000000 states"},
    {HEAD "State: 0\n[0] 2\n", 8, 5, "no such state"},
    {HEAD "State: 0\n[0] 0 & 1\n", 8, 7, "alternating"},
    {HEAD "State: 0\n[2] 0\n", 8, 2, "no proposition '2'"},
    {HEAD "State: 0\n[0 1] 0\n", 8, 4, "expected ']'"},
    {HEAD "State: 0\n[0 &] 0\n", 8, 5, "expected a label"},
    {HEAD "State: 0\n[(0] 0\n", 8, 4, "expected ')'"},
    {HEAD "State: 0\n[0] 0 {1}\n", 8, 8, "no such acceptance set"},
    {HEAD "State: 0 {1}\n", 7, 11, "no such acceptance set"},
    {HEAD "State: 0 {0\n--END--", 8, 1, "expected '}'"},
    {HEAD "State: 0\nState: 0\n", 8, 8, "second time"},
    {HEAD "State: [0] 0\n[1] 0\n", 8, 1, "its state has one"},
    {HEAD "State: 0\n[0] 0\n1\n", 9, 1, "all edges of a state have labels or none"},
    {HEAD "State: 0\n0 0 0\n--END--\n", 7, 8, "no labels and 3 edges, not one for each of the 2^2"},
    {HEAD "State: 0\n0 0 0 0 0\n--END--\n", 8, 9, "one more"},
    {HEAD "State: 0\n[0] 0", 8, 6, "found the end of the file"},
    {HEAD "State: 0 $\n", 7, 10, "unexpected character '$'"},
    {HEAD "State: 0 \x01\n", 7, 10, "unexpected byte 0x01"},
};

static void bad_input(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct pt_err err = {0};
        struct pt_automaton *aut = NULL;
        enum pt_status status = pt_hoa_read("x.hoa", bad[i].text, strlen(bad[i].text), &aut, &err);
        if (status == PT_OK || aut || err.status != status)
            fail_msg("case %zu was accepted:\n%s", i, bad[i].text);
        if (err.line != bad[i].line || err.column != bad[i].column || !strstr(err.message, bad[i].message) ||
            strcmp(err.file, "x.hoa") != 0)
            fail_msg("case %zu: %s:%llu:%u: %s\nwanted %u:%u: %s\n%s", i, err.file, (unsigned long long)err.line,
                     err.column, err.message, bad[i].line, bad[i].column, bad[i].message, bad[i].text);
    }
}

/* Every prefix of a good file is an error, or good only up to the white space at its end. */
static void truncated(void **state)
{
    (void)state;
    const char *text = HEAD "State: 0 \"zero\" {0}\n[0&!1 | (t)] 1 {0}\nState: [!0] 1\n0\n--END--";
    for (size_t len = 0; len < strlen(text); len++) {
        char *exact = pt_xmalloc(len + 1);
        memcpy(exact, text, len);
        struct pt_err err;
        struct pt_automaton *aut;
        assert_int_not_equal(pt_hoa_read("x", exact, len, &aut, &err), PT_OK);
        free(exact);
    }
}

static void too_deep(void **state)
{
    (void)state;
    struct pt_buf buf;
    struct pt_err err;
    struct pt_automaton *aut;
    pt_buf_init(&buf);
    pt_buf_puts(&buf, HEAD "State: 0\n[");
    for (int i = 0; i < 200000; i++)
        pt_buf_puts(&buf, "(!");
    assert_int_equal(pt_hoa_read("x", buf.text, buf.len, &aut, &err), PT_ELIMIT);
    assert_non_null(strstr(err.message, "nested more than"));
    pt_buf_release(&buf);
}

/* ---- Good input ---- */

/* The written form, which says everything about an automaton. */
static char *reread(const char *text)
{
    struct pt_err err = {0};
    struct pt_automaton *aut;
    if (pt_hoa_read("x.hoa", text, strlen(text), &aut, &err) != PT_OK)
        fail_msg("%llu:%u: %s", (unsigned long long)err.line, err.column, err.message);
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_hoa_write(aut, NULL, &buf);
    pt_automaton_free(aut);
    return pt_buf_take(&buf);
}

static void expect_body(const char *text, const char *start, const char *body)
{
    char *got = reread(text);
    if (!strstr(got, start) || !strstr(got, body))
        fail_msg("from\n%s\ngot\n%s\nwanted %s\n%s", text, got, start, body);
    free(got);
}

static void good_input(void **state)
{
    (void)state;
    expect_body(HEAD "State: 0 {0}\n[0&!1] 1\n[!(0&!1)] 0\nState: 1\n[t] 1\n--END--\n", "Start: 0",
                "State: 0 {0}\n[0&!1] 1\n[!0 | 1] 0\nState: 1\n[t] 1\n");
    /* headers in any order, unknown ones, comments that nest, aliases of aliases, states out of order, names */
    expect_body("HOA: v1 name: \"x\" /* a /* b */ c */ tool: \"t\" \"1\" spot-x: 1 t \"s\" id\n"
                "Acceptance: 1 Inf(0) acc-name: Buchi Alias: @a 0&!1 AP: 2 \"a\" \"b\" Alias: @b-c !@a | 0\n"
                "properties: state-acc stutter-invariant Start: 1 States: 3\n--BODY--\n"
                "State: 1 \"one\" {0} [@a] 0 [@b-c] 1 State: 0 [f] 1 --END--  /* end */\n",
                "Start: 1", "State: 0\nState: 1 {0}\n[0&!1] 0\n[t] 1\nState: 2\n");
    /* labels on states, implicit labels */
    expect_body(HEAD "State: [0|1] 0 {0}\n0 1\nState: 1\n0 1 0 1\n--END--\n", "Start: 0",
                "State: 0 {0}\n[0 | 1] 0\n[0 | 1] 1\nState: 1\n[!0] 0\n[0] 1\n");
    /* no propositions */
    expect_body("HOA: v1\nStart: 0\nAcceptance: 0 t\n--BODY--\nState: 0 0\n--END--\n", "States: 1\nStart: 0\nAP: 0\n",
                "State: 0 {0}\n[t] 0\n");
    expect_body("HOA: v1\nAcceptance: 0 t\nAP: 1 \"q\\\"\\\\\"\n--BODY--\n--END--\n", "AP: 1 \"q\\\"\\\\\"",
                "State: 0 {0}\n--END--");
}

static void initial_states(void **state)
{
    (void)state;
    const char *body = "AP: 1 \"a\"\nAcceptance: 1 Inf(0)\n--BODY--\nState: 0 {0}\n[0] 0\nState: 1\n[!0] 1\n--END--\n";
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_buf_printf(&buf, "HOA: v1\nStates: 2\nStart: 0\nStart: 1\nStart: 0\n%s", body);
    expect_body(buf.text, "States: 3\nStart: 2", "State: 0 {0}\n[0] 0\nState: 1\n[!0] 1\nState: 2\n[0] 0\n[!0] 1\n");
    pt_buf_release(&buf);
    pt_buf_printf(&buf, "HOA: v1\nStates: 2\nStart: 1\nStart: 1\n%s", body);
    expect_body(buf.text, "States: 2\nStart: 1", "State: 1\n[!0] 1\n");
    pt_buf_release(&buf);
    pt_buf_printf(&buf, "HOA: v1\nStates: 2\n%s", body);
    expect_body(buf.text, "States: 3\nStart: 2", "[!0] 1\nState: 2\n--END--");
    pt_buf_release(&buf);
}

static void transition_based(void **state)
{
    (void)state;
    /* entered by marked and unmarked edges: doubled */
    expect_body(
        "HOA: v1\nStart: 0\nAP: 1 \"a\"\nAcceptance: 1 Inf(0)\n--BODY--\nState: 0\n[0] 0 {0}\n[!0] 0\n--END--\n",
        "States: 2\nStart: 0", "State: 0\n[0] 1\n[!0] 0\nState: 1 {0}\n[0] 1\n[!0] 0\n");
    /* state 1 is entered by marked edges only, 2 by unmarked ones: nothing is doubled */
    expect_body("HOA: v1\nStart: 0\nAP: 1 \"a\"\nAcceptance: 1 Inf(0)\n--BODY--\n"
                "State: 0\n[0] 1 {0}\n[!0] 2\nState: 1\n[t] 1 {0}\nState: 2\n[t] 2\n--END--\n",
                "States: 3\nStart: 0", "State: 0\n[0] 1\n[!0] 2\nState: 1 {0}\n[t] 1\nState: 2\n[t] 2\n");
    /* being initial is to be entered without a mark */
    expect_body("HOA: v1\nStart: 0\nAP: 1 \"a\"\nAcceptance: 1 Inf(0)\n--BODY--\nState: 0\n[0] 0 {0}\n--END--\n",
                "States: 2\nStart: 0", "State: 0\n[0] 1\nState: 1 {0}\n[0] 1\n");
    /* a mark on the state is enough */
    expect_body(
        "HOA: v1\nStart: 0\nAP: 1 \"a\"\nAcceptance: 1 Inf(0)\n--BODY--\nState: 0 {0}\n[0] 0 {0}\n[!0] 0\n--END--\n",
        "States: 1\nStart: 0", "State: 0 {0}\n[t] 0\n");
}

/* Labels that are short as diagrams and too long to be written. */
static void long_labels(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 64; n++) {
        struct pt_buf buf;
        pt_buf_init(&buf);
        pt_buf_printf(&buf, "HOA: v1\nStart: 0\nAcceptance: 0 t\nAP: %u", n);
        for (uint32_t i = 0; i < n; i++)
            pt_buf_printf(&buf, " \"p%u\"", i);
        pt_buf_puts(&buf, "\nAlias: @0 0\n");
        for (uint32_t i = 1; i < n; i++)
            pt_buf_printf(&buf, "Alias: @%u @%u&!%u | !@%u&%u\n", i, i - 1, i, i - 1, i);
        pt_buf_printf(&buf, "--BODY--\nState: 0\n[@%u] 0\n--END--\n", n - 1);
        struct pt_automaton *aut;
        struct pt_err err;
        assert_int_equal(pt_hoa_read("x", buf.text, buf.len, &aut, &err), PT_OK);
        assert_int_equal(pt_automaton_check_labels(aut, NULL, &err), n <= 21 ? PT_OK : PT_ELIMIT);
        if (n == 10) { /* the count is that of the products which are written */
            pt_buf_release(&buf);
            pt_hoa_write(aut, NULL, &buf);
            uint32_t bars = 0;
            for (const char *c = buf.text; *c; c++)
                bars += *c == '|';
            assert_int_equal(bars, 511);
        }
        pt_automaton_free(aut);
        pt_buf_release(&buf);
    }
}

/* ---- Round trip ---- */

static uint64_t random_state;

static uint32_t pick(uint32_t below)
{
    random_state += 0x9e3779b97f4a7c15ULL;
    return (uint32_t)(pt_mix64(random_state) % below);
}

static pt_bdd random_label(struct pt_bdds *bdds, uint32_t props)
{
    pt_bdd label = pick(2);
    for (uint32_t i = 0, n = pick(6); props > 0 && i < n; i++) {
        pt_bdd var = pt_bdd_var(bdds, pick(props));
        var = pick(2) ? var : pt_bdd_not(bdds, var);
        label = pick(2) ? pt_bdd_and(bdds, label, var) : pt_bdd_or(bdds, label, var);
    }
    return label;
}

/* Each state has at most one edge to each other, and none labelled false, as the reader returns them. */
static struct pt_automaton *random_automaton(void)
{
    static const char *const names[] = {"a", "w > 26", "\"q\"", "\\", "event(x)", "b c"};
    struct pt_automaton *aut = pt_xcalloc(1, sizeof *aut);
    aut->bdds = pt_bdds_new(1 << 16);
    aut->prop_count = pick(7);
    aut->props = pt_xmalloc(7 * sizeof *aut->props);
    for (uint32_t i = 0; i < aut->prop_count; i++)
        aut->props[i] = pt_xstrdup(names[i]);
    aut->state_count = 1 + pick(6);
    aut->initial = pick(aut->state_count);
    aut->first = pt_xcalloc(aut->state_count + 1, sizeof *aut->first);
    aut->edges = pt_xmalloc(36 * sizeof *aut->edges);
    aut->accepting = pt_xmalloc(aut->state_count * sizeof *aut->accepting);
    uint32_t edges = 0;
    for (uint32_t s = 0; s < aut->state_count; s++) {
        aut->accepting[s] = pick(2);
        for (uint32_t d = 0; d < aut->state_count; d++) {
            pt_bdd label = random_label(aut->bdds, aut->prop_count);
            if (label != PT_BDD_FALSE)
                aut->edges[edges++] = (struct pt_edge){.dst = d, .label = label};
        }
        aut->first[s + 1] = edges;
    }
    return aut;
}

static void check_same(const struct pt_automaton *a, const struct pt_automaton *b)
{
    assert_int_equal(a->state_count, b->state_count);
    assert_int_equal(a->initial, b->initial);
    assert_int_equal(a->prop_count, b->prop_count);
    for (uint32_t i = 0; i < a->prop_count; i++)
        assert_string_equal(a->props[i], b->props[i]);
    for (uint32_t s = 0; s < a->state_count; s++) {
        assert_int_equal(a->accepting[s], b->accepting[s]);
        assert_int_equal(a->first[s + 1], b->first[s + 1]);
    }
    for (uint32_t e = 0; e < a->first[a->state_count]; e++) {
        assert_int_equal(a->edges[e].dst, b->edges[e].dst);
        for (uint64_t v = 0; v < UINT64_C(1) << a->prop_count; v++)
            assert_int_equal(pt_bdd_eval(a->bdds, a->edges[e].label, v), pt_bdd_eval(b->bdds, b->edges[e].label, v));
    }
}

static void round_trip(void **state)
{
    (void)state;
    const char *given = getenv("PORTENT_TEST_SEED");
    uint64_t base = given ? strtoull(given, NULL, 10) : 1;
    printf("seeds %llu to %llu (PORTENT_TEST_SEED sets the first)\n", (unsigned long long)base,
           (unsigned long long)base + 999);
    for (uint64_t seed = base; seed < base + 1000; seed++) {
        random_state = seed * 1000003;
        struct pt_automaton *aut = random_automaton(), *again;
        struct pt_buf buf;
        struct pt_err err;
        pt_buf_init(&buf);
        pt_hoa_write(aut, "a \"name\" \\", &buf);
        if (pt_hoa_read("x", buf.text, buf.len, &again, &err) != PT_OK)
            fail_msg("seed %llu: %llu:%u: %s\n%s", (unsigned long long)seed, (unsigned long long)err.line, err.column,
                     err.message, buf.text);
        check_same(aut, again);
        pt_automaton_free(again);
        pt_buf_release(&buf);
        pt_dot_write(aut, NULL, &buf);
        pt_automaton_free(aut);
        pt_buf_release(&buf);
    }
}

static void properties(void **state)
{
    (void)state;
    char *text = reread(HEAD "State: 0\n[0] 0\n[!0] 1\nState: 1\n[t] 1\n--END--\n");
    assert_non_null(strstr(text, "state-acc deterministic complete\n"));
    free(text);
    text = reread(HEAD "State: 0\n[0] 0\nState: 1\n[t] 1\n--END--\n");
    assert_non_null(strstr(text, "state-acc deterministic\n"));
    free(text);
    text = reread(HEAD "State: 0\n[0] 0\n[t] 1\nState: 1\n[t] 1\n--END--\n");
    assert_non_null(strstr(text, "state-acc complete\n"));
    free(text);
}

static void dot(void **state)
{
    (void)state;
    const char *text = "HOA: v1\nStart: 0\nAP: 3 \"w > 26\" \"p\" \"s == \\\"x\\\"\"\nAcceptance: 1 Inf(0)\n--BODY--\n"
                       "State: 0\n[0&!1 | 2] 1\n[!0] 0\nState: 1 {0}\n[t] 1\n--END--\n";
    struct pt_automaton *aut;
    struct pt_err err;
    assert_int_equal(pt_hoa_read("x", text, strlen(text), &aut, &err), PT_OK);
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_dot_write(aut, "a \"b\"", &buf);
    assert_non_null(strstr(buf.text, "digraph \"a \\\"b\\\"\" {"));
    assert_non_null(strstr(buf.text, "start -> 0;"));
    assert_non_null(strstr(buf.text, "  1 [shape=doublecircle];"));
    assert_non_null(strstr(buf.text, "0 -> 1 [label=\"(w > 26) && !p ||\\n(s == \\\"x\\\")\"];"));
    assert_non_null(strstr(buf.text, "0 -> 0 [label=\"!(w > 26)\"];"));
    assert_non_null(strstr(buf.text, "1 -> 1 [label=\"true\"];"));
    pt_buf_release(&buf);
    pt_automaton_free(aut);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_input),   cmocka_unit_test(truncated),      cmocka_unit_test(too_deep),
        cmocka_unit_test(good_input),  cmocka_unit_test(initial_states), cmocka_unit_test(transition_based),
        cmocka_unit_test(long_labels), cmocka_unit_test(round_trip),     cmocka_unit_test(properties),
        cmocka_unit_test(dot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
