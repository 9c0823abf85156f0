/* What the wrappers around memory share. */
#ifndef PT_RUNTIME_WRAP_MEMORY_H
#define PT_RUNTIME_WRAP_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/thread/thread.h"

/* The calling thread, outside of the runtime, while there is something to record; else NULL. */
struct pt_thread *pt_memory_recorder(void);
/* The variables in that memory end. With `keep` the calling thread has read them. True if other threads could be
 * concerned: something was known of it. */
bool pt_memory_forget(const void *memory, size_t size, bool keep);
/* The calling thread has written all of it. */
void pt_memory_written(const void *memory, size_t size);

#endif
