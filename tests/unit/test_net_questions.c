/*
 * Coverability, reachability and deadlock of thousands of small random nets against explicit search of their states,
 * and firing sequences played by the same token game; satisfiability of random clauses against all assignments.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "net/question.h"
#include "net/sat.h"
#include "net_random.h"

enum { NETS = 4000, CLAUSE_SETS = 3000 };

static struct states states;

/* The marking that the firings lead to. */
static uint64_t play(const struct pt_net *net, const struct pt_answer *answer, uint32_t seed)
{
    uint64_t marking = initial_marking(net);
    bool unsafe = false;
    for (uint32_t i = 0; i < answer->firing_count; i++) {
        if (!is_enabled_in(net, answer->firings[i], marking))
            fail_msg("net %u: a firing is not enabled", seed);
        marking = fire(net, answer->firings[i], marking, &unsafe);
    }
    assert_false(unsafe);
    return marking;
}

/* What the search of all states says. */
static bool expected(const struct pt_net *net, enum pt_question_kind kind, uint64_t places, bool some)
{
    for (uint32_t i = 0; i < states.count; i++) {
        uint64_t m = states.items[i];
        if (kind == PT_ASK_COVER      ? (m & places) == places
            : kind == PT_ASK_REACH    ? m == places
            : kind == PT_ASK_DEADLOCK ? is_dead(net, m) && (!some || (m & places))
                                      : false)
            return true;
    }
    return false;
}

static void ask(struct pt_net *net, uint32_t seed, enum pt_question_kind kind, uint64_t places, bool some)
{
    uint32_t list[64], count = 0;
    for (uint32_t p = 0; p < net->place_count; p++) {
        if (places >> p & 1)
            list[count++] = p;
    }
    struct pt_question question = {.kind = kind, .places = some ? list : NULL, .place_count = some ? count : 0};
    struct pt_answer answer;
    struct pt_err err;
    enum pt_status status = pt_net_ask(net, &question, &answer, &err);
    if (status != PT_OK && !states.unsafe)
        fail_msg("net %u, question %u: %s", seed, kind, err.message);
    if (status == PT_OK && states.unsafe && kind != PT_ASK_COVER)
        fail_msg("net %u, question %u: it is not 1-safe", seed, kind);
    if (status != PT_OK)
        return;
    assert_int_equal(answer.limit.status, PT_OK);
    bool want = expected(net, kind, places, some);
    if (!states.unsafe && answer.found != want)
        fail_msg("net %u, question %u, places %llx: %d, expected %d", seed, kind, (unsigned long long)places,
                 answer.found, want);
    if (answer.found && !states.unsafe) {
        uint64_t marking = play(net, &answer, seed);
        assert_true(kind == PT_ASK_COVER   ? (marking & places) == places
                    : kind == PT_ASK_REACH ? marking == places
                                           : is_dead(net, marking) && (!some || (marking & places)));
    }
    pt_answer_release(&answer);
}

static uint64_t random_places(const struct pt_net *net)
{
    uint64_t places = 0;
    for (uint32_t p = 0; p < net->place_count; p++)
        places |= (uint64_t)(random_below(4) == 0) << p;
    return places;
}

static void test_random_nets(void **state)
{
    (void)state;
    uint32_t dead = 0, unsafe = 0;
    for (uint32_t seed = 0; seed < NETS; seed++) {
        struct pt_net net;
        make_random_net(&net, seed);
        explore(&net, &states);
        unsafe += states.unsafe;
        dead += !states.unsafe && expected(&net, PT_ASK_DEADLOCK, 0, false);
        ask(&net, seed, PT_ASK_DEADLOCK, 0, false);
        ask(&net, seed, PT_ASK_DEADLOCK, random_places(&net), true);
        ask(&net, seed, PT_ASK_REACH, random_places(&net), true);
        uint64_t marking = states.items[random_below(states.count)];
        ask(&net, seed, PT_ASK_REACH, marking, true);
        ask(&net, seed, PT_ASK_REACH, marking & random_places(&net), true);
        uint64_t cover = random_places(&net);
        if (cover)
            ask(&net, seed, PT_ASK_COVER, cover, true);
        pt_net_release(&net);
    }
    assert_in_range(dead, NETS / 10, NETS * 9 / 10); /* both answers occur */
    assert_in_range(unsafe, NETS / 50, NETS / 2);
}

