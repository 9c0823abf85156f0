/* Monitors: letters, atoms without a value, modules, explanations. */
#include <stdio.h>

#include "logic/monitor/monitor.h"
#include "portent-monitor.h"
#include "trace_util.h"

struct fixture {
    struct pt_properties *props;
    struct pt_monitor *m;
    struct pt_value values[8]; /* by the monitor's order */
    uint32_t var_count;
    pt_mstate state;
};

static void fixture_init(struct fixture *f, const char *body)
{
    char text[512];
    struct pt_err err;
    *f = (struct fixture){.props = pt_properties_new()};
    snprintf(text, sizeof text, "property p: %s;", body);
    if (pt_properties_add(f->props, "t.prop", text, strlen(text), NULL, NULL, &err) != PT_OK)
        fail_msg("%s: %s", body, err.message);
    assert_int_equal(pt_monitor_new(&f->props->items[0], 1000, &f->m, &err), PT_OK);
    pt_monitor_vars(f->m, &f->var_count);
    assert_true(f->var_count <= 8);
    for (uint32_t v = 0; v < f->var_count; v++)
        f->values[v] = pt_value_int(0);
    f->state = pt_monitor_start(f->m);
}

static void fixture_release(struct fixture *f)
{
    pt_monitor_free(f->m);
    pt_properties_free(f->props);
}

static uint32_t var(const struct fixture *f, char name)
{
    uint32_t count;
    const struct pt_varref *vars = pt_monitor_vars(f->m, &count);
    for (uint32_t v = 0; v < count; v++)
        if (vars[v].name[0] == name)
            return v;
    fail();
    return 0;
}

/*
 * Runs over states written "x=3 y=0, x=1, !go, x=?": settings and a user event per state, the rest as before. The
 * verdict: 'h' holds so far, 'b' bad, 'e' an atom that matters has no value.
 */
static char run(struct fixture *f, const char *states)
{
    char copy[256], *save = NULL;
    snprintf(copy, sizeof copy, "%s", states);
    for (char *one = strtok_r(copy, ",", &save); one; one = strtok_r(NULL, ",", &save)) {
        char *inner = NULL;
        uint32_t event = PT_NONE;
        for (char *set = strtok_r(one, " ", &inner); set; set = strtok_r(NULL, " ", &inner)) {
            uint32_t count;
            if (set[0] != '!') {
                f->values[var(f, set[0])] = set[2] == '?' ? (struct pt_value){0} : pt_value_int(atoi(set + 2));
                continue;
            }
            const char *const *events = pt_monitor_events(f->m, &count);
            for (uint32_t e = 0; e < count; e++)
                if (strcmp(events[e], set + 1) == 0)
                    event = e;
            assert_int_not_equal(event, PT_NONE);
        }
        f->state = pt_monitor_step(f->m, f->state, pt_monitor_letter(f->m, f->values, event));
        if (f->state == PT_MSTATE_BAD)
            return 'b';
        if (f->state == PT_MSTATE_ERROR)
            return 'e';
    }
    return 'h';
}

