/*
 * Buffers on their way from the threads to the writer. A thread writes into its own without any lock; full ones stand
 * in a queue, and the writer also takes what is in the others from time to time, so that little is lost when the
 * program is killed.
 *
 * Guarantee: no byte is lost or taken twice; at most QUEUED buffers wait to be written, and who makes more waits for
 * the writer. Cost: a lock for each 64 KiB of a log.
 */
#include <string.h>

#include "runtime/explore/explore.h"
#include "runtime/record/impl.h"
#include "runtime/record/stamp.h"
#include "runtime/sys/runtime.h"

enum { QUEUED = 256, MOST_BITS = 17, LEAST_BITS = 5, ROOM_FOR = 4 };

_Atomic uint32_t pt_record_work;

static struct {
    struct pt_spin lock;
    struct pt_rec_live *file;
    struct pt_record_buffer *all;                 /* a table; those below `count` have been in use */
    struct pt_record_coder *coders, *free_coders; /* a table, too; those below `coder_count` have been in use */
    uint32_t count, most, coder_count, coder_most;
    uint32_t roomy;   /* as many have room on the disk, or need none */
    const char *live; /* the name of their file; NULL: there is none */
    uint32_t defined; /* buffers of definitions so far */
    struct pt_record_buffer *free;
    struct pt_record_buffer *first, *last; /* the queue */
    struct pt_record_buffer *definitions;  /* that are being gathered; changed under both locks, see define.c */
    _Atomic uint32_t queued;               /* futex: falls when the writer has written one */
    atomic_bool closed;
} buffers = {.lock = PT_SPIN(PT_RANK_RECORD)};

/* Where address space or the size of files is limited there are fewer: then fewer threads can be recorded at a time. */
static char *map_buffers(const char *path)
{
    unsigned most = MOST_BITS;
    char *at = NULL;
    while (most > LEAST_BITS &&
           pt_sys_is_much(PT_REC_LIVE_FIRST + ((sizeof *buffers.all + sizeof *buffers.coders) << most)))
        most -= 2;
    for (unsigned bits = most; bits >= LEAST_BITS && !at && path; bits -= 2) {
        buffers.most = 1u << bits;
        at = pt_sys_map_new(path, PT_REC_LIVE_FIRST + (sizeof *buffers.all << bits));
    }
    if (at && pt_sys_make_room(path, 0, PT_REC_LIVE_FIRST))
        return at;
    if (at) {
        pt_sys_release(at, PT_REC_LIVE_FIRST + sizeof *buffers.all * buffers.most);
        pt_sys_unlink(path);
        at = NULL;
    }
    buffers.live = NULL;
    for (unsigned bits = most; bits >= LEAST_BITS && !at; bits -= 2) {
        buffers.most = 1u << bits;
        at = pt_sys_reserve_table(PT_REC_LIVE_FIRST + (sizeof *buffers.all << bits));
    }
    return at;
}

/* As many as there may be buffers, or as address space lets there be. A child has its parent's. */
static bool make_coders(void)
{
    for (uint32_t most = buffers.most; buffers.coder_most < most && most >> LEAST_BITS; most >>= 2) {
        buffers.coders = pt_sys_reserve_table(sizeof *buffers.coders * most);
        buffers.coder_most = buffers.coders ? most : 0;
    }
    buffers.most = buffers.most < buffers.coder_most ? buffers.most : buffers.coder_most;
    buffers.coder_count = 0;
    buffers.free_coders = NULL;
    return buffers.coder_most;
}

