/*
 * Concurrency in the unfolder is found in two ways, by rows and by walks (src/net/unfold_choose.c), and one can follow
 * the other at any event: the prefix has to be the same, event by event. Random nets, with and without read arcs, and
 * the families that are measured. Rows are what test_net_questions.c holds against explicit search.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "../../bench/net_families.h"
#include "../../bench/sml_programs.h"
#include "net/components.h"
#include "net/model.h"
#include "net/reduce.h"
#include "net/sml.h"
#include "net_random.h"

enum { SMALL_NETS = 3000, LARGE_NETS = 3000, MOST_EVENTS = 3000, ORDERED_EVENTS = 400, NEVER = UINT32_MAX };

enum { MOST_MACHINES = 8 };

/* A step of a machine from one state, with which others, its neighbours, may go on or be asked for their state. */
static void add_step(struct pt_net *net, uint32_t machines, const uint32_t *first, const uint32_t *size, uint32_t m,
                     uint32_t from)
{
    uint32_t pre[MOST_MACHINES], post[MOST_MACHINES], n = 0;
    pre[n] = first[m] + from;
    post[n++] = first[m] + (from + 1 + random_below(size[m] - 1)) % size[m];
    for (uint32_t next = m + 1; next < m + 3 && next < m + machines && random_below(2); next++) {
        uint32_t other = next % machines, at = random_below(size[other]);
        pre[n] = first[other] + at;
        post[n++] = first[other] + (random_below(2) ? at : random_below(size[other]));
    }
    (void)pt_net_add_transition(net, NULL, pre, n, post, n);
}

/* State machines in a ring, larger ones than those of net_random.h: histories go further apart. */
static void make_large_net(struct pt_net *net, uint64_t seed)
{
    uint32_t first[MOST_MACHINES], size[MOST_MACHINES];
    random_state = seed * 0x9e3779b97f4a7c15ULL + 7;
    uint32_t machines = 2 + random_below(MOST_MACHINES - 1);
    pt_net_init(net);
    for (uint32_t m = 0; m < machines; m++) {
        size[m] = 2 + random_below(3);
        first[m] = pt_net_add_places(net, size[m]);
        net->places[first[m]].marked = true;
    }
    for (uint32_t m = 0; m < machines; m++) {
        for (uint32_t from = 0; from < size[m]; from++)
            add_step(net, machines, first, size, m, from);
    }
}

static struct pt_unfolding unfold(struct pt_unfold_options options, uint32_t walk_from, uint32_t walk_until)
{
    options.event_limit = options.event_limit ? options.event_limit : MOST_EVENTS;
    options.walk_from = walk_from;
    options.walk_until = walk_until;
    struct pt_unfolding u;
    struct pt_err err;
    assert_int_equal(pt_unfold(&options, &u, &err), PT_OK);
    return u;
}

static void compare(const struct pt_unfolding *u, const struct pt_unfolding *v, const char *what, uint32_t seed)
{
    bool same = u->event_count == v->event_count && u->condition_count == v->condition_count &&
                u->pre_count == v->pre_count && u->occurrence_count == v->occurrence_count &&
                u->cutoff_count == v->cutoff_count;
    for (uint32_t e = 0; same && e < u->event_count; e++) {
        const struct pt_unfold_event *x = &u->events[e], *y = &v->events[e];
        same = x->transition == y->transition && x->pre_start == y->pre_start && x->mark_count == y->mark_count &&
               x->cutoff == y->cutoff && x->goal == y->goal && x->colour == y->colour && x->tag == y->tag &&
               x->size == y->size && x->depth == y->depth && x->marking == y->marking;
    }
    for (uint32_t i = 0; same && i < u->pre_count; i++)
        same = u->pre[i] == v->pre[i];
    if (!same)
        fail_msg("%s %u: %u and %u events", what, seed, u->event_count - 1, v->event_count - 1);
}

/* The order of Esparza, Römer and Vogler by its definition, of two histories of one size: sorted words of transitions,
 * and then those of the levels of Foata's normal form, one after the other. */