static void test_atoms_without_value(void **state)
{
    (void)state;
    static const struct {
        const char *body, *states;
        char verdict;
    } cases[] = {
        /* left to right, stopping when decided */
        {"x == 0 || 10 / x > 2", "x=0, x=1, x=0", 'h'},
        {"10 / x > 2 || x == 0", "x=0", 'e'},
        {"10 / x > 2 || x == 0", "x=1", 'h'},
        {"10 / x > 2 || x == 0", "x=9", 'b'},
        {"x != 0 && 10 / x > 2 || x == 0", "x=0, x=3", 'h'},
        {"x != 0 && 10 / x > 2", "x=0", 'b'},
        {"10 / x > 2 && x != 0", "x=0", 'e'},
        {"y == 0 -> 10 / x > 2", "y=1 x=0", 'h'},
        {"y == 0 -> 10 / x > 2", "y=0 x=0", 'e'},
        {"!(y == 1 && 10 / x > 2)", "y=0 x=0", 'h'},
        {"!(y == 1 && 10 / x > 2)", "y=1 x=0", 'e'},
        {"y == 0 <-> 10 / x > 2", "y=0 x=0", 'e'},
        {"y == 0 <-> 10 / x > 2", "y=1 x=0", 'e'},
        {"10 / x > 2 || y == 1", "x=0 y=1", 'e'}, /* what stands to its right does not save it */
        /* values that the trace does not give, and other failures */
        {"x >= 0", "x=1, x=?", 'e'},
        {"x >= 0 || y == 1", "x=? y=1", 'e'},
        {"y == 1 || x >= 0", "x=? y=1", 'h'},
        {"event(go) -> x >= 0", "x=?, x=?", 'h'},
        {"event(go) -> x >= 0", "x=?, !go", 'e'},
        {"event(go) -> x >= 0", "x=?, x=1 !go", 'h'},
        /* the past: an error only if what is remembered depends on it */
        {"once (10 / x > 2) || y == 0", "x=1, x=0, y=1", 'h'},
        {"once (10 / x > 2) || y == 0", "x=9, x=0", 'e'},
        {"historically (10 / x > 2) || y == 0", "x=9, x=0, y=1", 'b'},
        {"historically (10 / x > 2) || y == 0", "x=1, x=0", 'e'},
        {"previously (10 / x > 2) || y == 0", "x=1, x=0", 'e'},
        {"(y == 1 && 10 / x > 2) since z == 1", "y=0 x=0 z=0, z=1", 'b'},
        {"z == 1 || previously z == 1 || (10 / x > 2) since z == 1", "z=1 x=0, z=0", 'e'},
        /* the future: an error only while it is not decided */
        {"y == 0 -> next (10 / x > 2)", "y=0 x=0, x=1", 'h'},
        {"y == 1 -> next (10 / x > 2)", "y=0 x=1, x=0, x=0", 'h'},
        {"y == 1 -> next (10 / x > 2)", "y=1 x=1, x=0", 'e'},
        {"y == 1 -> next (10 / x > 2)", "y=1 x=1, x=3, x=0", 'h'},
        {"(10 / x > 2) until y == 1", "x=1, y=1, x=0", 'h'},
        {"y == 0 -> next (1/x > 0 && 2/x > 0 && 3/x > 0 && 4/x > 0 && 5/x > 0 && 6/x > 0 && 7/x > 0 && 8/x > 0 &&"
         " 9/x > 0 && 10/x > 0 && 11/x > 0)",
         "x=1 y=0, x=1, x=0", 'h'}, /* decided, however many there are */
        {"(10 / x > 2) until y == 1", "x=1, x=0", 'e'},
        {"(10 / x > 2) weakuntil y == 1", "x=1, x=9", 'b'},
        /* expressions: only the letter that matters */
        {"never [10 / x > 2] [y == 1]", "x=1, y=0 x=0, y=1", 'h'},
        {"never [10 / x > 2] [y == 1]", "x=0", 'e'},
        {"never [10 / x > 2] [y == 1]", "x=1, y=1 x=0", 'b'},
        {"never [true]* [10 / x > 2 && y == 1]", "x=9, x=0", 'e'},
        {"never [true]* [y == 1 && 10 / x > 2]", "x=9, x=0, y=1 x=1", 'b'},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture f;
        fixture_init(&f, cases[i].body);
        char verdict = run(&f, cases[i].states);
        if (verdict != cases[i].verdict)
            fail_msg("%s over %s: %c, not %c", cases[i].body, cases[i].states, verdict, cases[i].verdict);
        fixture_release(&f);
    }
}

