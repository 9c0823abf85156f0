/* A firing sequence, played on the net itself by the rules of 1-safe nets and nothing else: what is shown has been. */
#ifndef PT_NET_FIRING_H
#define PT_NET_FIRING_H

#include "net/net.h"

/* The marking after the firings, by place, in `ret_marked`; false: one of them cannot fire, or adds a second token. */
bool pt_firing_replay(const struct pt_net *net, const uint32_t *firings, uint32_t count, bool *ret_marked);
/* Whether some transition can fire here. */
bool pt_firing_enables(const struct pt_net *net, const bool *marked);

#endif
