/* Work that is done ahead, in a thread of its own where there is a second processor: one after the other, pieces are
 * filled there, and taken here in the same order. */
#ifndef PT_TRACE_AHEAD_H
#define PT_TRACE_AHEAD_H

#include <stdbool.h>

struct pt_ahead;

enum { PT_AHEAD_MOST = 8 }; /* pieces */

/* `fill` gets one of the `count` pieces at a time, in the other thread, and says whether there will be another. NULL:
 * there is one processor, or no thread can be had; then whoever asked goes on by himself. */
struct pt_ahead *pt_ahead_start(bool (*fill)(void *context, void *piece), void *context, void **pieces, unsigned count);
/* Gives back the piece that was taken before, and waits for the next one; NULL: that was the last. */
void *pt_ahead_next(struct pt_ahead *ahead);
/* Ends the thread, after the piece that it is at. */
void pt_ahead_stop(struct pt_ahead *ahead);

#endif