static int order_by_definition(const struct pt_unfolding *u, uint32_t x, uint32_t y)
{
    enum { MOST = 512 };
    uint32_t words[2][MOST], levels[2][MOST], events[2] = {x, y}, count = 0, deepest = 0;
    for (int side = 0; side < 2; side++) {
        uint32_t *history = pt_unfolding_history(u, events[side], &count);
        assert_true(count <= MOST);
        for (uint32_t i = 0; i < count; i++) { /* by transition */
            const struct pt_unfold_event *e = &u->events[history[i]];
            uint32_t at = i;
            for (; at > 0 && words[side][at - 1] > e->transition; at--) {
                words[side][at] = words[side][at - 1];
                levels[side][at] = levels[side][at - 1];
            }
            words[side][at] = e->transition;
            levels[side][at] = e->depth;
            deepest = e->depth > deepest ? e->depth : deepest;
        }
        free(history);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (words[0][i] != words[1][i])
            return words[0][i] < words[1][i] ? -1 : 1;
    }
    for (uint32_t level = 1; level <= deepest; level++) {
        for (uint32_t i = 0, k = 0;; i++, k++) {
            while (i < count && levels[0][i] != level)
                i++;
            while (k < count && levels[1][k] != level)
                k++;
            if (i == count && k == count)
                break;
            if (i == count || k == count)
                return i == count ? -1 : 1; /* a proper prefix */
            if (words[0][i] != words[1][k])
                return words[0][i] < words[1][k] ? -1 : 1;
        }
    }
    return 0;
}

/* Of histories with one size and one marking, which are compared, the smaller ones have come first. Counts them. */
static uint32_t check_order(const struct pt_unfolding *u, uint32_t seed)
{
    uint32_t pairs = 0;
    for (uint32_t f = 1; f < u->event_count; f++) {
        for (uint32_t e = f - 1; e > 0 && u->events[e].size == u->events[f].size; e--) {
            if (u->events[e].marking != u->events[f].marking)
                continue;
            pairs++;
            if (order_by_definition(u, e, f) >= 0)
                fail_msg("net %u: event %u is not smaller than %u", seed, e, f);
        }
    }
    return pairs;
}

static void test_order(void **state)
{
    (void)state;
    uint32_t pairs = 0;
    for (uint32_t seed = 0; seed < LARGE_NETS; seed++) {
        struct pt_net net;
        make_large_net(&net, seed);
        for (int reads = 0; reads < 2; reads++) {
            for (int walks = 0; walks < 2; walks++) {
                struct pt_unfold_options options = {.net = &net, .event_limit = ORDERED_EVENTS};
                struct pt_unfolding u = unfold(options, walks ? 1 : NEVER, NEVER);
                pairs += check_order(&u, seed);
                pt_unfolding_release(&u);
            }
            pt_net_find_reads(&net);
        }
        pt_net_release(&net);
    }
    print_message("%u pairs\n", pairs);
    assert_true(pairs > LARGE_NETS);
}

/* All ways with one net; counts the events that were extended by walks. */
static uint32_t try_all(struct pt_unfold_options options, const char *what, uint32_t seed)
{
    struct pt_unfolding rows = unfold(options, NEVER, NEVER), walks = unfold(options, 1, NEVER);
    uint32_t third = rows.event_count / 3 + 1, walked = walks.walked;
    assert_int_equal(rows.walked, 0);
    struct pt_unfolding later = unfold(options, third, NEVER), both = unfold(options, third, 2 * third);
    struct pt_unfolding again = unfold(options, third / 2 + 1, third / 2 + 1 + third / 4);
    compare(&rows, &walks, what, seed);
    compare(&rows, &later, what, seed);
    compare(&rows, &both, what, seed);
    compare(&rows, &again, what, seed); /* walks, rows and, twice as far, walks again */
    pt_unfolding_release(&rows);
    pt_unfolding_release(&walks);
    pt_unfolding_release(&later);
    pt_unfolding_release(&both);
    pt_unfolding_release(&again);
    return walked;
}

