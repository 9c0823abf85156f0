/* Small random nets, and all their markings by playing the token game state by state: no code of src/net but net.h. */
#ifndef TESTS_UNIT_NET_RANDOM_H
#define TESTS_UNIT_NET_RANDOM_H

#include <stdlib.h>
#include <string.h>

#include "net/net.h"

enum { MOST_STATES = 20000 };

static uint64_t random_state;

static uint32_t random_below(uint32_t n)
{
    random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (uint32_t)(random_state >> 33) % n;
}

/* Some state machines; a transition moves some of them, or asks one of them to be in a state: 1-safe. */
static void make_machines(struct pt_net *net)
{
    uint32_t machines = 1 + random_below(5), first[5] = {0}, size[5];
    for (uint32_t m = 0; m < machines; m++) {
        size[m] = 2 + random_below(2);
        first[m] = net->place_count;
        for (uint32_t i = 0; i < size[m]; i++)
            (void)pt_net_add_place(net, NULL, i == 0);
    }
    uint32_t transitions = 2 + random_below(12);
    for (uint32_t t = 0; t < transitions; t++) {
        uint32_t pre[5], post[5], n = 0, must = random_below(machines);
        for (uint32_t m = 0; m < machines; m++) {
            if (m != must && random_below(3) != 0)
                continue;
            pre[n] = first[m] + random_below(size[m]);
            post[n] = random_below(2) == 0 ? pre[n] : first[m] + random_below(size[m]);
            n++;
        }
        (void)pt_net_add_transition(net, NULL, pre, n, post, n);
    }
}

/* Anything, often not 1-safe; some transitions take or leave nothing. */
static void make_anything(struct pt_net *net)
{
    uint32_t places = 1 + random_below(8), transitions = 1 + random_below(7);
    for (uint32_t p = 0; p < places; p++)
        (void)pt_net_add_place(net, NULL, random_below(3) == 0);
    for (uint32_t t = 0; t < transitions; t++) {
        uint32_t pre[8], post[8], pre_count = 0, post_count = 0, width = 1 + random_below(4);
        for (uint32_t p = 0; p < places; p++) {
            if (random_below(places) < width)
                pre[pre_count++] = p;
            if (random_below(places) < width)
                post[post_count++] = p;
        }
        if (pre_count > 0)
            (void)pt_net_add_transition(net, NULL, pre, pre_count, post, post_count);
    }
}

static void make_random_net(struct pt_net *net, uint64_t seed)
{
    random_state = seed * 0x9e3779b97f4a7c15ULL + 1;
    pt_net_init(net);
    if (random_below(4) == 0)
        make_anything(net);
    else
        make_machines(net);
    static char name[] = "x";
    for (uint32_t p = 0; p < net->place_count; p++)
        net->places[p].name = name;
}

/* All reachable markings, one bit per place. */
struct states {
    uint64_t items[MOST_STATES];
    uint32_t count;
    bool unsafe, too_many;
};

static uint64_t bits_of(const uint32_t *places, uint32_t count)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < count; i++)
        bits |= (uint64_t)1 << places[i];
    return bits;
}

static bool is_enabled_in(const struct pt_net *net, uint32_t t, uint64_t marking)
{
    uint64_t pre = bits_of(pt_net_pre(net, t), net->transitions[t].pre_count);
    return (marking & pre) == pre;
}

/* The marking after a transition; a second token somewhere is said. */
static uint64_t fire(const struct pt_net *net, uint32_t t, uint64_t marking, bool *unsafe)
{
    uint64_t rest = marking & ~bits_of(pt_net_pre(net, t), net->transitions[t].pre_count);
    uint64_t post = bits_of(pt_net_post(net, t), net->transitions[t].post_count);
    *unsafe |= (rest & post) != 0;
    return rest | post;
}

static uint64_t initial_marking(const struct pt_net *net)
{
    uint64_t marking = 0;
    for (uint32_t p = 0; p < net->place_count; p++)
        marking |= (uint64_t)net->places[p].marked << p;
    return marking;
}

static bool has_state(const struct states *s, uint64_t marking)
{
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->items[i] == marking)
            return true;
    }
    return false;
}

static void explore(const struct pt_net *net, struct states *s)
{
    s->count = 0;
    s->unsafe = s->too_many = false;
    s->items[s->count++] = initial_marking(net);
    for (uint32_t i = 0; i < s->count && !s->unsafe; i++) {
        for (uint32_t t = 0; t < net->transition_count; t++) {
            if (!is_enabled_in(net, t, s->items[i]))
                continue;
            uint64_t next = fire(net, t, s->items[i], &s->unsafe);
            if (!has_state(s, next) && s->count < MOST_STATES)
                s->items[s->count++] = next;
        }
    }
}

__attribute__((unused)) static bool is_dead(const struct pt_net *net, uint64_t marking)
{
    for (uint32_t t = 0; t < net->transition_count; t++) {
        if (is_enabled_in(net, t, marking))
            return false;
    }
    return true;
}

#endif
