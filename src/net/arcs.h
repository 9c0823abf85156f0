/* Arcs as a file lists them, to be sorted by transition when all are known. */
#ifndef PT_NET_ARCS_H
#define PT_NET_ARCS_H

#include "net/net.h"

struct pt_arc {
    uint32_t transition, place;
    bool out; /* from the transition to the place */
};

struct pt_arcs {
    struct pt_arc *items;
    uint32_t count;
    size_t cap;
};

void pt_arcs_add(struct pt_arcs *arcs, uint32_t transition, uint32_t place, bool out);
void pt_arcs_release(struct pt_arcs *arcs);
/* Gives the net's transitions, which have no arcs yet, theirs. An arc that is there twice, which would make its weight
 * 2, is returned: its number in the order the arcs were added; PT_NONE: all is well. */
uint32_t pt_arcs_finish(struct pt_arcs *arcs, struct pt_net *net);

#endif
