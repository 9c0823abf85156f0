/*
 * Threads, locks, other synchronisation objects and fences, as what they mean for happens-before (race/hb.h). Objects
 * are found by their address, in a table cut into shards, and end with their memory.
 *
 * As long as one thread alone is there, or has outlived all others that it has joined, nothing can race: all it does
 * comes before whatever it starts later. So accesses are looked at only while there are others (PT_ACTIVE_RACES).
 *
 * Guarantee: exact, as race/hb.h is; what a barrier's phases are is wrap/barrier.c's business. Cost: a lock that
 * threads with other objects seldom want, and what race/hb.h costs.
 */
#include <string.h>

#include "core/channel.h"
#include "runtime/race/choose.h"
#include "runtime/race/log.h"
#include "runtime/sys/sys.h"

enum { SHARD_BITS = 12 };

struct object {
    uintptr_t address;
    struct object *next;
    struct pt_race_lock_held held; /* as it was locked last */
    struct pt_hb_lock lock;
    struct pt_hb_sync other;
};
struct shard {
    struct pt_spin lock;
    struct object *first;
};

static struct shard *shards;
static struct {
    struct pt_spin lock;
    uint32_t others; /* threads that are not joined, beside one */
    struct pt_race_self *free;
    /* When there was one alone last: whoever has a lower lane than this, but that one, is known to all. */
    _Atomic uint32_t past_threads;
    _Atomic uint64_t past_alone;
} threads = {.lock = PT_SPIN(PT_RANK_THREAD)};
/* Slots have few bits for numbers. A thread whose clock has no more of them goes on in another lane, as a thread that
 * knows all of the first; each thread begins with one of its own. */
static uint32_t *lanes; /* the threads they are of */
static _Atomic uint32_t next_lane;

struct pt_race_hooks pt_race_hooks;
struct pt_race_looks pt_race_looks;

static void reset_shards(void)
{
    for (unsigned i = 0; i < 1u << SHARD_BITS; i++)
        shards[i] = (struct shard){.lock = PT_SPIN(PT_RANK_FINE)};
}

void pt_race_changed(struct pt_race_self *self)
{
    struct pt_race_journal *log = &self->log;
    if (__builtin_expect(pt_race_is_used_up(self), 0)) {
        pt_race_next_lane(self);
        return;
    }
    self->version++;
    self->region = self->env.merge_from = self->hb.clock;
    if (!log->ring)
        return;
    log->region = pt_race_slot_of(self, self->region, 0, 0);
    log->span = (((uint64_t)self->hb.id + 1) << PT_RACE_THREAD_AT) - log->region;
    log->stop = 0;
    uint64_t epoch = (pt_race_epoch(self) & ~PT_RACE_INTERRUPTED) + PT_RACE_EPOCH;
    if (__builtin_expect(!epoch, 0)) { /* all have been: none of them is remembered */
        memset(log->made, 0, sizeof log->made);
        memset(log->others, 0, sizeof log->others);
        memset(log->filter, 0, sizeof log->filter);
        epoch = PT_RACE_EPOCH;
    }
    atomic_store_explicit(&log->epoch, epoch, memory_order_relaxed);
}

bool pt_race_sync_start(void)
{
    shards = pt_sys_reserve_table(sizeof *shards << SHARD_BITS);
    lanes = pt_sys_reserve_table(sizeof *lanes * PT_HB_THREADS);
    if (!shards || !lanes)
        return false;
    reset_shards();
    return true;
}

void pt_race_sync_restart(void)
{
    reset_shards();
    memset(&threads, 0, sizeof threads);
    pt_spin_reset(&threads.lock);
}

/* ---- threads ---- */

static bool is_past(void *context, pt_epoch epoch)
{
    (void)context;
    pt_epoch alone = atomic_load_explicit(&threads.past_alone, memory_order_acquire);
    if (pt_epoch_thread(epoch) == pt_epoch_thread(alone))
        return pt_epoch_clock(epoch) <= pt_epoch_clock(alone);
    return pt_epoch_thread(epoch) < atomic_load_explicit(&threads.past_threads, memory_order_relaxed);
}

