/* What is kept of a thread while deadlocks are looked for. It lies beside the thread, and is all zero when it begins.
 */
#ifndef PT_RUNTIME_DEADLOCK_SELF_H
#define PT_RUNTIME_DEADLOCK_SELF_H

#include "race/hb.h"
#include "runtime/thread/thread.h"
#include "runtime/wrap/hooks.h"

enum {
    PT_HELD = 64,          /* locks that a thread has at a time; what is beyond is counted */
    PT_HELD_KNOWN = 128,   /* nests that it remembers to have looked at */
    PT_CREATED_FRAMES = 8, /* calls in which it was created */
};

struct pt_held {
    uintptr_t lock;
    const struct pt_site *site; /* where it was taken; NULL: not known */
    uint32_t depth;             /* how often, of recursive ones */
    bool shared;
};

struct pt_deadlock_self {
    /* The thread's own; others read it under the lock of the layer while it waits. */
    struct pt_held held[PT_HELD];
    uint32_t held_count, beyond; /* `beyond`: so many more that are not listed */
    uint64_t held_hash;          /* of those that are listed, in any order */
    struct pt_held_known {
        uint64_t nest;
        uint64_t segment;
    } known[PT_HELD_KNOWN];

    /* Under the lock of the layer. */
    struct pt_hb_thread clock; /* forks, joins and all synchronisation but locks */
    bool begun;
    uint64_t segment; /* grows when the clock has changed; from 1 */
    struct pt_deadlock_who *who;
    const struct pt_site *created[PT_CREATED_FRAMES]; /* innermost first, up to NULL */

    bool waits, looks; /* it is among those that wait; it looks whether all do (stuck.c) */
    struct pt_wait wait;
    uint64_t waits_count;                /* how often it has waited, and stopped waiting */
    const struct pt_site *waits_in[64];  /* the calls it is in, innermost first, up to NULL */
    struct pt_thread *next, *previous;   /* among those that wait */
    uint64_t looked;                     /* the search that has come here, ... */
    struct pt_thread *from, *to_look_at; /* ... from where, and what it has still to look at */
};

#endif