bool pt_record_start_buffers(const char *path)
{
    _Static_assert(sizeof *buffers.file <= PT_REC_LIVE_FIRST, "it stands before the buffers");
    buffers.live = path;
    char *at = map_buffers(path);
    if (!at || !make_coders())
        return false;
    pt_spin_reset(&buffers.lock); /* a child has its parent's, whatever state that was in */
    buffers.count = buffers.defined = 0;
    buffers.roomy = buffers.live ? 0 : buffers.most;
    buffers.free = buffers.first = buffers.last = buffers.definitions = NULL;
    atomic_store(&buffers.queued, 0);
    atomic_store(&buffers.closed, false);
    buffers.file = (struct pt_rec_live *)at;
    buffers.all = (struct pt_record_buffer *)(at + PT_REC_LIVE_FIRST);
    buffers.file->stride = sizeof *buffers.all;
    memcpy(buffers.file->magic, PT_REC_LIVE_MAGIC, PT_REC_MAGIC_LEN);
    return true;
}

/* A write to a page of the mapped file for which the disk has no room would kill the program. So there is room before a
 * buffer is used; where there is none, the buffers from there on are memory alone, and the file, which would be half of
 * the truth, goes. False: they cannot be used. */
static bool has_room(void)
{
    if (buffers.count < buffers.roomy)
        return true;
    uint32_t from = buffers.count, count = buffers.most - from < ROOM_FOR ? buffers.most - from : ROOM_FOR;
    if (pt_sys_make_room(buffers.live, PT_REC_LIVE_FIRST + (uint64_t)from * sizeof *buffers.all,
                         (uint64_t)count * sizeof *buffers.all)) {
        buffers.roomy = from + count;
        return true;
    }
    pt_sys_unlink(buffers.live);
    buffers.roomy = buffers.most;
    return pt_sys_make_private(&buffers.all[from], (buffers.most - from) * sizeof *buffers.all);
}

static void wake_writer(void)
{
    atomic_fetch_add_explicit(&pt_record_work, 1, memory_order_release);
    pt_sys_wake(&pt_record_work);
}

static void enqueue(struct pt_record_buffer *buffer)
{
    pt_spin_lock(&buffers.lock);
    buffer->owner = NULL;
    buffer->next = NULL;
    if (buffers.definitions == buffer)
        buffers.definitions = NULL;
    if (buffers.last)
        buffers.last->next = buffer;
    else
        buffers.first = buffer;
    buffers.last = buffer;
    atomic_fetch_add_explicit(&buffers.queued, 1, memory_order_relaxed);
    pt_spin_unlock(&buffers.lock);
    wake_writer();
}

static bool is_closed(void)
{
    return atomic_load_explicit(&buffers.closed, memory_order_relaxed);
}

/* Where there are few, half of them are for who writes. */
static uint32_t most_queued(void)
{
    return buffers.most / 2 < QUEUED ? buffers.most / 2 : QUEUED;
}

static void await_room(void)
{
    const uint64_t patience = 100 * 1000 * 1000;
    uint32_t queued;
    const uint32_t most = most_queued();
    while (!is_closed() && (queued = atomic_load_explicit(&buffers.queued, memory_order_relaxed)) >= most) {
        pt_explore_holds(true);
        pt_sys_wait(&buffers.queued, queued, patience);
        pt_explore_holds(false);
    }
}

/* Without an owner it is for definitions. NULL: nothing is recorded any more. */
static struct pt_record_buffer *take_empty(struct pt_record_self *owner, enum pt_rec_kind kind)
{
    await_room();
    pt_spin_lock(&buffers.lock);
    struct pt_record_buffer *buffer = is_closed() ? NULL : buffers.free;
    if (buffer)
        buffers.free = buffer->next;
    else if (!is_closed() && buffers.count < buffers.most && has_room())
        buffer = &buffers.all[buffers.count++];
    if (buffer) {
        atomic_store_explicit(&buffers.file->count, buffers.count, memory_order_relaxed);
        buffer->live.taken = buffer->live.taken_events = 0;
        atomic_store_explicit(&buffer->live.used, 0, memory_order_relaxed);
        atomic_store_explicit(&buffer->live.events, 0, memory_order_relaxed);
        atomic_store_explicit(&buffer->live.cut, 0, memory_order_relaxed);
        buffer->owner = owner;
        buffer->live.kind = kind;
        buffer->live.thread = owner ? owner->thread : 0;
        buffer->live.piece = owner ? owner->pieces++ : buffers.defined++;
        buffer->live.stamp = owner ? owner->stamp : 0;
        /* release: who reads the file of a killed process finds the above when it finds this */
        atomic_store_explicit(&buffer->live.in_use, 1, memory_order_release);
    }
    if (!owner)
        buffers.definitions = buffer;
    pt_spin_unlock(&buffers.lock);
    return buffer;
}

