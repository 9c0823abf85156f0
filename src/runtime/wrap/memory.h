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
/* Set while the calling thread starts or joins one: what libc frees meanwhile is thread-local memory of threads that
 * have ended, whose stacks it takes or gives back. Nobody was to use it any more, and no order of events is needed for
 * that; so it is forgotten, and is no write. */
extern __thread bool pt_memory_of_the_ended __attribute__((tls_model("initial-exec")));

#endif
