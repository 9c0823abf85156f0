/* The inside of the layer. One lock is for all that threads share. */
#ifndef PT_RUNTIME_DEADLOCK_IMPL_H
#define PT_RUNTIME_DEADLOCK_IMPL_H

#include "core/found.h"
#include "deadlock/lock_order.h"
#include "deadlock/patterns.h"
#include "runtime/deadlock/deadlock.h"
#include "runtime/sys/spin.h"

enum {
    PT_DEADLOCK_FRAMES = 24, /* calls that are kept of a nest */
    PT_DEADLOCK_MOMENTS = 4, /* of an acquire: its first three, and the latest */
};

struct pt_deadlocks {
    struct pt_spin lock;
    struct pt_thread *user; /* who has locked it, for its memory */
    struct pt_race_memory memory;
    struct pt_patterns patterns;
    struct pt_lock_order order; /* of the locks, while there is one */
    bool full; /* there is no memory for more, or there are too many acquires: none are predicted any more */
    struct pt_thread *waiting;            /* those that wait */
    uint32_t waiting_count, ends_awaited; /* how many; of these for the end of a thread */
    uint64_t searches;
};
extern struct pt_deadlocks pt_deadlocks;

/* Who a thread was: stays when it has ended, since what it did can still be part of a pattern. */
struct pt_deadlock_who {
    uint64_t number; /* from 1 */
    char name[16];
    const struct pt_site *created[PT_CREATED_FRAMES];
};

/* What is known of an acquire (deadlock/patterns.h) beside its locks. */
struct pt_nest {
    struct pt_deadlock_who *who;
    struct pt_hb_stamp moments[PT_DEADLOCK_MOMENTS];
    uint32_t moment_count;
    uint32_t kind;                                   /* enum pt_event_kind */
    const struct pt_site *sites[PT_DEADLOCK_FRAMES]; /* the acquisition and the calls it is in, up to NULL */
    uint32_t lock_count;                             /* at most PT_FOUND_LOCKS */
    struct pt_found_lock locks[];                    /* that were held */
};

static inline void pt_deadlock_lock(struct pt_thread *self)
{
    pt_spin_lock(&pt_deadlocks.lock);
    pt_deadlocks.user = self;
}
static inline void pt_deadlock_unlock(void)
{
    pt_spin_unlock(&pt_deadlocks.lock);
}

/* Memory of the layer's, under its lock; never NULL, but `full` is set when it was the last. */
void *pt_deadlock_take(void *context, size_t bytes);
void pt_deadlock_give(void *context, void *memory, size_t bytes);

/* The site and the calls around it, innermost first, up to NULL. */
void pt_deadlock_calls(const struct pt_site *site, const struct pt_site **sites, uint32_t room);
struct pt_deadlock_who *pt_deadlock_who(struct pt_thread *thread);

/* The thread does not wait any more, if it did. */
void pt_deadlock_unwait(struct pt_thread *self);

/* Outside of the lock. A pattern, as the search has found it. */
void pt_deadlock_predicted(struct pt_thread *self, struct pt_acquire *const *cycle, uint32_t count);
/* These threads wait for each other, each for the next; or, with a note, for what nobody does any more. Does not return
 * unless on_deadlock=wait, or it is suppressed. */
void pt_deadlock_observed(struct pt_thread *self, struct pt_thread *const *threads, uint32_t count, const char *note);
/* Every thread may be waiting: looks whether it is certain, and reports it. `self` is about to wait, or to end. */
void pt_deadlock_stuck(struct pt_thread *self, bool ends);
/* What the waiting thread needs of `other` before it can go on: something that `other` has, or its end. */
bool pt_deadlock_needs(const struct pt_thread *waiting, const struct pt_thread *other);
/* It is the thread's own and checks errors: locking it again does not wait, but is answered with EDEADLK. */
bool pt_deadlock_is_answered(const void *mutex, const struct pt_thread *thread);

#endif
