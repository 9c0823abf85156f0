/*
 * `within` properties as a live monitor drives them: states and log lines of the JamaicaVM paper's figures, deadlines,
 * and gaps, which are checked against every content that the lost part could have had. Verdicts on whole traces are the
 * oracle's (tests/oracle/run_within.py).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/moves.h"
#include "engine/within.h"
#include "report/within.h"

/* ---- making properties ---- */

static const char *hoa_text;

static enum pt_status fetch(void *context, const char *path, char **ret_text, size_t *ret_len, struct pt_err *err)
{
    (void)context;
    (void)path;
    (void)err;
    *ret_text = pt_xstrdup(hoa_text);
    *ret_len = strlen(hoa_text);
    return PT_OK;
}

struct watched {
    struct pt_properties *props;
    struct pt_monitor *monitor;
    struct pt_within *within;
};

static struct watched watch(const char *text)
{
    struct watched w = {.props = pt_properties_new()};
    struct pt_err err;
    if (pt_properties_add(w.props, "test.prop", text, strlen(text), fetch, NULL, &err) != PT_OK ||
        pt_monitor_new(&w.props->items[0], 1000, &w.monitor, &err) != PT_OK)
        fail_msg("%s", err.message);
    w.within = pt_within_new(w.monitor);
    return w;
}

static void release(struct watched *w)
{
    pt_within_free(w->within);
    pt_monitor_free(w->monitor);
    pt_properties_free(w->props);
}

static enum pt_within_verdict user(struct pt_within *w, uint32_t event, uint64_t time)
{
    struct pt_within_event e = {.var = PT_NONE, .user_event = event, .has_time = true, .time = time};
    return pt_within_event(w, &e);
}

static enum pt_within_verdict untimed(struct pt_within *w, uint32_t event)
{
    struct pt_within_event e = {.var = PT_NONE, .user_event = event};
    return pt_within_event(w, &e);
}

static enum pt_within_verdict assign(struct pt_within *w, uint32_t var, int64_t value, uint64_t time)
{
    struct pt_within_event e = {
        .var = var, .user_event = PT_NONE, .value = pt_value_int(value), .has_time = true, .time = time};
    return pt_within_event(w, &e);
}

/* ---- the paper's figures ---- */

#define FORMULA_2                                                                                                      \
    "always (event(write) -> !event(read) && next (!event(write) until event(read))) && "                              \
    "always (event(read) -> !event(write) && next (!event(read) until event(write)))"

struct figure_line {
    enum pt_op op;
    uint32_t thread;
    const char *object;
    uint64_t delta;
    const char *expected; /* the log's line */
};

/* Figure 6, with our own automaton, whose states are other ones than ltl2ba's. */
static const struct figure_line figure_6[] = {
    {PT_OP_EVENT, 3, "write", 136932, "{kind=USER, delta=136932, thread=T3, text=write} {1}"},
    {PT_OP_STATE, 3, "blocked", 40922, "{kind=STATE_CHANGE, delta=40922, thread=T3, newState=blocked} {1}"},
    {PT_OP_EVENT, 4, "read", 13222, "{kind=USER, delta=13222, thread=T4, text=read} {3} final"},
    {PT_OP_ACQ, 4, "12330", 290, "{kind=MONITOR_ENTER, delta=290, thread=T4, monitor=12330} {2}"},
    {PT_OP_EVENT, 3, "write", 11316, "{kind=USER, delta=11316, thread=T3, text=write} {4} final"},
    {PT_OP_REL, 4, "12330", 4117, "{kind=MONITOR_EXIT, delta=4117, thread=T4, monitor=12330} {1}"},
    {PT_OP_CONTENDED, 3, "12330", 4872, "{kind=MONITOR_CONTENDED, delta=4872, thread=T3, monitor=12330} {1}"},
    {PT_OP_EVENT, 3, "write", 10188, "{kind=USER, delta=10188, thread=T3, text=write} {}"},
};

/* Runs of blanks become one. */
static void squeeze(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++)
        if (*from != ' ' || to == text || to[-1] != ' ')
            *to++ = *from;
    *to = '\0';
}

static uint32_t intern(struct pt_names *names, enum pt_space space, const char *text)
{
    return pt_strtab_intern(&names->space[space], text, strlen(text));
}

