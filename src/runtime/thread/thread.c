/*
 * Threads: their slots, numbers, clocks and ends.
 *
 * A thread ends in the destructor of a pthread key, deferred to the last round so that other destructors of the program
 * still count. Its slot stays until it has both ended and been joined or detached, because its last clock goes to the
 * joiner.
 *
 * Guarantee: a thread is found by its handle from its creation until it is joined or detached, and its record is used
 * again only after that and its end. Cost: one lock, shared by all threads, at creation, join and end.
 */
#include "runtime/thread/thread.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "runtime/shadow/readers.h"
#include "runtime/shadow/shadow.h"
#include "runtime/shadow/slow.h"
#include "runtime/sys/runtime.h"
#include "runtime/sys/sys.h"

enum { BUCKETS = 1024, DESTRUCTOR_ROUNDS = 3 /* of the 4 that POSIX promises */ };

static __thread bool ended __attribute__((tls_model("initial-exec")));
struct pt_thread_hooks pt_thread_hooks;

static pthread_key_t end_key;
static struct {
    struct pt_spin lock;
    unsigned char *slots; /* of `stride` bytes each: a thread, and behind it the parts that lie beside it */
    size_t stride;
    struct pt_thread_parts parts;
    uint32_t used;
    struct pt_thread *free;
    struct pt_thread *buckets[BUCKETS];
} threads;
static _Atomic uint32_t next_number;

static void end(void *value);

/* Ending reads this object and finding a dead owner writes it, so that ends are not ordered with each other. */
static _Alignas(8) const char ended_threads[8];

