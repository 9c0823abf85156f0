/*
 * Coverability, reachability and deadlock of thousands of small random nets against explicit search of their states,
 * and firing sequences played by the same token game; satisfiability of random clauses against all assignments.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../../bench/net_families.h"
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

/* How often the net's structure alone has answered, and traps in the place of the solver. */
static uint32_t without_prefix, by_traps;

static void ask_as(struct pt_net *net, uint32_t seed, enum pt_question_kind kind, uint64_t places, bool some,
                   bool plain, bool unfold)
{
    uint32_t list[64], count = 0;
    for (uint32_t p = 0; p < net->place_count; p++) {
        if (places >> p & 1)
            list[count++] = p;
    }
    struct pt_question question = {
        .kind = kind, .places = some ? list : NULL, .place_count = some ? count : 0, .plain = plain, .unfold = unfold};
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
    assert_true(answer.unfolded || (kind == PT_ASK_DEADLOCK && !unfold && !answer.found));
    without_prefix += !answer.unfolded;
    by_traps += answer.traps > 0;
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

/* Once with reads as such, deadlocks by the prefix alone, too, and once with arcs to and fro. */
static void ask(struct pt_net *net, uint32_t seed, enum pt_question_kind kind, uint64_t places, bool some)
{
    ask_as(net, seed, kind, places, some, false, false);
    if (kind == PT_ASK_DEADLOCK)
        ask_as(net, seed, kind, places, some, false, true);
    for (uint32_t t = 0; t < net->transition_count; t++)
        net->transitions[t].read_count = 0;
    ask_as(net, seed, kind, places, some, true, false);
}

/*
 * The net in which each place has a copy for every transition that reads it: a reader takes its own copy and puts it
 * back, everybody else takes and makes all of them. Its events are the histories of the net with reads
 * (unfold_order.c).
 */
static void replicate(const struct pt_net *net, struct pt_net *copy)
{
    static uint32_t place_of[64][64]; /* by place and reader */
    uint32_t reader_count[64] = {0}, number[64][64];
    pt_net_init(copy);
    for (uint32_t t = 0; t < net->transition_count; t++) {
        for (uint32_t i = pt_net_consumed(net, t); i < net->transitions[t].pre_count; i++) {
            uint32_t p = pt_net_pre(net, t)[i];
            number[p][t] = reader_count[p]++;
        }
    }
    for (uint32_t p = 0; p < net->place_count; p++) {
        for (uint32_t k = 0; k < (reader_count[p] ? reader_count[p] : 1); k++)
            place_of[p][k] = pt_net_add_place(copy, "x", net->places[p].marked);
    }
    for (uint32_t t = 0; t < net->transition_count; t++) {
        uint32_t arcs[2][512], count[2] = {0};
        for (uint32_t side = 0; side < 2; side++) {
            const uint32_t *places = side ? pt_net_post(net, t) : pt_net_pre(net, t);
            uint32_t all = side ? net->transitions[t].post_count : net->transitions[t].pre_count;
            uint32_t used = all - net->transitions[t].read_count;
            for (uint32_t i = 0; i < all; i++) {
                for (uint32_t k = 0; i < used && k < (reader_count[places[i]] ? reader_count[places[i]] : 1); k++)
                    arcs[side][count[side]++] = place_of[places[i]][k];
                if (i >= used)
                    arcs[side][count[side]++] = place_of[places[i]][number[places[i]][t]];
            }
        }
        (void)pt_net_add_transition(copy, NULL, arcs[0], count[0], arcs[1], count[1]);
    }
}

static struct pt_answer unfold(struct pt_net *net, bool plain)
{
    struct pt_question question = {.plain = plain};
    struct pt_answer answer;
    struct pt_err err;
    assert_int_equal(pt_net_ask(net, &question, &answer, &err), PT_OK);
    return answer;
}

/* The histories of the net with reads are the events of the net with copies. */
static struct pt_answer compare_replicas(struct pt_net *net, uint32_t seed)
{
    struct pt_net copy;
    struct pt_answer with = unfold(net, false);
    replicate(net, &copy);
    struct pt_answer replicas = unfold(&copy, true);
    if (with.histories != replicas.histories || with.cutoffs != replicas.cutoffs)
        fail_msg("net %u: %llu histories, %llu cut-offs; with copies of places %llu and %llu", seed,
                 (unsigned long long)with.histories, (unsigned long long)with.cutoffs,
                 (unsigned long long)replicas.histories, (unsigned long long)replicas.cutoffs);
    pt_net_release(&copy);
    return with;
}

static void test_replicas(void **state)
{
    (void)state;
    uint32_t smaller = 0, reads = 0;
    static const enum net_family families[] = {NET_KEY, NET_READERS, NET_DME};
    for (uint32_t i = 0; i < sizeof families / sizeof *families; i++) {
        struct pt_net net;
        net_make(families[i], 5, &net);
        (void)compare_replicas(&net, NETS + i);
        pt_net_release(&net);
    }
    for (uint32_t seed = 0; seed < NETS; seed++) {
        struct pt_net net;
        make_random_net(&net, seed);
        explore(&net, &states);
        if (!states.unsafe) {
            struct pt_answer plain = unfold(&net, true), with = compare_replicas(&net, seed);
            if (with.events > with.histories || with.histories - with.cutoffs > states.count)
                fail_msg("net %u: too many events or histories", seed);
            reads += with.events != with.histories;
            smaller += with.events < plain.events;
        }
        pt_net_release(&net);
    }
    if (reads < NETS / 20 || smaller < NETS / 20)
        fail_msg("%u nets with several histories, %u with fewer events", reads, smaller);
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
    print_message("%u without a prefix, %u by traps\n", without_prefix, by_traps);
    assert_true(without_prefix > NETS / 20 && by_traps > NETS / 20);
}

/* Families whose prefixes have known sizes; large enough for rows that wait in windows (unfold_co.c). */
static void test_families(void **state)
{
    (void)state;
    static const struct {
        enum net_family family;
        uint32_t n;
        uint64_t events;
        bool deadlock;
    } cases[] = {
        {NET_PHILOSOPHERS, 50, 3 * 50 * 50 - 2 * 50, true}, /* 3n^2 - 2n */
        {NET_COUNTER, 10, (1 << 10) - 1, true},             /* it counts to the end */
        {NET_READERS, 5, 34, false},                        /* 6n + 4, with any number of histories */
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pt_question question = {.kind = PT_ASK_DEADLOCK, .unfold = true};
        struct pt_net net;
        struct pt_answer answer;
        struct pt_err err;
        net_make(cases[i].family, cases[i].n, &net);
        assert_int_equal(pt_net_ask(&net, &question, &answer, &err), PT_OK);
        assert_int_equal(answer.events, cases[i].events);
        assert_int_equal(answer.found, cases[i].deadlock);
        pt_answer_release(&answer);
        pt_net_release(&net);
    }
}

/* Families without a deadlock, as the net alone shows: the ring's prefix has 50,700 events. */
static void test_structure(void **state)
{
    (void)state;
    static const struct {
        enum net_family family;
        uint32_t n;
    } cases[] = {{NET_RING, 200}, {NET_READERS, 20}, {NET_KEY, 20}, {NET_DME, 8}};
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pt_question question = {.kind = PT_ASK_DEADLOCK};
        struct pt_net net;
        struct pt_answer answer;
        struct pt_err err;
        net_make(cases[i].family, cases[i].n, &net);
        assert_int_equal(pt_net_ask(&net, &question, &answer, &err), PT_OK);
        print_message("%s %u: %s, %u traps\n", net_family_names[cases[i].family], cases[i].n,
                      answer.unfolded ? "unfolded" : "not unfolded", answer.traps);
        assert_false(answer.found || answer.unfolded);
        pt_net_release(&net);
    }
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
        cmocka_unit_test(test_random_nets), cmocka_unit_test(test_replicas), cmocka_unit_test(test_families),
        cmocka_unit_test(test_structure),   cmocka_unit_test(test_clauses),  cmocka_unit_test(test_pigeons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