enum { VARS = 12 };

static bool holds(uint32_t clauses[][3], uint32_t count, uint32_t assignment)
{
    for (uint32_t i = 0; i < count; i++) {
        bool one = false;
        for (uint32_t k = 0; k < 3; k++)
            one |= (assignment >> (clauses[i][k] / 2) & 1) != (clauses[i][k] & 1);
        if (!one)
            return false;
    }
    return true;
}

static bool at_most_one(uint32_t assignment, uint32_t group)
{
    uint32_t all = assignment & group;
    return (all & (all - 1)) == 0;
}

static void test_clauses(void **state)
{
    (void)state;
    uint32_t satisfiable = 0;
    for (uint32_t seed = 0; seed < CLAUSE_SETS; seed++) {
        uint32_t clauses[64][3], count = 20 + random_below(44), group = 0, literals[VARS], group_count = 0;
        struct pt_sat *sat = pt_sat_new();
        for (uint32_t v = 0; v < VARS; v++) {
            (void)pt_sat_var(sat);
            if (seed % 2 && random_below(2)) {
                group |= 1u << v;
                literals[group_count++] = pt_lit(v);
            }
        }
        for (uint32_t i = 0; i < count; i++) {
            for (uint32_t k = 0; k < 3; k++)
                clauses[i][k] = random_below(2 * VARS);
            pt_sat_clause(sat, clauses[i], 3);
        }
        pt_sat_at_most_one(sat, literals, group_count);
        bool want = false;
        for (uint32_t a = 0; a < 1u << VARS && !want; a++)
            want = at_most_one(a, group) && holds(clauses, count, a);
        assert_int_equal(pt_sat_solve(sat, 0), want ? PT_SAT_YES : PT_SAT_NO);
        uint32_t found = 0;
        for (uint32_t v = 0; v < VARS; v++)
            found |= (uint32_t)pt_sat_is_true(sat, v) << v;
        assert_true(!want || (holds(clauses, count, found) && at_most_one(found, group)));
        satisfiable += want;
        pt_sat_free(sat);
    }
    assert_in_range(satisfiable, CLAUSE_SETS / 10, CLAUSE_SETS * 9 / 10);
}

/* n + 1 pigeons in n holes: needs many conflicts, restarts and forgetting. */
static void test_pigeons(void **state)
{
    (void)state;
    enum { HOLES = 8 };
    struct pt_sat *sat = pt_sat_new();
    uint32_t in[HOLES + 1][HOLES];
    for (uint32_t p = 0; p <= HOLES; p++) {
        for (uint32_t h = 0; h < HOLES; h++)
            in[p][h] = pt_lit(pt_sat_var(sat));
        pt_sat_clause(sat, in[p], HOLES);
    }
    for (uint32_t h = 0; h < HOLES; h++) {
        uint32_t all[HOLES + 1];
        for (uint32_t p = 0; p <= HOLES; p++)
            all[p] = in[p][h];
        for (uint32_t p = 0; p <= HOLES; p++) {
            for (uint32_t q = p + 1; q <= HOLES; q++)
                pt_sat_clause(sat, (uint32_t[]){pt_not(all[p]), pt_not(all[q])}, 2);
        }
    }
    assert_int_equal(pt_sat_solve(sat, 0), PT_SAT_NO);
    pt_sat_free(sat);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_nets),
        cmocka_unit_test(test_clauses),
        cmocka_unit_test(test_pigeons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
