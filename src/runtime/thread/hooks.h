/*
 * What the layers above do in the life of a thread. Registered by start.c, before the first thread is known. `self` is
 * the calling thread, and inside the runtime.
 */
#ifndef PT_RUNTIME_THREAD_HOOKS_H
#define PT_RUNTIME_THREAD_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/site.h"

struct pt_thread;

/* Written as a whole: who uses it races with that. And: what comes to stand there next has new names. */
enum pt_memory_end { PT_MEMORY_WRITTEN = 1, PT_MEMORY_FORGOTTEN = 2 };

struct pt_thread_hooks {
    /* A thread is about to be known, before its first event: how it is recorded (`shadow.full`) is decided here.
     * `foreign`: it was made behind our back. */
    void (*meet)(struct pt_thread *self, bool foreign);
    /* It is known, and runs. */
    void (*begun)(struct pt_thread *self, bool foreign);
    /* `child` was made and does not run yet; the caller is its parent. Or it was not started after all. */
    void (*forked)(struct pt_thread *self, struct pt_thread *child, const struct pt_site *site);
    void (*not_forked)(struct pt_thread *self, struct pt_thread *child);
    /* It has a name that the program gave it. */
    void (*named)(struct pt_thread *self, struct pt_thread *thread, const char *name);
    /* It has ended, and its clock was taken. */
    void (*joined)(struct pt_thread *self, struct pt_thread *thread, const struct pt_site *site);
    /* The variables in [from, to) end, by whatever thread: enum pt_memory_end, or-ed. Only while threads are recorded
     * in full. */
    void (*freed)(struct pt_thread *self, uintptr_t from, uintptr_t to, unsigned ends);
    /* Memory that nobody else has begins; only while that is recorded. */
    void (*allocated)(struct pt_thread *self, uintptr_t from, size_t size, const struct pt_site *site);
    /* The calling thread ends, outside of the runtime, and has what it has not unlocked. */
    void (*leaves)(void);
    /* Its last event is made: what it finds is reported, its signals are handled after this. */
    void (*ending)(struct pt_thread *self);
    /* Nothing more happens in it; signals are blocked. */
    void (*ended)(struct pt_thread *self);
    /* It is the last one: it does not end, but runs the functions of atexit, when this has returned if not in it. */
    void (*last)(void);
    /* Nobody will ask for `thread` any more: what the layers above keep of it goes. */
    void (*released)(struct pt_thread *self, struct pt_thread *thread);
    /* PT_ATTEND_VIOLATION was set, and the thread has left the runtime. */
    void (*violated)(struct pt_thread *self);
};

extern struct pt_thread_hooks pt_thread_hooks;

#endif
