/* A channel for a process that the observer did not start itself: asked for at the rendezvous (core/channel.h). */
#ifndef PT_RUNTIME_CHANNEL_ATTACH_H
#define PT_RUNTIME_CHANNEL_ATTACH_H

#include <stdbool.h>

/* Before main, for the program may change its environment. */
void pt_attach_start(void);
/* Whether there is a rendezvous, and the program's seccomp filter, if any, lets us go there. */
bool pt_attach_is_possible(void);
/* The descriptor of a channel of this process's own; negative: there is no rendezvous, or nobody observes it. */
int pt_attach_request(void);

#endif
