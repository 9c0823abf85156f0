/*
 * Threads: their slots, numbers, clocks and ends.
 *
 * A thread ends in the destructor of a pthread key, put off to the last round so that other destructors of the program
 * still count. Its slot stays until it has both ended and been joined or detached, because its last clock goes to the
 * joiner.
 */
#include "runtime/thread/thread.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "runtime/channel/emit.h"
#include "runtime/channel/full.h"
#include "runtime/channel/gate.h"
#include "runtime/shadow/slow.h"
#include "runtime/sys/log.h"
#include "runtime/local/monitor.h"
#include "runtime/sys/options.h"
#include "runtime/shadow/readers.h"
#include "runtime/shadow/shadow.h"
#include "runtime/sys/sys.h"
#include "runtime/stream/stream.h"

enum { BUCKETS = 1024, DESTRUCTOR_ROUNDS = 3 /* of the 4 that POSIX promises */ };

__thread struct pt_thread *pt_self __attribute__((tls_model("initial-exec")));
static __thread bool ended __attribute__((tls_model("initial-exec")));

_Atomic bool pt_active;
struct pt_channel *pt_channel;

static pthread_key_t end_key;
static struct {
    struct pt_spin lock;
    struct pt_thread *slots;
    uint32_t used;
    struct pt_thread *free;
    struct pt_thread *buckets[BUCKETS];
} threads;
static _Atomic uint32_t next_number;

static void end(void *value);

/* Ending reads this object and finding a dead owner writes it, so that ends are not ordered with each other. */
static _Alignas(8) const char ended_threads[8];

bool pt_thread_start(void)
{
    threads.slots = pt_sys_reserve(sizeof *threads.slots << PT_THREAD_BITS);
    return threads.slots && pthread_key_create(&end_key, end) == 0;
}

void pt_runtime_give_up(void)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    struct pt_line line = {0};
    atomic_store_explicit(&pt_active, false, memory_order_relaxed);
    if (pt_options.verbosity >= 0 && !atomic_flag_test_and_set(&said)) {
        pt_line_text(&line, "portent: the runtime has no memory left ('ulimit -v' may be too low): nothing is checked "
                            "from here on");
        pt_line_write(&line);
    }
    if (pt_channel)
        atomic_fetch_add_explicit(&pt_channel->dropped, 1, memory_order_relaxed);
}

static struct pt_thread *take_slot(void)
{
    pt_spin_lock(&threads.lock);
    struct pt_thread *slot = threads.free;
    if (slot)
        threads.free = slot->next;
    else if (!(threads.used >> PT_THREAD_BITS))
        slot = &threads.slots[threads.used++];
    pt_spin_unlock(&threads.lock);
    if (!slot)
        return NULL;
    memset(slot, 0, sizeof *slot);
    slot->slot = (uint32_t)(slot - threads.slots);
    return slot;
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

struct pt_thread *pt_thread_at(uint32_t slot)
{
    return &threads.slots[slot];
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
    if (!thread)
        return NULL;
    thread->number = atomic_fetch_add_explicit(&next_number, 1, memory_order_relaxed);
    if (parent) {
        thread->parent = parent->number;
        /* fork before the child's first event: it starts with the parent's clock */
        pt_clock_acquire(parent->clock, 1);
        thread->clock = parent->clock;
        thread->credit = 1;
    }
    pt_thread_refresh(thread);
    return thread;
}

void pt_thread_discard(struct pt_thread *thread)
{
    struct pt_thread *self = pt_self;
    if (self) {
        pt_clock_release(self, thread->clock, 1);
        pt_monitor_free(self, thread);
    }
    free_slot(thread);
}

void pt_thread_begin(struct pt_thread *self)
{
    pthread_t handle = pthread_self();
    self->tid = pt_sys_thread();
    pt_self = self;
    self->full = pt_full_wanted(self);
    pt_thread_refresh(self);
    list(self, &handle);
    pthread_setspecific(end_key, self);
    atomic_store_explicit(&self->state, PT_THREAD_RUNNING, memory_order_release);
    pt_enter(self);
    pt_emit_thread(self, self, self->runs, "");
    pt_monitor_begin(self);
    pt_stream_thread(self, PT_WIRE_OP_START, self->parent, self->runs);
    pt_leave(self);
}

struct pt_thread *pt_thread_self(void)
{
    if (pt_self || ended || !pt_channel)
        return pt_self;
    /* A thread that was made behind our back. It must not come here again while it is being made known. */
    ended = true;
    struct pt_thread *self = pt_thread_new(NULL);
    if (self) {
        atomic_store(&self->let_go, 1); /* nobody has created it */
        if (pt_monitor_on)
            pt_monitor_name_thread(self);
        pt_thread_begin(self);
    }
    if (self && pt_monitor_on)
        pt_monitor_introduce(self, NULL);
    ended = self == NULL;
    return self;
}

void pt_thread_forget(void)
{
    if (pt_self)
        pthread_setspecific(end_key, NULL);
    pt_self = NULL;
    ended = true;
}

/* The third of its creation's end, its own end and join (or detach) frees the slot. */
static void let_go(struct pt_thread *self, struct pt_thread *thread)
{
    if (atomic_fetch_add_explicit(&thread->let_go, 1, memory_order_acq_rel) != 2)
        return;
    pt_clock_release(self, thread->clock, thread->credit);
    pt_monitor_free(self, thread);
    pt_clock_flush(thread);
    pt_pool_flush(thread);
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
    if (!self->stack_size || (!pt_full_any() && !pt_shadow_any(own - self->stack_size - SLACK, own + SLACK)))
        return;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
            pt_shadow_clear(self, (uintptr_t)low, (uintptr_t)low + size, false);
            if (pt_full_any())
                pt_full_freed(self, (uintptr_t)low, (uintptr_t)low + size);
        }
        pthread_attr_destroy(&attributes);
    }
    errno = error;
}

