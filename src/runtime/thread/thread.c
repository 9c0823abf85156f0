/*
 * Threads: their slots, numbers, clocks and ends.
 *
 * A thread ends in the destructor of a pthread key, in the last round and after all others, so that what the program's
 * do counts. libc calls destructors in the order of their keys: ours is the last that needs no memory, and where a
 * thread has a value under a later one, it is the last of all. No handler of a signal runs in the thread from then on.
 * The last thread of the program does not end: it runs the functions of atexit. Its slot stays until it has both ended
 * and been joined or detached, because its last clock goes to the joiner.
 *
 * Guarantee: a thread is found by its handle from its creation until it is joined or detached, and its record is used
 * again only after that and its end; an access of a watched variable by a thread that has ended is counted as lost.
 * Cost: one lock, shared by all threads, at creation, join and end.
 */
#include "runtime/thread/thread.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>

#include "runtime/race/life.h"
#include "runtime/shadow/kept.h"
#include "runtime/shadow/readers.h"
#include "runtime/shadow/shadow.h"
#include "runtime/shadow/slow.h"
#include "runtime/sys/options.h"
#include "runtime/sys/runtime.h"
#include "runtime/sys/sys.h"
#include "runtime/thread/signal.h"

enum {
    BUCKETS = 1024,
    DESTRUCTOR_ROUNDS = PTHREAD_DESTRUCTOR_ITERATIONS - 1, /* before the last */
    KEYS_IN_PLACE = 32                                     /* which libc keeps in a thread's own record */
};

static __thread bool ended __attribute__((tls_model("initial-exec")));
struct pt_thread_hooks pt_thread_hooks;

static pthread_key_t end_key;
static struct {
    struct pt_spin lock;
    unsigned char *slots; /* of `stride` bytes each: a thread, and behind it the parts that lie beside it */
    size_t stride;
    struct pt_thread_parts parts;
    uint32_t used;
    uint32_t live; /* made and not ended */
    struct pt_thread *free;
    struct pt_thread *buckets[BUCKETS];
} threads = {.lock = PT_SPIN(PT_RANK_THREAD)};
static _Atomic uint32_t next_number;

static void end_round(void *value);

/* Ending reads this object and finding a dead owner writes it, so that ends are not ordered with each other. */
static _Alignas(8) const char ended_threads[8];