static void test_errors_name_the_culprit(void **state)
{
    (void)state;
    static const struct {
        const char *body, *states, *message;
    } cases[] = {
        {"x >= 0", "x=?", "the trace does not give the value of 'x', which 'x >= 0' needs"},
        {"y == 0 -> z / x > 1", "x=0", "division by zero in 'z / x > 1'"},
        {"y == 1 || 9 / y < 20 && 1 / x > 0", "y=2 x=0", "division by zero in '1 / x > 0'"},
        {"y == 1 && 1 / x > 0 || 2 / x > 0", "y=0 x=0", "division by zero in '2 / x > 0'"},
        {"y * 9223372036854775807 != 3", "y=2", "overflow in 'y * 9223372036854775807 != 3'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture f;
        struct pt_err err;
        fixture_init(&f, cases[i].body);
        assert_int_equal(run(&f, cases[i].states), 'e');
        pt_monitor_error(f.m, f.values, &err);
        assert_int_equal(err.status, PT_EEVAL);
        if (!strstr(err.message, cases[i].message) && !strstr(cases[i].message, err.message))
            fail_msg("%s: '%s'", cases[i].body, err.message);
        fixture_release(&f);
    }
}

/* Effects and joint variables are a short cut: the letter must be that of the whole state. */
static void test_letters_by_effect(void **state)
{
    (void)state;
    uint64_t seed = 4;
    struct fixture f;
    uint32_t joint_count, event_count;
    fixture_init(&f, "x > 3 && y < 2 || x == y || 6 / z > 1 && z + x > 4 || event(a) && !event(b) || w != 0 && 1 < 2");
    const uint32_t *joint = pt_monitor_joint_vars(f.m, &joint_count);
    assert_int_equal(joint_count, 3);
    for (uint32_t i = 0; i < joint_count; i++)
        assert_int_not_equal(joint[i], var(&f, 'w'));
    pt_monitor_events(f.m, &event_count);
    assert_int_equal(event_count, 2);
    assert_false(pt_monitor_is_module(f.m));
    pt_letter letter = pt_monitor_letter(f.m, f.values, PT_NONE);
    for (uint32_t i = 0; i < 3000; i++) {
        uint32_t v = below(&seed, f.var_count);
        bool is_joint = false;
        f.values[v] = below(&seed, 9) ? pt_value_int(below(&seed, 6)) : (struct pt_value){0};
        for (uint32_t k = 0; k < joint_count; k++)
            is_joint = is_joint || joint[k] == v;
        uint32_t effect = pt_monitor_effect(f.m, v, f.values[v]);
        letter =
            is_joint ? pt_monitor_apply_joint(f.m, letter, effect, f.values) : pt_monitor_apply(f.m, letter, effect);
        assert_int_equal(letter, pt_monitor_letter(f.m, f.values, PT_NONE));
        for (uint32_t e = 0; e < event_count; e++)
            assert_int_equal(pt_monitor_with_event(f.m, letter, e), pt_monitor_letter(f.m, f.values, e));
    }
    assert_true(pt_monitor_bytes(f.m) > 0);
    fixture_release(&f);
}

static void test_monitorable(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        bool monitorable;
    } cases[] = {
        {"x < 5", true},
        {"always eventually x < 5", false},
        {"eventually x < 5", false},
        {"x < 5 || x >= 5", true}, /* two atoms, and independent ones: it can be bad */
        {"true", false},
        {"(x < 5) until y > 3", true},
        {"once x < 5 || !(once x < 5)", false},
        {"never [x < 5] [y > 3]", true},
        {"never empty", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture f;
        fixture_init(&f, cases[i].body);
        if (pt_monitor_monitorable(f.m) != cases[i].monitorable)
            fail_msg("%s", cases[i].body);
        fixture_release(&f);
    }
}

/* ---- modules ---- */

struct sum {
    int64_t sum, noise;
};
static int64_t noise;
static int64_t last_event;

static void sum_init(void *blob)
{
    ((struct sum *)blob)->sum = 10;
}
static void sum_step(void *blob, const struct portent_state *program)
{
    struct sum *s = blob;
    assert_int_equal(program->values[0].kind, PORTENT_VALUE_INT);
    s->sum += program->values[0].as.i * 10 + program->values[1].as.i;
    s->noise = noise++;
    last_event = program->event;
    if (program->event == 1)
        s->sum = 0;
}
static int sum_bad(const void *blob)
{
    return ((const struct sum *)blob)->sum > 1000;
}
static uint64_t sum_hash(const void *blob)
{
    return (uint64_t)((const struct sum *)blob)->sum % 3; /* collides often */
}
static int sum_equal(const void *a, const void *b)
{
    return ((const struct sum *)a)->sum == ((const struct sum *)b)->sum;
}

static void test_modules(void **state)
{
    (void)state;
    static const char *const variables[] = {"p", "q", NULL}, *const events[] = {"tick", "reset", NULL};
    static const struct portent_monitor module = {.abi = PORTENT_MONITOR_ABI,
                                                  .name = "sum",
                                                  .variables = variables,
                                                  .events = events,
                                                  .state_size = sizeof(struct sum),
                                                  .init = sum_init,
                                                  .step = sum_step,
                                                  .is_bad = sum_bad,
                                                  .hash = sum_hash,
                                                  .equal = sum_equal};
    struct pt_monitor *m = pt_monitor_of_module(&module);
    uint32_t count;
    assert_string_equal(pt_monitor_name(m), "sum");
    assert_true(pt_monitor_is_module(m));
    assert_null(pt_monitor_property(m));
    assert_true(pt_monitor_monitorable(m));
    assert_string_equal(pt_monitor_vars(m, &count)[1].target, "q");
    assert_int_equal(count, 2);
    pt_monitor_joint_vars(m, &count);
    assert_int_equal(count, 2); /* all of them */
    pt_monitor_events(m, &count);
    assert_int_equal(count, 2);

    struct pt_value one_zero[] = {pt_value_int(1), pt_value_int(0)}, zero_ten[] = {pt_value_int(0), pt_value_int(10)};
    struct pt_value zero_three[] = {pt_value_int(0), pt_value_int(3)}, many[] = {pt_value_int(200), pt_value_int(0)};
    pt_letter a = pt_monitor_letter(m, one_zero, PT_NONE), b = pt_monitor_letter(m, zero_ten, PT_NONE);
    assert_int_not_equal(a, b);
    assert_int_equal(a, pt_monitor_letter(m, one_zero, PT_NONE));
    assert_int_not_equal(a, pt_monitor_letter(m, one_zero, 0));

    pt_mstate start = pt_monitor_start(m);
    assert_int_equal(start, pt_monitor_start(m));
    pt_mstate by_a = pt_monitor_step(m, start, a), by_b = pt_monitor_step(m, start, b);
    assert_int_equal(last_event, -1);
    assert_int_not_equal(by_a, start);
    assert_int_equal(by_a, by_b); /* equal sums, however they came about */
    pt_mstate collides = pt_monitor_step(m, start, pt_monitor_letter(m, zero_three, PT_NONE));
    assert_true(collides != start && collides != by_a); /* 13: the hash of 10, another state */
    assert_int_equal(pt_monitor_step(m, start, pt_monitor_letter(m, many, PT_NONE)), PT_MSTATE_BAD);
    pt_mstate zero = pt_monitor_step(m, by_a, pt_monitor_letter(m, many, 1));
    assert_int_equal(last_event, 1);
    assert_int_equal(zero, pt_monitor_step(m, collides, pt_monitor_letter(m, one_zero, 1)));
    /* Many states, in few chains. */
    struct pt_value q[] = {pt_value_int(0), pt_value_int(1)};
    pt_mstate seen[900], s = zero;
    pt_letter plus_one = pt_monitor_letter(m, q, PT_NONE);
    for (uint32_t i = 0; i < 900; i++)
        seen[i] = s = pt_monitor_step(m, s, plus_one);
    s = zero;
    for (uint32_t i = 0; i < 900; i++) {
        s = pt_monitor_step(m, s, plus_one);
        assert_int_equal(s, seen[i]);
        assert_true(i == 0 || seen[i] != seen[i - 1]);
    }
    assert_int_equal(seen[9], start); /* 10 again */
    assert_int_equal(seen[19], by_a);
    struct pt_explained *list;
    assert_int_equal(pt_monitor_explain(m, &a, 1, &list, NULL), 0);
    pt_monitor_free(m);
}

/* ---- explanations ---- */

static void test_explain(void **state)
{
    (void)state;
    struct fixture f;
    pt_letter letters[3];
    struct pt_explained *list;
    signed char *rows;
    static const struct {
        const char *text;
        int value;
        uint32_t depth;
    } expected[] = {
        {"x > 3 -> once y > 1 || next z == 0", -1, 0},
        {"x > 3", 1, 1},
        {"once y > 1 || next z == 0", -1, 1},
        {"once y > 1", 0, 2},
        {"y > 1", 0, 3},
        {"next z == 0", -1, 2},
        {"z == 0", 1, 3},
    };
    fixture_init(&f, "x > 3 -> once y > 1 || next z == 0");
    for (uint32_t i = 0; i < 3; i++) {
        f.values[var(&f, 'x')] = pt_value_int(2 * i);
        letters[i] = pt_monitor_letter(f.m, f.values, PT_NONE);
    }
    uint32_t count = pt_monitor_explain(f.m, letters, 3, &list, &rows);
    assert_int_equal(count, sizeof expected / sizeof expected[0]);
    for (uint32_t i = 0; i < count; i++) {
        assert_string_equal(list[i].text, expected[i].text);
        assert_int_equal(list[i].value, expected[i].value);
        assert_int_equal(list[i].depth, expected[i].depth);
        assert_int_equal(rows[2 * count + i], expected[i].value);
        free(list[i].text);
    }
    /* x is 0, 2, 4: the guard is false in the first two states, and with it the implication true. */
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(rows[i * count], 1);
        assert_int_equal(rows[i * count + 1], 0);
    }
    free(rows);
    free(list);
    fixture_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_atoms_without_value),
        cmocka_unit_test(test_errors_name_the_culprit),
        cmocka_unit_test(test_letters_by_effect),
        cmocka_unit_test(test_monitorable),
        cmocka_unit_test(test_modules),
        cmocka_unit_test(test_explain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