static void test_figure_6(void **state)
{
    (void)state;
    struct watched w = watch("property p within 10ms: " FORMULA_2 ";");
    struct pt_names names;
    pt_names_init(&names);
    uint64_t now = 0;
    for (size_t i = 0; i < sizeof figure_6 / sizeof *figure_6; i++) {
        const struct figure_line *line = &figure_6[i];
        uint64_t before = now;
        now += line->delta;
        char thread[8];
        snprintf(thread, sizeof thread, "T%u", line->thread);
        struct pt_event event = {.op = line->op,
                                 .has_time = true,
                                 .time = now,
                                 .thread = intern(&names, PT_SPACE_THREAD, thread),
                                 .object = intern(&names, pt_op_space(line->op), line->object)};
        uint32_t which = line->op != PT_OP_EVENT ? PT_NONE : strcmp(line->object, "read") == 0;
        enum pt_within_verdict verdict = user(w.within, which, now);
        bool last = i + 1 == sizeof figure_6 / sizeof *figure_6, final;
        assert_int_equal(verdict, last ? PT_WITHIN_DEAD : PT_WITHIN_GOOD);
        uint32_t count;
        const uint32_t *states = pt_within_states(w.within, &count, &final);
        struct pt_buf buf;
        pt_buf_init(&buf);
        pt_within_log(&names, &event, before, states, count, final, &buf);
        squeeze(buf.text);
        assert_string_equal(buf.text, line->expected);
        pt_buf_release(&buf);
    }
    struct pt_within_place place = pt_within_place(w.within);
    assert_int_equal(place.event, 8);
    assert_int_equal(place.time, now);
    assert_false(place.silent);
    /* Final: nothing changes it any more. */
    assert_int_equal(user(w.within, 1, now + 1), PT_WITHIN_DEAD);
    assert_int_equal(pt_within_place(w.within).event, 8);
    pt_names_release(&names);
    release(&w);
}

/* ---- time ---- */

static void test_deadline(void **state)
{
    (void)state;
    struct watched w = watch("property p within 10ns: always eventually event(tick);");
    assert_int_equal(untimed(w.within, PT_NONE), PT_WITHIN_GOOD);
    assert_int_equal(pt_within_advance(w.within, 100), PT_WITHIN_GOOD);
    assert_int_equal(pt_within_advance(w.within, 109), PT_WITHIN_GOOD); /* before start + D */
    assert_int_equal(user(w.within, 0, 109), PT_WITHIN_GOOD);
    assert_int_equal(pt_within_advance(w.within, 119), PT_WITHIN_GOOD); /* at most D after 109 */
    assert_int_equal(pt_within_advance(w.within, 50), PT_WITHIN_GOOD);  /* time does not run backwards */
    assert_int_equal(pt_within_advance(w.within, 120), PT_WITHIN_LATE);
    struct pt_within_place place = pt_within_place(w.within);
    assert_true(place.silent && place.passed && place.timed);
    assert_int_equal(place.time, 119);
    assert_int_equal(place.last_pass, 109);
    assert_int_equal(place.event, 2);
    release(&w);
}

/* A pass before the first time stamp is one at the start. */
static void test_pass_before_start(void **state)
{
    (void)state;
    struct watched w = watch("property p within 10ns: always eventually event(tick);");
    assert_int_equal(untimed(w.within, 0), PT_WITHIN_GOOD);
    assert_int_equal(pt_within_advance(w.within, 1000), PT_WITHIN_GOOD);
    assert_int_equal(pt_within_advance(w.within, 1010), PT_WITHIN_GOOD);
    assert_int_equal(pt_within_advance(w.within, 1011), PT_WITHIN_LATE);
    release(&w);
}

/* Bounds and times at the end of the range do not wrap around. */
static void test_huge(void **state)
{
    (void)state;
    struct watched w = watch("property p within 18446744073709551615ns: always eventually event(tick);");
    assert_int_equal(user(w.within, 0, UINT64_MAX - 5), PT_WITHIN_GOOD);
    assert_int_equal(pt_within_advance(w.within, UINT64_MAX), PT_WITHIN_GOOD);
    assert_int_equal(user(w.within, PT_NONE, UINT64_MAX), PT_WITHIN_GOOD);
    release(&w);
    w = watch("property p within 18446744073709551615 events: always eventually event(tick);");
    assert_int_equal(untimed(w.within, PT_NONE), PT_WITHIN_GOOD);
    release(&w);
    w = watch("property p within 3ns: always eventually event(tick);");
    assert_int_equal(user(w.within, 0, UINT64_MAX - 9), PT_WITHIN_GOOD);
    assert_int_equal(pt_within_advance(w.within, UINT64_MAX), PT_WITHIN_LATE);
    release(&w);
}

/* ---- gaps ---- */

static uint64_t random_state = 7;

static uint32_t random_below(uint32_t n)
{
    random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (uint32_t)(random_state >> 33) % n;
}