static size_t rounded(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

/* libc gives the lowest key that is free: those below `least` are taken meanwhile, and the next is kept. 0: there is
 * none. */
static pthread_key_t take_key(pthread_key_t least)
{
    static pthread_key_t keys[PTHREAD_KEYS_MAX];
    int count = 0;
    while (count < PTHREAD_KEYS_MAX && pthread_key_create(&keys[count], end_round) == 0 && keys[count++] < least)
        ;
    for (int i = 0; i + 1 < count; i++)
        pthread_key_delete(keys[i]);
    return count ? keys[count - 1] : 0;
}

bool pt_thread_start(struct pt_thread_parts parts)
{
    threads.parts = parts;
    threads.stride = rounded(sizeof(struct pt_thread)) + rounded(parts.channel) + rounded(parts.local) +
                     rounded(parts.deadlock) + rounded(parts.record);
    threads.slots = pt_sys_reserve_table(threads.stride << PT_THREAD_BITS);
    return threads.slots && (end_key = take_key(KEYS_IN_PLACE - 1));
}

/* Signals would be handled in the middle, and a thread could be cancelled there, while others wait for it. */
static struct pt_thread *lock_threads(void)
{
    struct pt_thread *self = pt_thread_now();
    if (self)
        pt_thread_enter(self);
    pt_spin_lock(&threads.lock);
    return self;
}

static void unlock_threads(struct pt_thread *self)
{
    pt_spin_unlock(&threads.lock);
    if (self)
        pt_thread_leave(self);
}

static struct pt_thread *take_slot(void)
{
    struct pt_thread *self = lock_threads();
    struct pt_thread *thread = threads.free;
    if (thread)
        threads.free = thread->next;
    else if (!(threads.used >> PT_THREAD_BITS))
        thread = (void *)(threads.slots + threads.stride * threads.used++);
    threads.live += thread != NULL;
    unlock_threads(self);
    if (!thread)
        return NULL;
    unsigned char *place = (unsigned char *)thread;
    memset(place, 0, threads.stride);
    thread->shadow.clock.slot = (uint32_t)((size_t)(place - threads.slots) / threads.stride);
    thread->channel = (void *)(place + rounded(sizeof *thread));
    thread->local = (void *)(place + rounded(sizeof *thread) + rounded(threads.parts.channel));
    thread->deadlock = (void *)((unsigned char *)thread->local + rounded(threads.parts.local));
    thread->record = (void *)((unsigned char *)thread->deadlock + rounded(threads.parts.deadlock));
    return thread;
}

static void free_slot(struct pt_thread *slot)
{
    struct pt_thread *self = lock_threads();
    slot->next = threads.free;
    threads.free = slot;
    unlock_threads(self);
}

static struct pt_thread **bucket_of(pthread_t handle)
{
    return &threads.buckets[((uint64_t)handle * UINT64_C(0x9e3779b97f4a7c15)) >> 54];
}

/* Once: by its parent, which then knows its handle, or by itself, whoever comes first. */
static void list(struct pt_thread *thread, const pthread_t *handle)
{
    struct pt_thread *self = lock_threads();
    if (!thread->listed) {
        thread->handle = *handle;
        struct pt_thread **bucket = bucket_of(thread->handle);
        thread->next = *bucket;
        *bucket = thread;
        thread->listed = true;
    }
    unlock_threads(self);
}

static void unlist(struct pt_thread *thread)
{
    struct pt_thread *self = lock_threads();
    for (struct pt_thread **link = bucket_of(thread->handle); *link; link = &(*link)->next)
        if (*link == thread) {
            *link = thread->next;
            break;
        }
    unlock_threads(self);
}

struct pt_thread *pt_thread_find(pthread_t handle)
{
    struct pt_thread *self = lock_threads();
    struct pt_thread *thread = *bucket_of(handle);
    /* a detached thread's handle may already be another's */
    while (thread && (!pthread_equal(thread->handle, handle) || atomic_load(&thread->detached)))
        thread = thread->next;
    unlock_threads(self);
    return thread;
}

struct pt_thread *pt_thread_claim(pthread_t handle, bool foreign)
{
    struct pt_thread *self = lock_threads();
    struct pt_thread *thread = *bucket_of(handle);
    while (thread && (!pthread_equal(thread->handle, handle) || atomic_load(&thread->detached) || thread->claimed ||
                      (foreign && (thread->start || thread->start_c11))))
        thread = thread->next;
    if (thread)
        thread->claimed = true;
    unlock_threads(self);
    return thread;
}

void pt_thread_unclaim(struct pt_thread *thread)
{
    struct pt_thread *self = lock_threads();
    thread->claimed = false;
    unlock_threads(self);
}

void pt_thread_each(void (*visit)(void *context, const struct pt_thread *thread), void *context)
{
    struct pt_thread *self = lock_threads();
    for (uint32_t i = 0; i < BUCKETS; i++)
        for (const struct pt_thread *thread = threads.buckets[i]; thread; thread = thread->next)
            if (atomic_load_explicit(&thread->state, memory_order_relaxed) != PT_THREAD_ENDED)
                visit(context, thread);
    unlock_threads(self);
}

void pt_thread_each_shadow(void (*visit)(struct pt_shadow_self *self))
{
    struct pt_thread *self = lock_threads();
    for (uint32_t i = 0; i < BUCKETS; i++)
        for (struct pt_thread *thread = threads.buckets[i]; thread; thread = thread->next)
            if (atomic_load_explicit(&thread->state, memory_order_relaxed) != PT_THREAD_ENDED)
                visit(&thread->shadow);
    unlock_threads(self);
}

uint32_t pt_thread_live(void)
{
    struct pt_thread *self = lock_threads();
    uint32_t live = threads.live;
    unlock_threads(self);
    return live;
}

void pt_thread_label(struct pt_thread *thread, const char *name)
{
    struct pt_thread *self = lock_threads();
    strncpy(thread->label, name, sizeof thread->label - 1);
    unlock_threads(self);
}

struct pt_thread *pt_thread_new(struct pt_thread *parent)
{
    struct pt_thread *thread = take_slot();
    if (!thread) { /* it will run, and nobody records what it does */
        pt_runtime_lost();
        return NULL;
    }
    thread->shadow.clock.number = atomic_fetch_add_explicit(&next_number, 1, memory_order_relaxed);
    thread->shadow.clock.events = (uint64_t)pt_options.counted_before;
    if (parent) {
        thread->parent = pt_thread_number(parent);
        /* fork before the child's first event: it starts with the parent's clock */
        pt_clock_acquire(parent->shadow.clock.id, 1);
        pt_self_begin(&thread->shadow.clock, parent->shadow.clock.id);
        thread->shadow.clock.credit = 1;
    }
    pt_shadow_refresh(&thread->shadow);
    return thread;
}

void pt_thread_inherit(struct pt_thread *child, struct pt_thread *parent)
{
    pt_clock_acquire(parent->shadow.clock.id, 1);
    pt_clock_release(&parent->shadow.clock, child->shadow.clock.id, 1);
    pt_self_begin(&child->shadow.clock, parent->shadow.clock.id);
    pt_shadow_refresh(&child->shadow);
}

static void count_out(void)
{
    struct pt_thread *self = lock_threads();
    threads.live--;
    unlock_threads(self);
}

void pt_thread_discard(struct pt_thread *thread)
{
    count_out();
    struct pt_thread *self = pt_thread_now();
    if (self) {
        pt_thread_enter(self);
        pt_clock_release(&self->shadow.clock, thread->shadow.clock.id, 1);
        pt_thread_hooks.released(self, thread);
        pt_thread_leave(self);
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

static struct pt_shadow_self *introduce(bool ordered)
{
    if (pt_self || ended || !pt_channel)
        return pt_self;
    /* A thread that was made behind our back. It must not come here again while it is being made known, nor must a
     * handler leave by siglongjmp while something is locked. */
    ended = true;
    uint64_t mask = pt_sys_swap_signal_mask(~(uint64_t)0);
    struct pt_thread *self = pt_thread_new(NULL);
    if (self) {
        atomic_store(&self->releases, ordered ? 2 : 1); /* nobody has created it, and nobody may join an ordered one */
        self->ordered = ordered;
        begin(self, true);
    }
    ended = self == NULL;
    pt_sys_swap_signal_mask(mask);
    return self ? &self->shadow : NULL;
}

struct pt_shadow_self *pt_thread_introduce(void)
{
    return introduce(false);
}

void pt_thread_introduce_ordered(void)
{
    introduce(true);
}

struct pt_shadow_self *pt_thread_introduce_at(uintptr_t address, size_t size, bool write)
{
    (void)address, (void)size, (void)write;
    return pt_thread_introduce();
}

void pt_thread_restart(void)
{
    pt_sys_empty(threads.slots, threads.stride << PT_THREAD_BITS);
    pt_spin_reset(&threads.lock);
    threads.used = threads.live = 0;
    threads.free = NULL;
    memset(threads.buckets, 0, sizeof threads.buckets);
    atomic_store_explicit(&next_number, 0, memory_order_relaxed);
    ended = false;
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

uintptr_t pt_thread_stack_low(const struct pt_thread *self)
{
    enum { RECORD = 4096 };
    return (uintptr_t)pthread_self() - self->stack_size + RECORD;
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
    if (self->shadow.race && pt_is_racing())
        pt_race_forget_stack(self->shadow.race, own - self->stack_size, own);
    else if (self->shadow.race && pt_is_between())
        pt_race_discard(self->shadow.race, own - self->stack_size, own);
    if (self->shadow.race && pt_is_living() && self->stack_size && !self->stack_given)
        pt_life_stack_ends(self->shadow.race, pt_thread_stack_low(self), own);
    if (!self->stack_size ||
        (!pt_runtime_records_full() && !pt_shadow_any(own - self->stack_size - SLACK, own + SLACK)))
        return;
    if (pt_sys_is_quiet()) { /* asking would be a system call; what lies a little beyond is forgotten, too */
        pt_shadow_clear(&self->shadow, own - self->stack_size, own + 4096, false);
        return;
    }
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
            pt_shadow_clear(&self->shadow, (uintptr_t)low, (uintptr_t)low + size, false);
            if (pt_runtime_records_full())
                pt_thread_hooks.freed(self, (uintptr_t)low, (uintptr_t)low + size, PT_MEMORY_FORGOTTEN);
        }
        pthread_attr_destroy(&attributes);
    }
    errno = error;
}

/* What the thread keeps of others goes, and nothing more is recorded of it. */
static void close_record(struct pt_thread *self)
{
    pt_thread_hooks.ended(self);
    pt_readers_end(&self->shadow);
    pt_kept_end(&self->shadow);
    pt_granule_drop_between(&self->shadow);
    pt_fine_drop(&self->shadow);
    pt_self_drop_passed(&self->shadow.clock);
    pt_clock_ring_end(&self->shadow.clock);
    pt_clock_lane_end(&self->shadow.clock);
    pt_know_settle(&self->shadow.clock, NULL);
    pt_self = NULL;
    /* release, with the join after it: the last clock is in place */
    atomic_store_explicit(&self->state, PT_THREAD_ENDED, memory_order_release);
    release(self, self);
}

/* A handler of a signal that ran before the thread had begun was taken for a thread of its own: that one ends, and its
 * events come before all of this one's. That they also come after the start of the thread is lost. */
static void begin_after(struct pt_thread *self, struct pt_thread *early)
{
    pt_clock_id clock = early->shadow.clock.id;
    pt_sys_swap_signal_mask(~(uint64_t)0); /* no other handler runs before it has begun */
    pt_runtime_lost();
    pt_thread_enter(early);
    pt_clock_acquire(clock, 1);
    count_out();
    close_record(early);
    begin(self, false);
    pt_thread_enter(self);
    pt_shadow_take(&self->shadow, clock);
    pt_clock_release(&self->shadow.clock, clock, 1);
    pt_thread_leave(self);
}

void pt_thread_begin(struct pt_thread *self)
{
    uint64_t mask = self->signal_mask;
    if (pt_thread_now())
        begin_after(self, pt_thread_now());
    else
        begin(self, false);
    pt_sys_swap_signal_mask(mask);
}

bool pt_thread_has_others(void)
{
    struct pt_thread *self = lock_threads();
    bool others = threads.live > 1;
    unlock_threads(self);
    return others;
}

/* Whether others live; then there is one less. */
static bool leaves_others(void)
{
    struct pt_thread *self = lock_threads();
    bool others = threads.live > 1;
    threads.live -= others;
    unlock_threads(self);
    return others;
}

/* Signals stay blocked, as libc does it at the end of a thread: nothing of the program runs here any more, and the
 * thread is not cancelled in the middle. That by which libc changes the identity of all threads may come. */
static void end(struct pt_thread *self)
{
    uintptr_t own = (uintptr_t)pthread_self();
    if (!leaves_others()) {
        pt_thread_hooks.last();
        return;
    }
    pt_sys_swap_signal_mask(~PT_SIGNAL_BIT(PT_SIGNAL_IDENTITY));
    pt_thread_hooks.leaves();
    pt_slow_sync(ended_threads, PT_SYNC_QUIET_READ, NULL);
    pt_thread_enter(self);
    if (pt_runtime_records_memory() && self->stack_size) /* before its last event */
        pt_thread_hooks.freed(self, own - self->stack_size, own, PT_MEMORY_WRITTEN);
    pt_thread_hooks.ending(self);
    pt_thread_leave(self); /* its last violations are reported */
    pt_thread_enter(self);
    if (pt_channel)
        forget_stack(self);
    ended = true;
    close_record(self);
}

/* The last key under which the thread has a value. */
static pthread_key_t last_used(void)
{
    pthread_key_t key = PTHREAD_KEYS_MAX - 1;
    while (key > end_key && !pthread_getspecific(key))
        key--;
    return key;
}

/* A key after that; some are left out, so that it is after those too that the program makes later. Keys that were are
 * not given back: other threads may have their end under them. */
static pthread_key_t key_after(pthread_key_t used)
{
    static pthread_key_t last;
    struct pt_thread *self = lock_threads();
    pthread_key_t key = last > used ? last : take_key(used + KEYS_IN_PLACE);
    last = key > used ? key : last;
    unlock_threads(self);
    return key > used ? key : 0;
}

static void end_round(void *value)
{
    struct pt_thread *self = value;
    int round = self->destructor_rounds++;
    pthread_key_t used = round == DESTRUCTOR_ROUNDS ? last_used() : end_key;
    if (round < DESTRUCTOR_ROUNDS && pthread_setspecific(end_key, self) == 0)
        return;
    pthread_key_t later = used > end_key ? key_after(used) : 0;
    if (!later || pthread_setspecific(later, self) != 0)
        end(self);
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
