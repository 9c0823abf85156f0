/* A channel for a process that the observer did not start itself: asked for at the rendezvous (core/channel.h). */
#ifndef PT_RUNTIME_CHANNEL_ATTACH_H
#define PT_RUNTIME_CHANNEL_ATTACH_H

/* The descriptor of a channel of this process's own; negative: there is no rendezvous, or nobody observes it. */
int pt_attach_request(void);

#endif