static size_t rounded(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

bool pt_thread_start(struct pt_thread_parts parts)
{
    threads.parts = parts;
    threads.stride = rounded(sizeof(struct pt_thread)) + rounded(parts.channel) + rounded(parts.local);
    threads.slots = pt_sys_reserve(threads.stride << PT_THREAD_BITS);
    return threads.slots && pthread_key_create(&end_key, end) == 0;
}

static struct pt_thread *take_slot(void)
{
    pt_spin_lock(&threads.lock);
    struct pt_thread *thread = threads.free;
    if (thread)
        threads.free = thread->next;
    else if (!(threads.used >> PT_THREAD_BITS))
        thread = (void *)(threads.slots + threads.stride * threads.used++);
    pt_spin_unlock(&threads.lock);
    if (!thread)
        return NULL;
    unsigned char *place = (unsigned char *)thread;
    memset(place, 0, threads.stride);
    thread->shadow.clock.slot = (uint32_t)((size_t)(place - threads.slots) / threads.stride);
    thread->channel = (void *)(place + rounded(sizeof *thread));
    thread->local = (void *)(place + rounded(sizeof *thread) + rounded(threads.parts.channel));
    return thread;
}

static void free_slot(struct pt_thread *slot)
{
    pt_spin_lock(&threads.lock);
    slot->next = threads.free;
    threads.free = slot;
    pt_spin_unlock(&threads.lock);
}

static struct pt_thread **bucket_of(pthread_t handle)
{
    return &threads.buckets[((uint64_t)handle * UINT64_C(0x9e3779b97f4a7c15)) >> 54];
}

/* Once: by its parent, which then knows its handle, or by itself, whoever comes first. */
static void list(struct pt_thread *thread, const pthread_t *handle)
{
    pt_spin_lock(&threads.lock);
    if (!thread->listed) {
        thread->handle = *handle;
        struct pt_thread **bucket = bucket_of(thread->handle);
        thread->next = *bucket;
        *bucket = thread;
        thread->listed = true;
    }
    pt_spin_unlock(&threads.lock);
}

static void unlist(struct pt_thread *thread)
{
    pt_spin_lock(&threads.lock);
    for (struct pt_thread **link = bucket_of(thread->handle); *link; link = &(*link)->next)
        if (*link == thread) {
            *link = thread->next;
            break;
        }
    pt_spin_unlock(&threads.lock);
}

struct pt_thread *pt_thread_find(pthread_t handle)
{
    pt_spin_lock(&threads.lock);
    struct pt_thread *thread = *bucket_of(handle);
    /* a detached thread's handle may already be another's */
    while (thread && (!pthread_equal(thread->handle, handle) || atomic_load(&thread->detached)))
        thread = thread->next;
    pt_spin_unlock(&threads.lock);
    return thread;
}

struct pt_thread *pt_thread_claim(pthread_t handle, bool foreign)
{
    pt_spin_lock(&threads.lock);
    struct pt_thread *thread = *bucket_of(handle);
    while (thread && (!pthread_equal(thread->handle, handle) || atomic_load(&thread->detached) || thread->claimed ||
                      (foreign && (thread->start || thread->start_c11))))
        thread = thread->next;
    if (thread)
        thread->claimed = true;
    pt_spin_unlock(&threads.lock);
    return thread;
}

void pt_thread_unclaim(struct pt_thread *thread)
{
    pt_spin_lock(&threads.lock);
    thread->claimed = false;
    pt_spin_unlock(&threads.lock);
}

void pt_thread_each(void (*visit)(void *context, const struct pt_thread *thread), void *context)
{
    pt_spin_lock(&threads.lock);
    for (uint32_t i = 0; i < BUCKETS; i++)
        for (const struct pt_thread *thread = threads.buckets[i]; thread; thread = thread->next)
            if (atomic_load_explicit(&thread->state, memory_order_relaxed) != PT_THREAD_ENDED)
                visit(context, thread);
    pt_spin_unlock(&threads.lock);
}

void pt_thread_label(struct pt_thread *thread, const char *name)
{
    pt_spin_lock(&threads.lock);
    strncpy(thread->label, name, sizeof thread->label - 1);
    pt_spin_unlock(&threads.lock);
}

struct pt_thread *pt_thread_new(struct pt_thread *parent)
{
    struct pt_thread *thread = take_slot();
    if (!thread) { /* it will run, and nobody records what it does */
        pt_runtime_lost();
        return NULL;
    }
    thread->shadow.clock.number = atomic_fetch_add_explicit(&next_number, 1, memory_order_relaxed);
    if (parent) {
        thread->parent = pt_thread_number(parent);
        /* fork before the child's first event: it starts with the parent's clock */
        pt_clock_acquire(parent->shadow.clock.id, 1);
        thread->shadow.clock.id = parent->shadow.clock.id;
        thread->shadow.clock.credit = 1;
    }
    pt_shadow_refresh(&thread->shadow);
    return thread;
}

void pt_thread_inherit(struct pt_thread *child, struct pt_thread *parent)
{
    pt_clock_acquire(parent->shadow.clock.id, 1);
    pt_clock_release(&parent->shadow.clock, child->shadow.clock.id, 1);
    child->shadow.clock.id = parent->shadow.clock.id;
    pt_shadow_refresh(&child->shadow);
}

void pt_thread_discard(struct pt_thread *thread)
{
    struct pt_thread *self = pt_thread_now();
    if (self) {
        pt_clock_release(&self->shadow.clock, thread->shadow.clock.id, 1);
        pt_thread_hooks.released(self, thread);
    }
    free_slot(thread);
}

static void begin(struct pt_thread *self, bool foreign)
{
    pthread_t handle = pthread_self();
    self->tid = pt_sys_thread();
    pt_self = &self->shadow;
    pt_thread_enter(self);
    pt_thread_hooks.meet(self, foreign);
    pt_shadow_refresh(&self->shadow);
    list(self, &handle);
    pthread_setspecific(end_key, self);
    atomic_store_explicit(&self->state, PT_THREAD_RUNNING, memory_order_release);
    pt_thread_hooks.begun(self, foreign);
    pt_thread_leave(self);
}

void pt_thread_begin(struct pt_thread *self)
{
    begin(self, false);
}

struct pt_shadow_self *pt_thread_introduce(void)
{
    if (pt_self || ended || !pt_channel)
        return pt_self;
    /* A thread that was made behind our back. It must not come here again while it is being made known. */
    ended = true;
    struct pt_thread *self = pt_thread_new(NULL);
    if (self) {
        atomic_store(&self->releases, 1); /* nobody has created it */
        begin(self, true);
    }
    ended = self == NULL;
    return self ? &self->shadow : NULL;
}

void pt_thread_forget(void)
{
    if (pt_self)
        pthread_setspecific(end_key, NULL);
    pt_self = NULL;
    ended = true;
}

/* The third of its creation's end, its own end and join (or detach) frees the slot. */
static void release(struct pt_thread *self, struct pt_thread *thread)
{
    if (atomic_fetch_add_explicit(&thread->releases, 1, memory_order_acq_rel) != 2)
        return;
    pt_clock_release(&self->shadow.clock, thread->shadow.clock.id, thread->shadow.clock.credit);
    pt_thread_hooks.released(self, thread);
    pt_clock_flush(&thread->shadow.clock);
    pt_pool_flush(pt_thread_pool(thread));
    unlist(thread);
    free_slot(thread);
}

/*
 * Its stack is other variables for the next thread that gets it. Where exactly it lies is asked only if there is
 * something to forget: the answer comes from malloc's memory, of which glibc gives each thread that asks for some an
 * arena of its own. A thread's own record lies at the upper end of its stack.
 */
static void forget_stack(struct pt_thread *self)
{
    enum { SLACK = 1 << 20 };
    uintptr_t own = (uintptr_t)pthread_self();
    pthread_attr_t attributes;
    void *low;
    size_t size;
    int error = errno;
    if (!self->stack_size ||
        (!pt_runtime_records_full() && !pt_shadow_any(own - self->stack_size - SLACK, own + SLACK)))
        return;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
            pt_shadow_clear(&self->shadow, (uintptr_t)low, (uintptr_t)low + size, false);
            if (pt_runtime_records_full())
                pt_thread_hooks.freed(self, (uintptr_t)low, (uintptr_t)low + size);
        }
        pthread_attr_destroy(&attributes);
    }
    errno = error;
}