static void hand_over(struct pt_record_self *self)
{
    if (self->buffer) {
        self->buffer->until = self->stamp;
        enqueue(self->buffer);
    }
    self->buffer = NULL;
}

/* A thread that has a buffer has one of these: there are as many. */
static struct pt_record_coder *take_coder(void)
{
    pt_spin_lock(&buffers.lock);
    struct pt_record_coder *coder = buffers.free_coders;
    if (coder)
        buffers.free_coders = coder->next;
    else if (buffers.coder_count < buffers.coder_most)
        coder = &buffers.coders[buffers.coder_count++];
    pt_spin_unlock(&buffers.lock);
    return coder;
}

static void give_coder(struct pt_record_self *self)
{
    struct pt_record_coder *coder = self->coder;
    self->coder = NULL;
    self->last = NULL;
    if (!coder)
        return;
    pt_spin_lock(&buffers.lock);
    coder->next = buffers.free_coders;
    buffers.free_coders = coder;
    pt_spin_unlock(&buffers.lock);
}

static void forget_shapes(struct pt_record_self *self)
{
    self->last = NULL;
    self->shape_count = self->last_stack = 0;
    self->address = 0;
    memset(self->coder->slots, 0, sizeof self->coder->slots);
}

bool pt_record_next_buffer(struct pt_record_self *self)
{
    bool goes_on = self->last && pt_record_remembers && self->shape_count < PT_REC_SHAPES;
    hand_over(self);
    if (!self->coder)
        self->coder = take_coder();
    struct pt_record_buffer *buffer = self->coder ? take_empty(self, goes_on ? PT_REC_MORE : PT_REC_EVENTS) : NULL;
    if (!buffer && !is_closed())
        pt_runtime_stop("more threads at a time than recordings have buffers for");
    if (!buffer) {
        give_coder(self);
        return false;
    }
    buffer->raw = 0;
    if (!goes_on)
        forget_shapes(self);
    self->buffer = buffer;
    return true;
}

void pt_record_give_buffer(struct pt_record_self *self)
{
    hand_over(self);
    give_coder(self);
}

/* Nobody owns it, so the writer does not wait for anybody on its account. */
void pt_record_define(const struct pt_record *record)
{
    struct pt_record_buffer *buffer = buffers.definitions;
    uint32_t used = buffer ? atomic_load_explicit(&buffer->live.used, memory_order_relaxed) : PT_REC_PIECE;
    if (used + record->bytes > PT_REC_PIECE) {
        if (buffer)
            enqueue(buffer);
        buffer = take_empty(NULL, PT_REC_DEFS);
        if (!buffer)
            return;
        used = 0;
    }
    memcpy(buffer->bytes + used, record, record->bytes);
    /* release: partner of the acquire in take_rest */
    atomic_store_explicit(&buffer->live.used, used + record->bytes, memory_order_release);
}

struct pt_record_buffer *pt_record_take_full(void)
{
    pt_spin_lock(&buffers.lock);
    struct pt_record_buffer *buffer = buffers.first;
    if (buffer)
        buffers.first = buffer->next;
    if (buffer && !buffers.first)
        buffers.last = NULL;
    pt_spin_unlock(&buffers.lock);
    return buffer;
}

void pt_record_give_back(struct pt_record_buffer *buffer)
{
    pt_spin_lock(&buffers.lock);
    atomic_store_explicit(&buffer->live.in_use, 0, memory_order_release);
    atomic_store_explicit(&buffer->live.used, 0, memory_order_relaxed);
    buffer->next = buffers.free;
    buffers.free = buffer;
    const uint32_t most = most_queued();
    bool crowded = atomic_fetch_sub_explicit(&buffers.queued, 1, memory_order_relaxed) >= most;
    pt_spin_unlock(&buffers.lock);
    if (crowded)
        pt_sys_wake_all(&buffers.queued);
}

