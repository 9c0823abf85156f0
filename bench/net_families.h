/*
 * Families of 1-safe nets, by their number of parts: the shapes that unfolders are usually measured on. They are
 * written from what they model, and are not the files of anybody's collection.
 */
#ifndef BENCH_NET_FAMILIES_H
#define BENCH_NET_FAMILIES_H

#include <string.h>

#include "net/net.h"

enum net_family {
    NET_PHILOSOPHERS, /* n of them, each takes its left fork, then its right one: can deadlock */
    NET_RING,         /* slotted ring: n nodes pass a slot on, that is free or carries a message */
    NET_READERS,      /* n threads that read a record again and again, two that write it */
    NET_COUNTER,      /* n bits: 2^n events in one chain */
    NET_PIPELINE,     /* n stages with a buffer between each two, the first and the last with two kinds of items */
    NET_KEY,          /* n clients that look at one key's state before they act, and one that turns it */
    NET_DME,          /* n users, each with a cell; requests go round a ring one way, the token the other */
    NET_FAMILIES
};

static const char *const net_family_names[NET_FAMILIES] = {"philosophers", "ring", "readers", "counter",
                                                           "pipeline",     "key",  "dme"};

/* Adds a transition; places end with PT_NONE. */
static inline void net_arc(struct pt_net *net, const uint32_t *pre, const uint32_t *post)
{
    uint32_t a = 0, b = 0;
    while (pre[a] != PT_NONE)
        a++;
    while (post[b] != PT_NONE)
        b++;
    (void)pt_net_add_transition(net, NULL, pre, a, post, b);
}

#define NET_T(net, pre, post) net_arc(net, (uint32_t[]){NET_LIST pre, PT_NONE}, (uint32_t[]){NET_LIST post, PT_NONE})
#define NET_LIST(...)         __VA_ARGS__

static inline uint32_t net_places(struct pt_net *net, uint32_t count, uint32_t marked)
{
    uint32_t first = pt_net_add_places(net, count);
    if (marked < count)
        net->places[first + marked].marked = true;
    return first;
}

static inline void net_philosophers(struct pt_net *net, uint32_t n)
{
    uint32_t forks = pt_net_add_places(net, n);
    for (uint32_t i = 0; i < n; i++)
        net->places[forks + i].marked = true;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t left = forks + i, right = forks + (i + 1) % n, p = net_places(net, 4, 0);
        NET_T(net, (p, left), (p + 1));
        NET_T(net, (p + 1, right), (p + 2));
        NET_T(net, (p + 2), (p + 3, left));
        NET_T(net, (p + 3), (p, right));
    }
}

static inline void net_ring(struct pt_net *net, uint32_t n)
{
    /* Of node i: [0] no slot here, [1] a free one, [2] one with a message; [3] nothing to send, [4] something. */
    uint32_t first = pt_net_add_places(net, 5 * n);
    for (uint32_t i = 0; i < n; i++) {
        net->places[first + 5 * i + (i % 2 == 0 ? 1 : 0)].marked = true;
        net->places[first + 5 * i + 3].marked = true;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t p = first + 5 * i, q = first + 5 * ((i + 1) % n);
        NET_T(net, (p + 1, q), (p, q + 1));
        NET_T(net, (p + 2, q), (p, q + 2));
        NET_T(net, (p + 3), (p + 4));
        NET_T(net, (p + 4, p + 1), (p + 3, p + 2));
        NET_T(net, (p + 2, p + 3), (p + 1, p + 3));
    }
}

static inline void net_readers(struct pt_net *net, uint32_t n)
{
    uint32_t record = net_places(net, 2, 0);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t p = net_places(net, 3, 0);
        NET_T(net, (p, record), (p + 1, record));
        NET_T(net, (p + 1), (p + 2));
        NET_T(net, (p + 2, record + 1), (p, record + 1));
    }
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t p = net_places(net, 2, 0);
        NET_T(net, (p, record), (p + 1, record + 1));
        NET_T(net, (p + 1, record + 1), (p, record));
    }
}