/* Without it the last thing an ended thread did would be an access, and whoever joins it would seem to race with that.
 */
static void tell_end(struct pt_thread *self)
{
    if (self->full)
        pt_full_thread(self, PT_KIND_ENDED, NULL, 0);
    if (pt_monitor_steps(self))
        pt_monitor_other(self, PT_KIND_ENDED, PT_NO_OBJECT, NULL);
}

/* Whatever is unmapped below, a handler that is put off would be put there. */
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
    pt_gate_ended(self);
    pt_enter(self);
    tell_end(self);
    pt_leave(self); /* its last violations are told, its last signals handled: from here on they wait for the end */
    block_signals(&before);
    pt_enter(self);
    if (pt_channel)
        forget_stack(self);
    pt_monitor_end(self);
    pt_stream_thread(self, PT_WIRE_OP_END, 0, 0);
    pt_stream_end(self);
    if (pt_channel)
        pt_emit_end(self);
    pt_readers_end(self);
    pt_granule_drop_between(self);
    pt_thread_drop_passed(self);
    pt_clock_ring_end(self);
    pt_know_settle(self, NULL);
    if (self->deferred)
        pt_sys_release(self->deferred, 4096);
    self->deferred = NULL;
    ended = true;
    pt_self = NULL;
    /* release, with the join after it: the last clock is in place */
    atomic_store_explicit(&self->state, PT_THREAD_ENDED, memory_order_release);
    let_go(self, self);
    pt_sys_set_signal_mask(&before);
}

void pt_thread_joined(struct pt_thread *self, struct pt_thread *thread, const struct pt_site *site)
{
    pt_enter(self);
    pt_thread_take(self, thread->clock);
    pt_stream_thread(self, PT_WIRE_OP_JOIN, thread->number, 0);
    if (self->full)
        pt_full_thread(self, PT_KIND_JOIN, site, thread->number);
    if (pt_monitor_steps(self))
        pt_monitor_thread(self, PT_KIND_JOIN, thread, site);
    atomic_store(&thread->detached, true);
    let_go(self, thread);
    pt_leave(self);
}

void pt_thread_created(struct pt_thread *thread, const pthread_t *handle)
{
    struct pt_thread *self = pt_self;
    pt_enter(self);
    list(thread, handle);
    let_go(self, thread);
    pt_leave(self);
}

void pt_thread_detached(struct pt_thread *thread)
{
    struct pt_thread *self = pt_self;
    if (!self)
        return;
    pt_enter(self);
    atomic_store(&thread->detached, true);
    let_go(self, thread);
    pt_leave(self);
}

void pt_thread_settle(struct pt_thread *self)
{
    bool counts = !self->slow || pt_monitor_is_quiet(self), cancels = self->attention & PT_ATTEND_CANCEL;
    self->quick = counts && !cancels ? self->clock : UINT64_MAX;
    self->evaluates = !counts && !cancels && !self->full;
}

void pt_thread_refresh(struct pt_thread *self)
{
    self->changes++;
    self->care = self->clock ? UINT64_C(0xff) << PT_SHADOW_BYTES_AT : 0;
    self->slow = self->full || (self->local && self->local->steps);
    pt_thread_settle(self);
}

void pt_thread_after_ended(void)
{
    pt_slow_sync(ended_threads, PT_SYNC_QUIET_WRITE, NULL);
}

void pt_thread_set_clock(struct pt_thread *self, pt_clock_id owned)
{
    pt_clock_id before = self->clock;
    int64_t credit = self->credit;
    self->clock = owned;
    self->credit = 1;
    if (pt_monitor_on)
        pt_monitor_clock_changes(self, before);
    pt_thread_pass(self, before, credit);
    pt_thread_refresh(self);
}

void pt_thread_say(struct pt_thread *self, pt_clock_id owned)
{
    pt_clock_id before = self->clock;
    int64_t credit = self->credit;
    if (!owned)
        return;
    self->clock = owned;
    self->credit = 1;
    pt_thread_pass(self, before, credit);
    pt_know_settle(self, pt_clocks[owned].knows.vector);
    self->changes++;
    self->care = UINT64_C(0xff) << PT_SHADOW_BYTES_AT;
}

/* The empty clock is not counted; its credit may be anything. */
void pt_thread_buy(struct pt_thread *self, int64_t references)
{
    int64_t bulk = (1 << 16) + references, *local = pt_thread_local_count(self, self->clock);
    if (local)
        *local += bulk;
    else
        pt_clock_acquire(self->clock, bulk);
    self->credit += bulk;
}

void pt_thread_drop_passed(struct pt_thread *self)
{
    for (unsigned i = 0; i < 1 << PT_PASSED_BITS; i++) {
        pt_clock_release(self, self->passed[i].id, self->passed[i].references);
        self->passed[i] = (struct pt_passed){0};
    }
    for (unsigned i = 0; i < 1 << PT_LATER_BITS; i++)
        pt_thread_release_later(self, 0, 0);
}

void pt_thread_take(struct pt_thread *self, pt_clock_id id)
{
    if (pt_thread_is_past(self, id))
        return;
    if (!pt_clock_leq(id, self->clock)) {
        pt_clock_id joined = pt_clock_next_join(self, id);
        if (!joined)
            return;
        pt_thread_set_clock(self, joined);
    }
    pt_thread_note_seen(self, id);
}

void pt_thread_tick(struct pt_thread *self)
{
    pt_clock_id next = pt_clock_next_tick(self, ++self->events);
    if (next)
        pt_thread_set_clock(self, next);
}
