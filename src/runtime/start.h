/* The steps of the beginning that the child of a fork takes again (fork.c). */
#ifndef PT_RUNTIME_START_H
#define PT_RUNTIME_START_H

#include <stdbool.h>
#include <stddef.h>

#include "core/channel.h"

/* Maps it and closes the descriptor. NULL: it is no channel, or another process has it. */
struct pt_channel *pt_start_take_channel(int fd, size_t *ret_bytes);
/* A channel without rings, for a process that nobody observes. */
struct pt_channel *pt_start_stand_in(void);
/* The options that the observer has given. */
const char *pt_start_options(void);
/* The calling thread becomes the first, and whatever the configuration names is recorded from here on. All tables are
 * there and empty. */
void pt_start_recording(bool streams);
/* The last chance to see what code that is not instrumented has written. */
void pt_start_compare(void);
/* The last chance to say how often something was found. */
void pt_start_finish_found(void);

#endif