/* An automaton over a and b; each state has at least one edge. */
static void random_hoa(struct pt_buf *buf)
{
    static const char *const labels[] = {"t", "0", "1", "!0", "!1", "!0&!1", "0 | 1"};
    uint32_t states = 2 + random_below(3);
    pt_buf_printf(buf, "HOA: v1\nStates: %u\nStart: 0\nAP: 2 \"a\" \"b\"\nAcceptance: 1 Inf(0)\n--BODY--\n", states);
    for (uint32_t s = 0; s < states; s++) {
        pt_buf_printf(buf, "State: %u%s\n", s, random_below(2) ? " {0}" : "");
        for (uint32_t e = 1 + random_below(3); e > 0; e--)
            pt_buf_printf(buf, "[%s] %u\n", labels[random_below(7)], random_below(states));
    }
    pt_buf_puts(buf, "--END--\n");
}

enum { LETTERS = 3, MAX_LOST = 3, MAX_CONTENTS = 27, MAX_SUFFIX = 10 };

static uint32_t letter_event(uint32_t letter)
{
    return letter == 2 ? PT_NONE : letter;
}

static bool same_states(const struct pt_within *a, const struct pt_within *b)
{
    uint32_t m, n;
    bool final;
    const uint32_t *x = pt_within_states(a, &m, &final), *y = pt_within_states(b, &n, &final);
    return m == n && memcmp(x, y, m * sizeof *x) == 0;
}

struct gap_counts {
    unsigned known, violated, unknown;
};

/*
 * A prefix, a gap and a suffix, against all contents of the gap. A violation must be one for each of them; where the
 * verdict is good again, those that are not violated must be in the same states.
 */
static void check_gap(const char *property, struct gap_counts *counts)
{
    uint32_t prefix[3], suffix[MAX_SUFFIX], prefix_len = random_below(4), suffix_len = 1 + random_below(MAX_SUFFIX);
    uint32_t lost = 1 + random_below(MAX_LOST), contents = 1;
    struct watched gapped = watch(property), whole[MAX_CONTENTS];
    for (uint32_t i = 0; i < lost; i++)
        contents *= LETTERS;
    for (uint32_t i = 0; i < prefix_len; i++)
        prefix[i] = random_below(LETTERS);
    for (uint32_t i = 0; i < suffix_len; i++)
        suffix[i] = random_below(LETTERS);
    for (uint32_t i = 0; i < prefix_len; i++)
        untimed(gapped.within, letter_event(prefix[i]));
    enum pt_within_verdict verdict = pt_within_gap(gapped.within, lost);
    for (uint32_t c = 0; c < contents; c++) {
        whole[c] = watch(property);
        for (uint32_t i = 0; i < prefix_len; i++)
            untimed(whole[c].within, letter_event(prefix[i]));
        for (uint32_t i = 0, rest = c; i < lost; i++, rest /= LETTERS)
            untimed(whole[c].within, letter_event(rest % LETTERS));
    }
    for (uint32_t i = 0; i < suffix_len; i++) {
        bool was_final = verdict >= PT_WITHIN_DEAD;
        verdict = untimed(gapped.within, letter_event(suffix[i]));
        for (uint32_t c = 0; c < contents; c++) {
            enum pt_within_verdict truth = untimed(whole[c].within, letter_event(suffix[i]));
            if (verdict >= PT_WITHIN_DEAD)
                assert_true(truth >= PT_WITHIN_DEAD);
            else if (verdict == PT_WITHIN_GOOD && truth == PT_WITHIN_GOOD)
                assert_true(same_states(gapped.within, whole[c].within));
        }
        counts->violated += !was_final && verdict >= PT_WITHIN_DEAD;
        counts->known += verdict == PT_WITHIN_GOOD;
        counts->unknown += verdict == PT_WITHIN_UNKNOWN;
    }
    for (uint32_t c = 0; c < contents; c++)
        release(&whole[c]);
    release(&gapped);
}

static void test_gaps(void **state)
{
    (void)state;
    struct gap_counts counts = {0};
    for (uint32_t round = 0; round < 1500; round++) {
        struct pt_buf hoa;
        char property[200];
        pt_buf_init(&hoa);
        random_hoa(&hoa);
        hoa_text = hoa.text;
        snprintf(property, sizeof property,
                 "property p within %u events: hoa \"x.hoa\" { a = event(a); b = event(b); };", 1 + random_below(12));
        check_gap(property, &counts);
        pt_buf_release(&hoa);
    }
    assert_true(counts.known > 1000 && counts.violated > 100 && counts.unknown > 1000);
}

