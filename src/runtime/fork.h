/* The child of a fork: it leaves its parent's channel, and gets one of its own as soon as it has something to record.
 */
#ifndef PT_RUNTIME_FORK_H
#define PT_RUNTIME_FORK_H

#include <stddef.h>

/* How long the mapped channel is, for whoever leaves it; 0: it is none of an observer's. */
void pt_fork_start(size_t channel_bytes);
/* From here on forks are seen. The hooks of the other layers are registered. */
void pt_fork_register(void);
/* The process ends. */
void pt_fork_finish(void);

#endif
