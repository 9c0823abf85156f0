/*
 * What the layers above do at the calls that this one stands in front of, and the flags that say whether somebody wants
 * it. Registered by start.c. Where nobody does, each of these functions costs a load and a branch.
 */
#ifndef PT_RUNTIME_WRAP_HOOKS_H
#define PT_RUNTIME_WRAP_HOOKS_H

#include <stdatomic.h>
#include <stdint.h>

#include "core/gate.h"
#include "runtime/shadow/slow.h"
#include "runtime/sys/sys.h"
#include "runtime/thread/thread.h"

/* What a thread is about to wait for, as long as it takes. NONE: it does not, or only for a time. */
enum pt_wait_kind {
    PT_WAIT_NONE,
    PT_WAIT_MUTEX, /* pthread_mutex_t or mtx_t */
    PT_WAIT_SPIN,
    PT_WAIT_READ, /* a pthread_rwlock_t, as one of its readers */
    PT_WAIT_WRITE,
    PT_WAIT_CONDITION,       /* to be signalled, and then for the mutex */
    PT_WAIT_CONDITION_TIMED, /* the same, or for a time, and then for the mutex */
    PT_WAIT_SEMAPHORE,
    PT_WAIT_BARRIER,
    PT_WAIT_END, /* of a thread */
};
struct pt_wait {
    enum pt_wait_kind kind;
    const void *object;
    const void *mutex;        /* of a condition */
    struct pt_thread *thread; /* whose end it is; NULL: one that is not known */
    const struct pt_site *site;
};

struct pt_wrap_hooks {
    /* These four are called outside of the runtime, in a thread that may not be known. While somebody listens to the
     * event stream: an operation on a synchronisation object, of the kinds that pt_slow_sync takes; what the calling
     * thread does from here on, and what it waits for; and that a lock is another's, `owner` that thread's id in the
     * kernel or 0, and the caller blocks now. */
    void (*synced)(const void *object, int kind);
    void (*active)(enum pt_thread_activity activity, uint64_t object);
    void (*contended)(const void *lock, uint32_t owner);
    /* While threads are gated. Around a call that may block: what for, and PT_GATE_RUNS after it. May wait. The site is
     * that of a lock; it may be NULL. */
    void (*blocks)(const void *object, enum pt_gate_doing doing, const struct pt_site *site);
    /* While threads are gated. A block of the heap is about to be freed. May wait. */
    void (*frees)(const void *memory, size_t size);
    /* While threads are gated. An assertion of the program has failed, which now ends. */
    void (*fails)(const char *assertion, const char *file, unsigned line);
    /* While deadlocks are looked for. An operation on a synchronisation object, as in `synced`, where it stands, and
     * whether the thread would have waited as long as it took. Before and after a call that does wait. */
    void (*locked)(const void *object, int kind, const struct pt_site *site, bool waits);
    void (*waits)(const struct pt_wait *wait);
    void (*waited)(void);
    /* In the child of a fork that pthread_atfork does not see; and before a process ends without destructors. */
    void (*forked)(void);
    void (*exits)(int status);
    /* A library was loaded; `self` is outside of the runtime. */
    void (*opened)(struct pt_thread *self);
    /* A synchronisation object that is not a variable of the program is called so; `self` is outside of the runtime. */
    void (*named)(struct pt_thread *self, const void *object, const char *name);
};
extern struct pt_wrap_hooks pt_wrap_hooks;

enum pt_streaming {
    PT_STREAM_OFF,   /* nobody is connected */
    PT_STREAM_ON,    /* events go into the buffers */
    PT_STREAM_COUNT, /* every reader's queue is full: events are counted */
};
extern _Atomic uint32_t pt_streaming; /* enum pt_streaming; written by the stream's sender only */
extern bool pt_wrap_looks;            /* for deadlocks */

/* Nobody observes this process, and nothing is looked for in it: the call is all there is to do. */
static inline bool pt_wrap_is_idle(void)
{
    return __builtin_expect(!pt_channel && !atomic_load_explicit(&pt_active, memory_order_relaxed), 1);
}

static inline uint32_t pt_wrap_streaming(void)
{
    return __builtin_expect(atomic_load_explicit(&pt_streaming, memory_order_relaxed), PT_STREAM_OFF);
}

/* While every queue is full an event is counted and nothing else is done, so a reader that has stopped costs the
 * program next to nothing. */
static inline void pt_wrap_synced(const void *object, int kind)
{
    uint32_t mode = pt_wrap_streaming();
    struct pt_thread *self = mode == PT_STREAM_COUNT ? pt_thread_now() : NULL;
    if (self && self->skipped && !self->shadow.busy)
        atomic_store_explicit(self->skipped, atomic_load_explicit(self->skipped, memory_order_relaxed) + 1,
                              memory_order_relaxed);
    else if (mode)
        pt_wrap_hooks.synced(object, kind);
}

/* In a gap of sampling (race/window.h) most synchronisation is only counted. */
static inline bool pt_wrap_skips(int order, const struct pt_site *site)
{
    struct pt_thread *self = pt_thread_now();
    bool gives = order == PT_KIND_REL || order == PT_KIND_RREL || order == PT_KIND_NOTIFY;
    return atomic_load_explicit(&pt_active, memory_order_relaxed) == PT_ACTIVE_CHOOSES && self && self->shadow.race &&
           !self->shadow.busy && !pt_shadow_gated && pt_race_window_skips(self->shadow.race, !gives, site);
}

/* Something has happened to a synchronisation object: the event for clocks, for deadlocks, and for whoever listens to
 * the stream. `order`: the kind that it is for races, and in recordings of everything. `waits`: a thread that does this
 * waits as long as it takes. */