/* Knowledge returns with the event that leaves only one possibility. */
static void test_gap_ends(void **state)
{
    (void)state;
    struct watched w = watch("property p within 10ns: " FORMULA_2 ";");
    assert_int_equal(user(w.within, 0, 1), PT_WITHIN_GOOD);
    assert_int_equal(pt_within_gap(w.within, 3), PT_WITHIN_UNKNOWN);
    assert_int_equal(user(w.within, PT_NONE, 5), PT_WITHIN_UNKNOWN);
    assert_int_equal(user(w.within, 1, 6), PT_WITHIN_GOOD);
    assert_int_equal(user(w.within, 1, 7), PT_WITHIN_DEAD);
    assert_int_equal(pt_within_place(w.within).event, 7); /* lost ones count */
    release(&w);
}

/* Windows that overlap a gap are not judged; one that begins at its end is. */
static void test_gap_time(void **state)
{
    (void)state;
    struct watched w = watch("property p within 10ns: always eventually event(tick);");
    assert_int_equal(user(w.within, 0, 0), PT_WITHIN_GOOD);
    assert_int_equal(pt_within_gap(w.within, 1), PT_WITHIN_UNKNOWN);
    assert_int_equal(pt_within_advance(w.within, 500), PT_WITHIN_UNKNOWN);
    assert_int_equal(pt_within_advance(w.within, 510), PT_WITHIN_UNKNOWN);
    assert_int_equal(pt_within_advance(w.within, 511), PT_WITHIN_LATE);
    assert_int_equal(pt_within_place(w.within).time, 510);
    release(&w);
}

/* After a gap a variable's value is unknown until it is written; where it does not matter, the answer is known. */
static void test_gap_values(void **state)
{
    (void)state;
    struct watched w = watch("property p within 1s: always (event(go) -> x > 0);");
    assert_int_equal(assign(w.within, 0, 1, 1), PT_WITHIN_GOOD);
    assert_int_equal(pt_within_gap(w.within, 1), PT_WITHIN_UNKNOWN);
    assert_int_equal(user(w.within, PT_NONE, 2), PT_WITHIN_GOOD); /* no go: x does not matter */
    assert_int_equal(user(w.within, 0, 3), PT_WITHIN_UNKNOWN);    /* it does */
    assert_int_equal(assign(w.within, 0, 0, 4), PT_WITHIN_GOOD);  /* good, if it was then */
    assert_int_equal(user(w.within, 0, 5), PT_WITHIN_DEAD);
    release(&w);
    w = watch("property p within 1s: always (event(go) -> x > 0);");
    struct pt_within_event lost = {.var = 0, .user_event = PT_NONE, .value = {.kind = PT_VALUE_UNKNOWN}};
    assert_int_equal(pt_within_event(w.within, &lost), PT_WITHIN_GOOD);
    assert_int_equal(untimed(w.within, 0), PT_WITHIN_ERROR); /* no gap: the trace owes the value */
    struct pt_err err;
    pt_within_error(w.within, &err);
    assert_non_null(strstr(err.message, "does not give the value of 'x'"));
    release(&w);
}

/* ---- the cache ---- */

/* Forgetting moves changes no step. */
static void test_forget(void **state)
{
    (void)state;
    struct watched w = watch("property p within 1s: always (event(a) -> eventually event(b)) && eventually event(c);");
    struct pt_moves kept, forgetful;
    pt_moves_init(&kept, w.monitor);
    pt_moves_init(&forgetful, w.monitor);
    uint32_t initial = pt_monitor_automaton(w.monitor)->initial;
    uint32_t a = pt_moves_set(&kept, &initial, 1), b = pt_moves_set(&forgetful, &initial, 1);
    struct pt_value none;
    for (uint32_t i = 0; i < 200; i++) {
        uint32_t event = random_below(4), m, n;
        pt_letter letter = pt_monitor_letter(w.monitor, &none, event == 3 ? PT_NONE : event);
        const struct pt_set_move *x = pt_moves_get(&kept, a, letter), *y = pt_moves_get(&forgetful, b, letter);
        assert_int_equal(x->count, y->count);
        assert_memory_equal(x->code, y->code, x->count * sizeof *x->code);
        a = x->set;
        b = y->set;
        const uint32_t *s = pt_moves_states(&kept, a, &m), *t = pt_moves_states(&forgetful, b, &n);
        assert_int_equal(m, n);
        assert_memory_equal(s, t, m * sizeof *s);
        if (i % 5 == 0)
            pt_moves_forget(&forgetful, &b, 1);
    }
    pt_moves_release(&kept);
    pt_moves_release(&forgetful);
    release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figure_6), cmocka_unit_test(test_deadline),   cmocka_unit_test(test_pass_before_start),
        cmocka_unit_test(test_huge),     cmocka_unit_test(test_gaps),       cmocka_unit_test(test_gap_ends),
        cmocka_unit_test(test_gap_time), cmocka_unit_test(test_gap_values), cmocka_unit_test(test_forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
