/*
 * A topological order that grows with the graph (Pearce, Kelly: A dynamic topological sort algorithm for directed
 * acyclic graphs, JEA 2007). A new edge that agrees with the order costs a look-up. One that does not moves the locks
 * between its ends: those from which its first end can be reached come before those that can be reached from its
 * second.
 *
 * Guarantee: `true` is said only while no circle of locks goes through any edge. After the first circle, or when there
 * are LOCKS_MAX locks or EDGES_MAX edges, it is never said again. Cost: of an edge that is new and does not agree, the
 * edges of the locks between its ends; memory, 48 bytes for each edge.
 */
#include "deadlock/lock_order.h"

#include <string.h>

#include "core/hash.h"

enum { LOCKS_MAX = 1 << 14, EDGES_MAX = 1 << 18, LOCK_BUCKETS = 1 << 10, EDGE_BUCKETS = 1 << 14, FIRST = 64 };
enum { BEFORE = 1, AFTER = 2 };

struct pt_order_edge {
    struct pt_order_lock *from, *to;
    struct pt_order_edge *next, *next_out, *next_in; /* with the same hash; of the same lock */
};
struct pt_order_lock {
    uintptr_t address;
    uint32_t at; /* its place in the order */
    uint32_t mark, side;
    struct pt_order_lock *next, *queue;
    struct pt_order_edge *out, *in;
};

void pt_lock_order_begin(struct pt_lock_order *order, const struct pt_race_memory *memory)
{
    *order = (struct pt_lock_order){.memory = memory};
}

static void *take(const struct pt_lock_order *order, size_t bytes)
{
    void *memory = order->memory->take(order->memory->context, bytes);
    memset(memory, 0, bytes);
    return memory;
}

static void give(const struct pt_lock_order *order, void *memory, size_t bytes)
{
    if (memory)
        order->memory->give(order->memory->context, memory, bytes);
}

void pt_lock_order_end(struct pt_lock_order *order)
{
    for (uint32_t i = 0; i < order->count; i++) {
        for (struct pt_order_edge *edge = order->places[i]->out, *next; edge; edge = next) {
            next = edge->next_out;
            give(order, edge, sizeof *edge);
        }
        give(order, order->places[i], sizeof **order->places);
    }
    give(order, order->places, order->cap * sizeof *order->places);
    give(order, order->locks, order->locks ? LOCK_BUCKETS * sizeof *order->locks : 0);
    give(order, order->edges, order->edges ? EDGE_BUCKETS * sizeof *order->edges : 0);
    pt_lock_order_begin(order, order->memory);
}

/* At the end of the order: nothing is known of it yet. */
static struct pt_order_lock *lock_of(struct pt_lock_order *order, uintptr_t address)
{
    if (!order->locks)
        order->locks = take(order, LOCK_BUCKETS * sizeof *order->locks);
    struct pt_order_lock **bucket = &order->locks[pt_mix64(address) % LOCK_BUCKETS], *lock = *bucket;
    while (lock && lock->address != address)
        lock = lock->next;
    if (lock || order->count == LOCKS_MAX)
        return lock;
    if (order->count == order->cap) {
        uint32_t cap = order->cap ? 2 * order->cap : FIRST;
        struct pt_order_lock **places = take(order, cap * sizeof *places);
        if (order->count)
            memcpy(places, order->places, order->count * sizeof *places);
        give(order, order->places, order->cap * sizeof *places);
        order->places = places;
        order->cap = cap;
    }
    lock = take(order, sizeof *lock);
    *lock = (struct pt_order_lock){.address = address, .at = order->count, .next = *bucket};
    order->places[order->count++] = lock;
    return *bucket = lock;
}

/* True: it was there. */
static bool add_edge(struct pt_lock_order *order, struct pt_order_lock *from, struct pt_order_lock *to)
{
    if (!order->edges)
        order->edges = take(order, EDGE_BUCKETS * sizeof *order->edges);
    struct pt_order_edge **bucket = &order->edges[pt_mix64(pt_mix64(from->address) + to->address) % EDGE_BUCKETS],
                         *edge = *bucket;
    while (edge && (edge->from != from || edge->to != to))
        edge = edge->next;
    if (edge)
        return true;
    edge = take(order, sizeof *edge);
    *edge = (struct pt_order_edge){from, to, *bucket, from->out, to->in};
    from->out = to->in = *bucket = edge;
    order->edge_count++;
    return false;
}

/* Marks what can be reached from a lock and comes no later than `last`, or what can reach it and comes no earlier.
 * False: it has come to `end`. */
static bool reach(struct pt_lock_order *order, struct pt_order_lock *start, uint32_t side, uint32_t last,
                  const struct pt_order_lock *end)
{
    struct pt_order_lock *queue = start;
    start->mark = order->mark;
    start->side = side;
    start->queue = NULL;
    while (queue) {
        struct pt_order_lock *lock = queue;
        queue = lock->queue;
        for (struct pt_order_edge *edge = side == AFTER ? lock->out : lock->in; edge;
             edge = side == AFTER ? edge->next_out : edge->next_in) {
            struct pt_order_lock *other = side == AFTER ? edge->to : edge->from;
            if (other == end)
                return false;
            if (other->mark == order->mark || (side == AFTER ? other->at > last : other->at < last))
                continue;
            other->mark = order->mark;
            other->side = side;
            other->queue = queue;
            queue = other;
        }
    }
    return true;
}

/* What is marked between these places: first what comes before the edge, then what comes after it. */
static void rearrange(const struct pt_lock_order *order, uint32_t low, uint32_t high)
{
    struct pt_order_lock *first[2] = {NULL}, **last[2] = {&first[0], &first[1]};
    for (uint32_t i = low; i <= high; i++) {
        struct pt_order_lock *lock = order->places[i];
        if (lock->mark != order->mark)
            continue;
        *last[lock->side == AFTER] = lock;
        last[lock->side == AFTER] = &lock->queue;
        order->places[i] = NULL;
    }
    *last[0] = first[1];
    *last[1] = NULL;
    for (struct pt_order_lock *lock = first[0]; lock; lock = lock->queue) {
        while (order->places[low])
            low++;
        order->places[low] = lock;
        lock->at = low;
    }
}

bool pt_lock_order_add(struct pt_lock_order *order, uintptr_t held, uintptr_t taken)
{
    if (order->broken)
        return false;
    struct pt_order_lock *from = lock_of(order, held), *to = lock_of(order, taken);
    if (!from || !to || from == to || order->edge_count == EDGES_MAX) {
        order->broken = true;
        return false;
    }
    if (add_edge(order, from, to) || from->at < to->at)
        return true;
    order->mark++;
    uint32_t low = to->at, high = from->at;
    if (!reach(order, to, AFTER, high, from)) {
        order->broken = true;
        return false;
    }
    reach(order, from, BEFORE, low, NULL);
    rearrange(order, low, high);
    return true;
}