static inline void pt_wrap_sync_order(const void *object, int kind, int order, const struct pt_site *site, bool waits)
{
    bool active = pt_is_active() && !pt_wrap_skips(order, site); /* or else not even a call */
    if (active && !waits && (kind == PT_KIND_ACQ || kind == PT_KIND_RACQ))
        pt_slow_tried(object, kind, order, site);
    else if (active)
        pt_slow_sync_as(object, kind, order, site);
    if (__builtin_expect(pt_wrap_looks, 0))
        pt_wrap_hooks.locked(object, kind, site, waits);
    pt_wrap_synced(object, kind);
}
/* The same of an object that has parts: deadlocks, and whoever listens, know it as one. */
static inline void pt_wrap_sync_at(const void *object, const void *part, int kind, int order,
                                   const struct pt_site *site)
{
    if (pt_is_active())
        pt_slow_sync_at(object, part, kind, order, site);
    if (__builtin_expect(pt_wrap_looks, 0))
        pt_wrap_hooks.locked(object, kind, site, false);
    pt_wrap_synced(object, kind);
}
static inline void pt_wrap_sync_as(const void *object, int kind, const struct pt_site *site, bool waits)
{
    pt_wrap_sync_order(object, kind, kind, site, waits);
}
static inline void pt_wrap_sync(const void *object, int kind, const struct pt_site *site)
{
    pt_wrap_sync_as(object, kind, site, false);
}

/* The same for an object that the kernel has, or that stands for something of the kernel's. In a thread that is not
 * known it makes no event, and does not make the thread known: one that is still beginning, or the child of a fork,
 * which on its way to exec is of no interest (fork.c). */
static inline void pt_wrap_sync_kernel(const void *object, int kind, const struct pt_site *site)
{
    if (pt_thread_now())
        pt_wrap_sync(object, kind, site);
}

/* Before the first event of an object that debug information knows nothing of. */
static inline void pt_wrap_name(const void *object, const char *name)
{
    struct pt_thread *self = pt_thread_now();
    if (self && !self->shadow.busy)
        pt_wrap_hooks.named(self, object, name);
}

/* What a thread does and what it waits for (an address, or the number of a thread; UINT64_MAX: unknown) is kept while
 * nobody is connected too, for the snapshot that a reader gets first. */
static inline void pt_wrap_keep(struct pt_thread *self, enum pt_thread_activity activity, uint64_t object)
{
    atomic_store_explicit(&self->waits_for, object, memory_order_relaxed);
    /* seq_cst: either we see below that somebody has come, or the sender, which looks after it said so, sees this */
    atomic_store_explicit(&self->activity, (uint32_t)activity, memory_order_seq_cst);
}
static inline void pt_wrap_active(enum pt_thread_activity activity, uint64_t object)
{
    struct pt_thread *self = pt_thread_now();
    if (self)
        pt_wrap_keep(self, activity, object);
    if (pt_wrap_streaming())
        pt_wrap_hooks.active(activity, object);
}

static inline void pt_wrap_blocks_at(const void *object, enum pt_gate_doing doing, const struct pt_site *site)
{
    if (__builtin_expect(pt_shadow_gated, 0))
        pt_wrap_hooks.blocks(object, doing, site);
}
static inline void pt_wrap_blocks(const void *object, enum pt_gate_doing doing)
{
    pt_wrap_blocks_at(object, doing, NULL);
}

/* Around a call that waits, while deadlocks are looked for. */
static inline void pt_wrap_waits(enum pt_wait_kind kind, const void *object, const void *mutex,
                                 const struct pt_site *site)
{
    if (__builtin_expect(pt_wrap_looks, 0) && kind != PT_WAIT_NONE)
        pt_wrap_hooks.waits(&(struct pt_wait){.kind = kind, .object = object, .mutex = mutex, .site = site});
}
static inline void pt_wrap_awaits_end(enum pt_wait_kind kind, struct pt_thread *thread, const struct pt_site *site)
{
    if (__builtin_expect(pt_wrap_looks, 0) && kind != PT_WAIT_NONE)
        pt_wrap_hooks.waits(&(struct pt_wait){.kind = kind, .thread = thread, .site = site});
}
static inline void pt_wrap_waited(enum pt_wait_kind kind)
{
    if (__builtin_expect(pt_wrap_looks, 0) && kind != PT_WAIT_NONE)
        pt_wrap_hooks.waited();
}

/* For pt_sys_read_clock. */
pt_sys_clock *pt_wrap_real_clock(void);
/* In the child of a fork: what the wrappers keep of descriptors, timers and the runtime's own threads (descriptor.c,
 * timer.c, thread.c). */
void pt_descriptor_restart(void);
void pt_timer_restart(void);
void pt_wrap_own_restart(void);
/* The first thread beside the first is about to be made, or the program ends: if there is one already, nobody has seen
 * it start, and the answer about races is not whole. */
void pt_wrap_look_for_strangers(void);
/* There will be some of which that is known. */
void pt_wrap_expect_several(void);
/* A thread of the runtime's own, which nobody else sees. */
bool pt_wrap_start_thread(void *(*start)(void *), const char *name);
/* The number, in the kernel, of such a thread. */
bool pt_wrap_is_own_thread(uint32_t tid);
/* The last thread of the program is about to end, and so would the program, were it not for the runtime's own. */
void pt_wrap_last_ends(void);
/* The calling thread ends: the kernel gives up the robust mutexes that it still has. */
void pt_wrap_leaves(void);

#endif