/* Whatever is unmapped below, a handler that is deferred would be put there. */
static void block_signals(sigset_t *ret_before)
{
    sigset_t all;
    sigfillset(&all);
    pt_sys_signal_mask(ret_before);
    pt_sys_set_signal_mask(&all);
}

static void end(void *value)
{
    struct pt_thread *self = value;
    sigset_t before;
    if (self->destructor_rounds++ < DESTRUCTOR_ROUNDS && pthread_setspecific(end_key, self) == 0)
        return;
    pt_slow_sync(ended_threads, PT_SYNC_QUIET_READ, NULL);
    pt_thread_enter(self);
    pt_thread_hooks.ending(self);
    pt_thread_leave(self); /* its last violations are reported, its last signals handled: from here on they wait */
    block_signals(&before);
    pt_thread_enter(self);
    if (pt_channel)
        forget_stack(self);
    pt_thread_hooks.ended(self);
    pt_readers_end(&self->shadow);
    pt_granule_drop_between(&self->shadow);
    pt_self_drop_passed(&self->shadow.clock);
    pt_clock_ring_end(&self->shadow.clock);
    pt_know_settle(&self->shadow.clock, NULL);
    if (self->deferred)
        pt_sys_release(self->deferred, 4096);
    self->deferred = NULL;
    ended = true;
    pt_self = NULL;
    /* release, with the join after it: the last clock is in place */
    atomic_store_explicit(&self->state, PT_THREAD_ENDED, memory_order_release);
    release(self, self);
    pt_sys_set_signal_mask(&before);
}

void pt_thread_joined(struct pt_thread *self, struct pt_thread *thread, const struct pt_site *site)
{
    pt_thread_enter(self);
    pt_shadow_take(&self->shadow, thread->shadow.clock.id);
    pt_thread_hooks.joined(self, thread, site);
    atomic_store(&thread->detached, true);
    release(self, thread);
    pt_thread_leave(self);
}

void pt_thread_created(struct pt_thread *thread, const pthread_t *handle)
{
    struct pt_thread *self = pt_thread_now();
    pt_thread_enter(self);
    list(thread, handle);
    release(self, thread);
    pt_thread_leave(self);
}

void pt_thread_detached(struct pt_thread *thread)
{
    struct pt_thread *self = pt_thread_now();
    if (!self)
        return;
    pt_thread_enter(self);
    atomic_store(&thread->detached, true);
    release(self, thread);
    pt_thread_leave(self);
}

void pt_thread_after_ended(void)
{
    pt_slow_sync(ended_threads, PT_SYNC_QUIET_WRITE, NULL);
}
