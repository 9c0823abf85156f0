/*
 * An order of locks in which every one that was taken while another was held comes after that one, as long as there is
 * such an order. While there is, no nest of locks can be part of a deadlock, and nobody needs to search.
 */
#ifndef PT_DEADLOCK_LOCK_ORDER_H
#define PT_DEADLOCK_LOCK_ORDER_H

#include "race/vec.h"

struct pt_order_lock;
struct pt_order_edge;

struct pt_lock_order {
    const struct pt_race_memory *memory;
    struct pt_order_lock **places; /* the locks, in the order */
    struct pt_order_lock **locks;  /* by a hash of their address, each with a list */
    struct pt_order_edge **edges;  /* by a hash of both locks */
    uint32_t count, cap, edge_count;
    uint32_t mark;
    bool broken; /* there is no order, or too much for one */
};

void pt_lock_order_begin(struct pt_lock_order *order, const struct pt_race_memory *memory);
void pt_lock_order_end(struct pt_lock_order *order);
/* A lock is taken while another one is held. True: all nests so far agree with an order. */
bool pt_lock_order_add(struct pt_lock_order *order, uintptr_t held, uintptr_t taken);

#endif
