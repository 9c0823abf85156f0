/*
 * What the runtime knows of a thread: what its accesses need (shadow/self.h), its life from creation to join, and the
 * parts that the layers above keep of it.
 */
#ifndef PT_RUNTIME_THREAD_THREAD_H
#define PT_RUNTIME_THREAD_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/channel.h"
#include "core/site.h"
#include "runtime/shadow/self.h"
#include "runtime/thread/hooks.h"

enum { PT_WRITE_LOCKS = 32 };

enum pt_thread_state { PT_THREAD_STARTING, PT_THREAD_RUNNING, PT_THREAD_ENDED };

/* What a thread does, as far as the wrappers can tell it apart; the stream has names for it (stream/name.c). */
enum pt_thread_activity {
    PT_STATE_RUNNING,
    PT_STATE_READY,
    PT_STATE_LOCK, /* blocked, and what on */
    PT_STATE_CONDITION,
    PT_STATE_BARRIER,
    PT_STATE_SEMAPHORE,
    PT_STATE_JOIN,
    PT_STATE_SLEEP,
    PT_STATE_COUNT
};

/* The parts of the layers above. All but the last lie beside the thread, and are cleared with it; that one is claimed
 * when it is first needed. */
struct pt_channel_self;
struct pt_local_self;
struct pt_deadlock_self;
struct pt_record_self;
struct pt_stream;

struct pt_thread {
    struct pt_shadow_self shadow; /* first: the pointer to one is the pointer to the other */

    /* its life */
    _Atomic uint32_t state;    /* enum pt_thread_state */
    _Atomic uint32_t releases; /* by its creation, its own end, and by join or detach: the third one frees the slot */
    _Atomic bool detached;     /* or joined: nobody may ask for it by its handle any more */
    uint32_t parent;           /* its number */
    uint32_t tid;              /* in the kernel */
    pthread_t handle;
    bool listed, claimed; /* it is found by its handle; somebody is joining it */
    void *(*start)(void *);
    int (*start_c11)(void *);
    void *argument;
    uint64_t runs;     /* what it is named after: its start function, or the callable of a std::thread */
    const char *named; /* its name, which lives for ever: `worker`, ... */
    uint32_t ordinal;  /* ... of the so many-th thread of that name; 0: no decentralised property wants to know */
    char label[16];    /* set with pthread_setname_np, or "" */
    size_t stack_size; /* at most */
    bool stack_given;  /* it is memory of the program's own */
    uint32_t explored; /* 1 + its slot where threads are scheduled (runtime/explore); 0: none */
    bool ordered;      /* nobody was seen to start it, but what it takes first says what comes before it */
    int destructor_rounds;
    struct pt_thread *next; /* in its bucket, or in the free list */

    /* what it does and what it waits for (an address, or the number of a thread), for snapshots of the stream */
    _Atomic uint32_t activity; /* enum pt_thread_activity */
    _Atomic uint64_t waits_for;
    _Atomic uint64_t *skipped; /* where the stream counts events that it does not take; NULL: nowhere yet */

    const void *write_locked[PT_WRITE_LOCKS]; /* rwlocks it holds as a writer */
    uint32_t write_locks;                     /* how many, at most that many */
    uint64_t signal_mask; /* what it has blocked itself: while a signal is deferred, and until it has begun */

    struct pt_channel_self *channel;
    struct pt_local_self *local;
    struct pt_deadlock_self *deadlock; /* of no bytes where deadlocks are not looked for */
    struct pt_record_self *record;     /* of no bytes where nothing is recorded into a file */
    struct pt_stream *stream;
};

/* The sizes of the parts beside a thread. */
struct pt_thread_parts {
    size_t channel, local, deadlock, record;
};
bool pt_thread_start(struct pt_thread_parts parts);

static inline struct pt_thread *pt_thread_of(struct pt_shadow_self *self)
{
    return (struct pt_thread *)self;
}
/* The calling thread; NULL: not known yet, or not any more. */
static inline struct pt_thread *pt_thread_now(void)
{
    return pt_thread_of(pt_self);
}
/* The calling thread, made known if it is not yet; NULL when it has ended or nobody observes. */
static inline struct pt_thread *pt_thread_self(void)
{
    return pt_thread_of(pt_shadow_caller());
}
static inline void pt_thread_enter(struct pt_thread *self)
{
    pt_enter(&self->shadow);
}
static inline void pt_thread_leave(struct pt_thread *self)
{
    pt_leave(&self->shadow);
}
static inline struct pt_pool_cache *pt_thread_pool(struct pt_thread *self)
{
    return &self->shadow.clock.pool;
}
/* The lower end of the calling thread's stack, if its size is known; no lower than it is: its record, of less than a
 * page, is a part of it, and lies at the upper end. */
uintptr_t pt_thread_stack_low(const struct pt_thread *self);
static inline uint32_t pt_thread_number(const struct pt_thread *thread)
{
    return thread->shadow.clock.number;
}

/* For pt_shadow_hooks. A thread that was made behind our back is met; on leaving with `attention`: deferred handlers
 * and violations (signal.c). */
struct pt_shadow_self *pt_thread_introduce(void);
struct pt_shadow_self *pt_thread_introduce_at(uintptr_t address, size_t size, bool write);
/* The same in a thread that knows what comes before it, and takes that from an object at once. Nobody joins it. */
void pt_thread_introduce_ordered(void);
void pt_thread_attend(struct pt_shadow_self *self);

/* A child of the caller, not yet running; NULL when there is no more room. */
struct pt_thread *pt_thread_new(struct pt_thread *parent);
/* It has its parent's clock of now, not of its making. */
void pt_thread_inherit(struct pt_thread *child, struct pt_thread *parent);
void pt_thread_discard(struct pt_thread *thread);
/* In the child, before the program's function. */
void pt_thread_begin(struct pt_thread *self);
/* Its creation has returned; the handle is looked at only if the child has not begun. */
void pt_thread_created(struct pt_thread *thread, const pthread_t *handle);
/* The newest one with this handle. */
struct pt_thread *pt_thread_find(pthread_t handle);
/* The same for somebody who is about to join it, and is then the only one to find it so: the handle may be another
 * thread's as soon as it is joined. `foreign`: one that was made behind our back. */
struct pt_thread *pt_thread_claim(pthread_t handle, bool foreign);
void pt_thread_unclaim(struct pt_thread *thread);
/* Every thread that has been created and has not ended. The caller does nothing that takes long: threads may wait for
 * it. */
void pt_thread_each_shadow(void (*visit)(struct pt_shadow_self *self)); /* for shadow/hooks.h */
void pt_thread_each(void (*visit)(void *context, const struct pt_thread *thread), void *context);
/* How many there are: made, and not ended. */
uint32_t pt_thread_live(void);
/* Whether there are others that have not ended. */
bool pt_thread_has_others(void);
/* Gives it a name of its own. */
void pt_thread_label(struct pt_thread *thread, const char *name);
/* The thread's last clock goes to self, and the thread is forgotten. */
void pt_thread_joined(struct pt_thread *self, struct pt_thread *thread, const struct pt_site *site);
void pt_thread_detached(struct pt_thread *thread);

/* Nothing of the calling thread is recorded from here on: the child of a fork, or a thread of the runtime's own. */
void pt_thread_forget(void);
/* In a child that begins anew: nobody is known, and the caller, who was forgotten before, may be the first. */
void pt_thread_restart(void);
/* A robust mutex lost its owner: whatever ended threads did comes before. */
void pt_thread_after_ended(void);

#endif