static void on_race(void *context, const struct pt_cell_seen *earlier)
{
    struct pt_race_self *self = context;
    if (self->met_count < PT_RACE_MET)
        self->met[self->met_count++] = *earlier;
}

static struct pt_race_self *take_self(void)
{
    pt_spin_lock(&threads.lock);
    struct pt_race_self *self = threads.free;
    if (self)
        threads.free = self->next;
    pt_spin_unlock(&threads.lock);
    return self ? self : pt_sys_reserve(sizeof *self);
}

static void count_thread(bool first)
{
    pt_spin_lock(&threads.lock);
    threads.others += !first;
    pt_spin_unlock(&threads.lock);
    if (!first)
        pt_race_window_several(true);
}

void pt_race_expect_threads(void)
{
    count_thread(false);
}

static bool take_lane(struct pt_race_self *self)
{
    uint32_t lane = atomic_fetch_add(&next_lane, 1);
    if (lane >= PT_HB_THREADS) {
        atomic_store(&next_lane, PT_HB_THREADS);
        pt_runtime_stop("more threads were started than races can be told apart by");
        return false;
    }
    lanes[lane] = self->number;
    self->hb.id = lane;
    self->hb.clock = 1;
    return true;
}

uint32_t pt_race_thread_at(uint32_t lane)
{
    return lanes[lane];
}

void pt_race_next_lane(struct pt_race_self *self)
{
    struct pt_hb_stamp all = pt_hb_moment(&self->memory, &self->hb);
    pt_race_window_leave(self);
    pt_race_log_end(self);
    if (take_lane(self)) {
        pt_hb_learn(&self->memory, &self->hb, &all);
        pt_race_log_begin(self);
    }
    pt_hb_stamp_drop(&self->memory, &all);
    pt_race_changed(self);
}

struct pt_race_self *pt_race_begin(uint32_t number, struct pt_race_self *parent, const struct pt_site *site)
{
    struct pt_race_self *self = take_self();
    if (!self) {
        pt_runtime_give_up();
        return NULL;
    }
    self->number = number;
    self->memory = pt_race_memory_of(&self->pieces);
    self->env = (struct pt_cell_env){&self->memory, on_race, is_past, self, 1, !pt_race_looks.threads};
    self->version = 1;
    self->lock_set = 0;
    pt_hb_begin(&self->hb, 0);
    if (!take_lane(self))
        return NULL;
    pt_race_log_begin(self);
    pt_race_changed(self);
    if (parent) {
        pt_race_created(number, site ? pt_race_place_of(site) : UINT32_MAX, pt_race_stack_now());
        pt_hb_fork(&parent->memory, &parent->hb, &self->hb);
        pt_race_changed(parent);
    }
    pt_race_window_begin(self, parent, site);
    count_thread(number == 0);
    return self;
}

void pt_race_end(struct pt_race_self *self)
{
    pt_race_log_end(self);
    pt_race_open_end(self);
    pt_hb_stamp_drop(&self->memory, &self->hb.fence);
}

void pt_race_join(struct pt_race_self *self, struct pt_race_self *child)
{
    pt_hb_join(&self->memory, &self->hb, &child->hb);
    pt_race_changed(self);
    pt_spin_lock(&threads.lock);
    bool alone = --threads.others == 0;
    pt_spin_unlock(&threads.lock);
    if (!alone)
        return;
    pt_race_window_several(false);
    atomic_store_explicit(&threads.past_threads, atomic_load(&next_lane), memory_order_relaxed);
    atomic_store_explicit(&threads.past_alone, pt_hb_now(&self->hb), memory_order_release);
    pt_hb_tick(&self->hb);
}