/* As it stands, and with what can be read arcs as such. */
static uint32_t try_plain_and_read(struct pt_net *net, const char *what, uint32_t seed)
{
    struct pt_unfold_options options = {.net = net};
    uint32_t walked = try_all(options, what, seed);
    pt_net_find_reads(net);
    walked += try_all(options, what, seed);
    pt_net_release(net);
    return walked;
}

static void test_small(void **state)
{
    (void)state;
    static struct states states;
    uint32_t walked = 0, nets = 0;
    for (uint32_t seed = 0; seed < SMALL_NETS; seed++) {
        struct pt_net net;
        make_random_net(&net, seed);
        explore(&net, &states);
        if (states.unsafe) {
            pt_net_release(&net);
            continue;
        }
        walked += try_plain_and_read(&net, "small net", seed);
        nets++;
    }
    print_message("%u nets, %u events by walks\n", nets, walked);
    assert_true(walked > nets);
}

static void test_large(void **state)
{
    (void)state;
    uint32_t walked = 0;
    for (uint32_t seed = 0; seed < LARGE_NETS; seed++) {
        struct pt_net net;
        make_large_net(&net, seed);
        walked += try_plain_and_read(&net, "large net", seed);
    }
    print_message("%u events by walks\n", walked);
    assert_true(walked > 20 * LARGE_NETS);
}

static void test_families(void **state)
{
    (void)state;
    static const uint32_t sizes[NET_FAMILIES] = {
        [NET_PHILOSOPHERS] = 20, [NET_RING] = 20, [NET_READERS] = 6, [NET_COUNTER] = 9,
        [NET_PIPELINE] = 8,      [NET_KEY] = 5,   [NET_DME] = 5,
    };
    for (uint32_t f = 0; f < NET_FAMILIES; f++) {
        struct pt_net net;
        net_make((enum net_family)f, sizes[f], &net);
        assert_true(try_plain_and_read(&net, net_family_names[f], sizes[f]) > 0);
    }
}

/* As it pays: rows first, then walks where they are cheaper, rows again where they turn out not to be. */
static void test_choice(void **state)
{
    (void)state;
    static const struct {
        enum net_family family;
        uint32_t n;
        bool walks; /* for most of the events that are extended */
    } cases[] = {{NET_PHILOSOPHERS, 40, true}, {NET_RING, 40, true}, {NET_READERS, 9, false}};
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pt_net net;
        net_make(cases[i].family, cases[i].n, &net);
        struct pt_unfold_options options = {.net = &net};
        struct pt_unfolding rows = unfold(options, NEVER, NEVER), chosen = unfold(options, 0, 0);
        uint32_t extended = rows.event_count - rows.cutoff_count;
        print_message("%s %u: %u of %u by walks\n", net_family_names[cases[i].family], cases[i].n, chosen.walked,
                      extended);
        compare(&rows, &chosen, net_family_names[cases[i].family], cases[i].n);
        assert_true(chosen.walked > 0); /* tried, where they are dropped again */
        assert_int_equal(chosen.walked > extended / 2, cases[i].walks);
        pt_unfolding_release(&rows);
        pt_unfolding_release(&chosen);
        pt_net_release(&net);
    }
}

/* A net of a program: tokens with colours or a baton, guesses, goals, threads that are forgotten. */
static uint32_t try_model(const struct pt_model *model, bool coloured, uint32_t threads)
{
    uint32_t walked = 0;
    for (int all = 0; all < 2; all++) {
        struct pt_unfold_options options = {.net = &model->net,
                                            .meanings = model->meanings,
                                            .block_threads = model->block_threads,
                                            .block_count = model->block_count,
                                            .restart = model->restart,
                                            .coloured = coloured,
                                            .drop_settled = !coloured && !all,
                                            .all = all};
        walked += try_all(options, coloured ? "coloured model" : "model", threads);
    }
    return walked;
}

