/* That a net has no deadlock, from its structure alone (traps.c). */
#ifndef PT_NET_TRAPS_H
#define PT_NET_TRAPS_H

#include "net/components.h"

/*
 * True: no marking that the net can reach is dead and has a token on one of `places` (NULL: any), as so many traps
 * show. False says nothing.
 */
bool pt_net_traps_exclude_deadlock(const struct pt_net *net, const struct pt_components *components,
                                   const uint32_t *places, uint32_t place_count, uint32_t *ret_traps);

#endif