void pt_race_release(struct pt_race_self *self)
{
    pt_race_window_release(self);
    pt_hb_end(&self->memory, &self->hb);
    pt_race_memory_flush(&self->pieces);
    struct pt_race_choices *choices =
        self->choices; /* the next thread goes on with this, and its window is in a list */
    size_t window = offsetof(struct pt_race_self, window), rest = window + sizeof self->window;
    memset(self, 0, window);
    memset((char *)self + rest, 0, sizeof *self - rest);
    self->choices = choices;
    pt_spin_lock(&threads.lock);
    self->next = threads.free;
    threads.free = self;
    pt_spin_unlock(&threads.lock);
}

/* ---- objects ---- */

static struct shard *shard_of(uintptr_t address)
{
    return &shards[((uint64_t)address * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - SHARD_BITS)];
}

/* Locked; made if need be. */
static struct object *lock_object(struct pt_race_self *self, uintptr_t address, struct shard **ret_shard)
{
    struct shard *shard = *ret_shard = shard_of(address);
    pt_spin_lock(&shard->lock);
    struct object *object = shard->first;
    while (object && object->address != address)
        object = object->next;
    if (!object) {
        object = self->memory.take(self->memory.context, sizeof *object);
        *object = (struct object){.address = address, .next = shard->first};
        shard->first = object;
        pt_race_note_synced(address);
    }
    return object;
}

static void forget_object(struct pt_race_self *self, uintptr_t address)
{
    struct shard *shard = shard_of(address);
    pt_spin_lock(&shard->lock);
    struct object **link = &shard->first;
    while (*link && (*link)->address != address)
        link = &(*link)->next;
    struct object *object = *link;
    if (object)
        *link = object->next;
    pt_spin_unlock(&shard->lock);
    if (!object)
        return;
    pt_hb_lock_clear(&self->memory, &object->lock);
    pt_hb_sync_clear(&self->memory, &object->other);
    self->memory.give(self->memory.context, object, sizeof *object);
}

void pt_race_sync_forget(struct pt_race_self *self, uintptr_t from, uintptr_t to)
{
    for (uintptr_t page = from & ~(uintptr_t)4095; page < to; page += 4096) {
        const struct pt_race_leaf *leaf = pt_race_leaf_of(page);
        unsigned index = pt_race_page_of(page);
        if (!leaf) {
            page = (page | ((1u << PT_RACE_LEAF_BITS) - 1)) - 4095; /* on to the next leaf */
            continue;
        }
        if (!(atomic_load_explicit(&leaf->synced[index >> 6], memory_order_relaxed) >> (index & 63) & 1))
            continue;
        uintptr_t end = page + 4096 < to ? page + 4096 : to;
        for (uintptr_t at = page > from ? page : (from + 3) & ~(uintptr_t)3; at < end; at += 4)
            forget_object(self, at);
    }
}

static void note_lock(struct pt_race_self *self, uintptr_t address, bool locks, const struct pt_site *site)
{
    self->lock_set = UINT32_MAX;
    uint32_t at = self->lock_count;
    if (locks) {
        if (at < PT_RACE_LOCKS)
            self->locks[self->lock_count++] = (struct pt_race_lock_held){.address = address, .site = site};
        return;
    }
    while (at > 0 && self->locks[at - 1].address != address)
        at--;
    if (at > 0) {
        memmove(&self->locks[at - 1], &self->locks[at], (self->lock_count - at) * sizeof *self->locks);
        self->lock_count--;
    }
}

static void apply(struct pt_race_self *self, struct object *object, enum pt_op op)
{
    const struct pt_race_memory *memory = &self->memory;
    if (pt_op_locks(op)) {
        pt_hb_lock(memory, &self->hb, &object->lock, pt_op_is_shared(op));
    } else if (pt_op_unlocks(op)) {
        pt_hb_unlock(memory, &self->hb, &object->lock, pt_op_is_shared(op));
    } else {
        if (op != PT_OP_NOTIFY)
            pt_hb_acquire(memory, &self->hb, &object->other);
        if (op == PT_OP_SYNC)
            pt_hb_sync_clear(memory, &object->other); /* what it had is in what is put in now */
        if (op != PT_OP_WAIT)
            pt_hb_release(memory, &self->hb, &object->other);
    }
}

