/* Sets of places that never have two tokens, from the structure of a net alone (components.c). */
#ifndef PT_NET_COMPONENTS_H
#define PT_NET_COMPONENTS_H

#include "net/net.h"

struct pt_components {
    uint32_t *places; /* of all of them, one after the other */
    uint32_t *ends;   /* where each ends */
    uint32_t place_count, count;
    size_t place_cap, end_cap;
    bool all; /* every place is in one: the net is 1-safe. False says nothing */
};

void pt_net_find_components(const struct pt_net *net, struct pt_components *ret_components);
/* The same, without asking a solver. False: some place is in none, or none was found within the budget, of which there
 * is nothing left then; it takes a step for each arc that is looked at. */
bool pt_net_follow_components(const struct pt_net *net, uint64_t *budget, struct pt_components *ret_components);
void pt_components_release(struct pt_components *components);

#endif