static uint32_t try_program(const char *text, size_t len, uint32_t threads)
{
    struct pt_program program;
    struct pt_reduction reduction;
    struct pt_model model;
    struct pt_err err;
    uint32_t walked = 0, blocks[64];
    pt_program_init(&program);
    assert_int_equal(pt_sml_parse("p.sml", text, len, &program, &err), PT_OK);
    for (int reads = 0; reads < 2; reads++) {
        pt_model_init(&model);
        pt_model_build(&program, (struct pt_model_options){.variables = true, .read_arcs = reads, .guesses = true},
                       &model);
        walked += try_model(&model, true, threads);
        pt_model_release(&model);
    }
    pt_reduction_make(&program, &reduction);
    for (uint32_t b = 0; b < program.block_count; b++)
        blocks[b] = b;
    pt_model_init(&model);
    pt_path_build(&program, &reduction, blocks, program.block_count, &model);
    walked += try_model(&model, false, threads);
    pt_model_release(&model);
    pt_reduction_release(&reduction);
    pt_program_release(&program);
    return walked;
}

static void test_programs(void **state)
{
    (void)state;
    uint32_t walked = 0;
    for (uint32_t threads = 2; threads <= 4; threads++) {
        for (int family = PT_SML_ACQUIRE1; family <= PT_SML_FLAG; family++) {
            struct pt_buf text;
            pt_buf_init(&text);
            pt_sml_write((enum pt_sml_family)family, threads, &text);
            walked += try_program(text.text, text.len, threads);
            pt_buf_release(&text);
        }
    }
    walked += try_program(pt_sml_bluetooth, sizeof pt_sml_bluetooth - 1, 2);
    walked += try_program(pt_sml_bluetooth3, sizeof pt_sml_bluetooth3 - 1, 2);
    print_message("%u events by walks\n", walked);
    assert_true(walked > 1000);
}

static uint32_t count_in(const uint32_t *places, uint32_t count, uint64_t component)
{
    uint32_t in = 0;
    for (uint32_t i = 0; i < count; i++)
        in += component >> places[i] & 1;
    return in;
}

/* Components as they are defined, one transition after the other; the number of tokens in the reachable markings. */
static void check_component(const struct pt_net *net, const struct states *states, uint64_t component)
{
    for (uint32_t t = 0; t < net->transition_count; t++) {
        const struct pt_net_transition *at = &net->transitions[t];
        uint32_t before = count_in(pt_net_pre(net, t), at->pre_count, component);
        uint32_t after = count_in(pt_net_post(net, t), at->post_count, component);
        assert_true(after <= 1 && (after == 0 || before > 0));
    }
    for (uint32_t i = 0; i < states->count; i++) {
        uint64_t tokens = states->items[i] & component;
        assert_true((tokens & (tokens - 1)) == 0);
    }
}

static void test_components(void **state)
{
    (void)state;
    static struct states states;
    uint32_t covered[2] = {0};
    for (uint32_t seed = 0; seed < SMALL_NETS; seed++) {
        struct pt_net net;
        make_random_net(&net, seed);
        explore(&net, &states);
        if (seed % 2)
            pt_net_find_reads(&net);
        for (int solve = 0; solve < 2; solve++) {
            struct pt_components found;
            uint64_t budget = 100000;
            if (solve)
                pt_net_find_components(&net, &found);
            else if (!pt_net_follow_components(&net, &budget, &found))
                continue;
            assert_false(found.all && states.unsafe);
            for (uint32_t k = 0, at = 0; k < found.count && !states.unsafe; k++) {
                check_component(&net, &states, bits_of(found.places + at, found.ends[k] - at));
                at = found.ends[k];
            }
            covered[solve] += found.all;
            pt_components_release(&found);
        }
        pt_net_release(&net);
    }
    print_message("%u of %u nets are covered, %u by following arcs\n", covered[1], SMALL_NETS, covered[0]);
    assert_true(covered[0] > SMALL_NETS / 2 && covered[1] >= covered[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_small),    cmocka_unit_test(test_large),
                                       cmocka_unit_test(test_families), cmocka_unit_test(test_choice),
                                       cmocka_unit_test(test_programs), cmocka_unit_test(test_components),
                                       cmocka_unit_test(test_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