/* The number of what the thread has just locked is at hand where it was locked at this place the last time. */
static void number_lock(struct pt_race_self *self, struct object *object)
{
    struct pt_race_lock_held *lock = self->lock_count ? &self->locks[self->lock_count - 1] : NULL;
    if (!lock || lock->address != object->address || lock->number)
        return;
    if (object->held.site != lock->site || !object->held.number) {
        object->held = *lock;
        object->held.number = pt_race_held_number(lock);
    }
    lock->number = object->held.number;
}

static void sync_as(struct pt_race_self *self, uintptr_t address, enum pt_op op)
{
    struct shard *shard;
    struct object *object = lock_object(self, address, &shard);
    if (pt_op_locks(op))
        number_lock(self, object);
    apply(self, object, op);
    pt_spin_unlock(&shard->lock);
    pt_race_changed(self);
}

void pt_race_sync(struct pt_race_self *self, uintptr_t address, unsigned kind, const struct pt_site *site)
{
    enum pt_op op = pt_kind_op(kind);
    bool sampled = pt_race_is_sampled();
    if (sampled && !pt_race_window_sync(self, !pt_op_unlocks(op) && op != PT_OP_NOTIFY, site))
        return;
    if (pt_op_locks(op) || pt_op_unlocks(op))
        note_lock(self, address, pt_op_locks(op), site);
    if (sampled || pt_is_racing()) /* what has closed the window is followed as well */
        sync_as(self, address, op);
    else
        pt_race_changed(self);
}

void pt_race_publish(struct pt_race_self *self, uintptr_t address)
{
    sync_as(self, address, PT_OP_NOTIFY);
}

void pt_race_take(struct pt_race_self *self, uintptr_t address)
{
    if (pt_race_is_sampled())
        pt_race_window_sync(self, true, NULL); /* it is taken in any case */
    sync_as(self, address, PT_OP_WAIT);
}

void pt_race_fence(struct pt_race_self *self, unsigned order)
{
    if (pt_race_is_sampled() && !pt_race_window_sync(self, pt_hb_acquires((enum pt_hb_order)order), NULL))
        return;
    pt_hb_fence(&self->memory, &self->hb, (enum pt_hb_order)order);
    pt_race_changed(self);
}

unsigned pt_race_order(int order)
{
    static const uint8_t orders[] = {
        [__ATOMIC_RELAXED] = PT_HB_RELAXED, [__ATOMIC_CONSUME] = PT_HB_ACQUIRE, [__ATOMIC_ACQUIRE] = PT_HB_ACQUIRE,
        [__ATOMIC_RELEASE] = PT_HB_RELEASE, [__ATOMIC_ACQ_REL] = PT_HB_ACQ_REL, [__ATOMIC_SEQ_CST] = PT_HB_SEQ_CST,
    };
    return order >= 0 && (size_t)order < sizeof orders ? orders[order] : PT_HB_SEQ_CST;
}

/* ---- the layer ---- */

bool pt_race_start(void)
{
    pt_race_choose_start();
    return pt_race_memory_start() && pt_race_shadow_start() && pt_race_sync_start() && pt_race_note_start() &&
           pt_race_report_start() && pt_race_block_start() && pt_race_log_start();
}

void pt_race_restart(void)
{
    pt_race_memory_restart();
    pt_race_shadow_restart();
    pt_race_sync_restart();
    pt_race_choose_start();
    pt_race_note_restart();
    pt_race_report_restart();
    pt_race_block_restart();
    pt_race_log_restart();
    atomic_store(&next_lane, 0);
}