static inline void net_counter(struct pt_net *net, uint32_t n)
{
    uint32_t zero = pt_net_add_places(net, n), one = pt_net_add_places(net, n);
    uint32_t pre[64], post[64];
    for (uint32_t i = 0; i < n; i++) {
        net->places[zero + i].marked = true;
        pre[i] = zero + i;
        post[i] = one + i;
        (void)pt_net_add_transition(net, NULL, pre, i + 1, post, i + 1);
        pre[i] = one + i;
        post[i] = zero + i;
    }
}

static inline void net_pipeline(struct pt_net *net, uint32_t n)
{
    /* Each buffer: [0] empty, [1] and [2] an item of either kind. */
    uint32_t first = pt_net_add_places(net, 3 * n);
    for (uint32_t i = 0; i < n; i++)
        net->places[first + 3 * i].marked = true;
    for (uint32_t i = 0; i + 1 < n; i++) {
        uint32_t p = first + 3 * i, q = p + 3;
        NET_T(net, (p + 1, q), (p, q + 1));
        NET_T(net, (p + 2, q), (p, q + 2));
    }
    uint32_t last = first + 3 * (n - 1);
    NET_T(net, (first), (first + 1));
    NET_T(net, (first), (first + 2));
    NET_T(net, (last + 1), (last));
    NET_T(net, (last + 2), (last));
}

static inline void net_key(struct pt_net *net, uint32_t n)
{
    uint32_t key = net_places(net, 2, 0), hand = net_places(net, 2, 0);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t p = net_places(net, 4, 0);
        NET_T(net, (p, key), (p + 1, key));
        NET_T(net, (p, key + 1), (p + 2, key + 1));
        NET_T(net, (p + 1), (p + 3));
        NET_T(net, (p + 2), (p + 3));
    }
    NET_T(net, (hand, key), (hand + 1, key + 1));
    NET_T(net, (hand + 1, key + 1), (hand, key));
}

static inline void net_dme(struct pt_net *net, uint32_t n)
{
    /* User: [0] idle, [1] asks, [2] has asked, [3] inside. Cell: [4] no token, [5] token, [6] lent it to its user.
     * From the left: [7] no request, [8] one, [9] one that was handed on to the right. Tokens go to the left. */
    uint32_t first = pt_net_add_places(net, 10 * n);
    for (uint32_t i = 0; i < n; i++) {
        net->places[first + 10 * i].marked = true;
        net->places[first + 10 * i + (i == 0 ? 5 : 4)].marked = true;
        net->places[first + 10 * i + 7].marked = true;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t p = first + 10 * i, left = first + 10 * ((i + n - 1) % n), right = first + 10 * ((i + 1) % n);
        NET_T(net, (p), (p + 1));
        NET_T(net, (p + 1, right + 7, p + 4), (p + 2, right + 8, p + 4));
        NET_T(net, (p + 8, right + 7, p + 4), (p + 9, right + 8, p + 4));
        NET_T(net, (p + 8, p + 5, left + 4), (p + 7, p + 4, left + 5));
        NET_T(net, (p + 9, p + 5, left + 4), (p + 7, p + 4, left + 5));
        NET_T(net, (p + 1, p + 5), (p + 3, p + 6));
        NET_T(net, (p + 2, p + 5), (p + 3, p + 6));
        NET_T(net, (p + 3, p + 6), (p, p + 5));
    }
}

static inline void net_make(enum net_family family, uint32_t n, struct pt_net *net)
{
    static void (*const makers[NET_FAMILIES])(struct pt_net *, uint32_t) = {
        net_philosophers, net_ring, net_readers, net_counter, net_pipeline, net_key, net_dme};
    pt_net_init(net);
    makers[family](net, n);
}

#endif
