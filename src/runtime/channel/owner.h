/*
 * Whose the rings are. A process that was forked, however that was done, has its parent's threads' ends of them: it
 * must not write there. One that shares the memory (vfork) is the same process, as far as its memory goes.
 */
#ifndef PT_RUNTIME_CHANNEL_OWNER_H
#define PT_RUNTIME_CHANNEL_OWNER_H

#include <stdbool.h>
#include <stdint.h>

extern const volatile uint32_t *pt_owner; /* 0 in a process that was forked since: the kernel wipes it */

/* The rings are this process's. */
void pt_owner_start(void);

static inline bool pt_owner_is_other(void)
{
    return __builtin_expect(!*pt_owner, 0);
}

#endif