static bool copy_rest(struct pt_record_buffer *buffer, struct pt_record_buffer *copy)
{
    /* acquire: partner of the release by which an event or a definition is published */
    uint32_t used = atomic_load_explicit(&buffer->live.used, memory_order_acquire), taken = buffer->live.taken;
    bool held = buffer->owner || buffer == buffers.definitions;
    if (!held || used <= taken)
        return false;
    copy->live.kind = buffer->live.kind;
    copy->live.thread = buffer->live.thread;
    copy->live.piece = buffer->live.piece;
    copy->live.stamp = buffer->live.stamp;
    copy->until = pt_stamp_now() + PT_STAMP_AHEAD;
    copy->live.taken = taken;
    copy->live.taken_events = buffer->live.taken_events;
    copy->live.events = atomic_load_explicit(&buffer->live.events, memory_order_relaxed);
    memcpy(copy->bytes + taken, buffer->bytes + taken, used - taken);
    atomic_store_explicit(&copy->live.used, used, memory_order_relaxed);
    return true;
}

struct pt_record_buffer *pt_record_take_definitions(struct pt_record_buffer *ret_copy)
{
    pt_spin_lock(&buffers.lock);
    struct pt_record_buffer *from = buffers.definitions;
    bool any = from && copy_rest(from, ret_copy);
    pt_spin_unlock(&buffers.lock);
    return any ? from : NULL;
}

struct pt_record_buffer *pt_record_take_rest(uint32_t *at, struct pt_record_buffer *ret_copy)
{
    struct pt_record_buffer *from = NULL;
    pt_spin_lock(&buffers.lock);
    while (!from && *at < buffers.count) {
        struct pt_record_buffer *buffer = &buffers.all[(*at)++];
        if (copy_rest(buffer, ret_copy))
            from = buffer;
    }
    pt_spin_unlock(&buffers.lock);
    if (!from)
        *at = 0;
    return from;
}

/* It may be in the queue by now; only the writer takes it from there, so it is still the same piece. */
void pt_record_took(struct pt_record_buffer *buffer, const struct pt_record_buffer *copy)
{
    buffer->live.taken = atomic_load_explicit(&copy->live.used, memory_order_relaxed);
    buffer->live.taken_events = copy->live.events;
    atomic_store_explicit(&buffer->live.cut, 1, memory_order_relaxed);
}

/* What it says while it makes an event, in either way: two counts, odd while it does. */
#define BUSY (UINT64_C(1) << 32 | 1)
static uint64_t busy_of(const struct pt_record_self *owner)
{
    /* acquire: partner of the release when an event is done */
    uint32_t busy = (uint32_t)atomic_load_explicit(&owner->busy, memory_order_acquire);
    const struct pt_shadow_self *shadow = __atomic_load_n(&owner->shadow, __ATOMIC_ACQUIRE);
    uint32_t owning = shadow ? atomic_load_explicit(&shadow->owning, memory_order_acquire) : 0;
    return (uint64_t)owning << 32 | busy;
}

bool pt_record_has_busy(bool first)
{
    bool any = false;
    pt_spin_lock(&buffers.lock);
    for (uint32_t i = 0; i < buffers.count; i++) {
        struct pt_record_buffer *buffer = &buffers.all[i];
        uint64_t busy = buffer->owner ? busy_of(buffer->owner) : 0;
        if (first)
            buffer->seen = busy & BUSY ? busy : 0;
        any |= buffer->seen && buffer->seen == busy;
    }
    pt_spin_unlock(&buffers.lock);
    return any;
}

void pt_record_close_buffers(void)
{
    atomic_store(&buffers.closed, true);
    pt_sys_wake_all(&buffers.queued);
}
