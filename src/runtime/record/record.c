/*
 * An event into the buffer of its thread (core/recording.h): shape, address, value, stack and stamp, each as the
 * difference to what is expected.
 *
 * Guarantee: stamp.h has the order; an event is in the buffer as a whole or not at all, for the writer too. Cost: no
 * lock and no memory that others write, but for the words of stamps; two to four bytes for most events.
 */
#include "runtime/record/record.h"

#include "core/hash.h"
#include "runtime/explore/explore.h"
#include "runtime/record/impl.h"
#include "runtime/record/stamp.h"
#include "runtime/shadow/watch.h"
#include "runtime/sys/runtime.h"

/* An event, before it is coded. */
struct event {
    uint64_t what; /* pt_shadow_what; the size is that of an access */
    const struct pt_site *site;
    uint64_t address; /* or the number of its object */
    uint64_t value;
    const void *raw; /* where pt_rec_raw_bytes says that there is some */
};

static inline enum pt_event_kind kind_of(uint64_t what)
{
    return (enum pt_event_kind)(uint8_t)what;
}

static inline uint32_t size_of(uint64_t what)
{
    return (uint32_t)(what >> 32);
}

static bool has_part;

size_t pt_record_part(void)
{
    has_part = pt_record_on;
    return has_part ? sizeof(struct pt_record_self) : 0;
}

/* What lies beside threads is decided once in the life of a process and its copies. */
bool pt_record_restart(void)
{
    return !has_part || pt_record_start();
}

/* The writer may have to make room. */
static __attribute__((noinline)) bool take_room(struct pt_thread *thread)
{
    struct pt_record_self *self = thread->record;
    self->thread = pt_thread_number(thread);
    if (self->thread >= PT_STAMP_THREADS) {
        pt_runtime_stop("more threads than recordings have numbers for");
        return false;
    }
    pt_own_begin(thread);
    return pt_record_next_buffer(self);
}

/* Whether there is room for one more event, of a shape that is known, and the piece is to go on. */
static inline bool has_room(const struct pt_record_buffer *buffer)
{
    return atomic_load_explicit(&buffer->live.used, memory_order_relaxed) <= PT_REC_PIECE - PT_REC_EVENT_MOST &&
           !atomic_load_explicit(&buffer->live.cut, memory_order_relaxed);
}

/* Makes room for any. */
static inline bool prepare(struct pt_thread *thread)
{
    const struct pt_record_buffer *buffer = thread->record->buffer;
    return __builtin_expect(buffer && has_room(buffer) && thread->record->shape_count < PT_REC_SHAPES, 1) ||
           take_room(thread);
}

/* From here on the writer knows that an event is under way whose time may be past. */
static void begin(struct pt_record_self *self)
{
    uint64_t busy = atomic_load_explicit(&self->busy, memory_order_relaxed);
    atomic_store_explicit(&self->busy, busy + 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
}

static void end(struct pt_record_self *self)
{
    uint64_t busy = atomic_load_explicit(&self->busy, memory_order_relaxed);
    /* release: partner of the acquire in pt_record_has_busy */
    atomic_store_explicit(&self->busy, busy + 1, memory_order_release);
}

static bool is_shape(const struct pt_record_shape *shape, const struct event *event)
{
    return shape->site == event->site && shape->what == event->what;
}

/* The shape, and its part of the tag. A new one is put down at `to`. */
static __attribute__((noinline)) unsigned find_shape(struct pt_record_self *self, const struct event *event,
                                                     struct pt_record_shape **ret_shape, uint8_t **to)
{
    struct pt_record_coder *coder = self->coder;
    uint64_t hash = pt_mix64((uintptr_t)event->site + kind_of(event->what) + ((uint64_t)size_of(event->what) << 40));
    uint32_t slot = (uint32_t)hash % PT_RECORD_SLOTS;
    for (; coder->slots[slot]; slot = (slot + 1) % PT_RECORD_SLOTS) {
        uint32_t number = coder->slots[slot] - 1u;
        if (!is_shape(&coder->shapes[number], event))
            continue;
        *ret_shape = &coder->shapes[number];
        *to = pt_rec_put(*to, number);
        return PT_REC_SHAPE_KNOWN;
    }
    uint32_t number = self->shape_count++;
    coder->slots[slot] = (uint16_t)(number + 1);
    coder->shapes[number] = (struct pt_record_shape){.known = {.address = self->address},
                                                     .site = event->site,
                                                     .what = event->what,
                                                     .next = coder->shapes,
                                                     .other = coder->shapes};
    *ret_shape = &coder->shapes[number];
    *to = pt_rec_put(*to, pt_record_site_number(self, event->site));
    *(*to)++ = (uint8_t)event->what;
    *(*to)++ = (uint8_t)(event->what >> 8);
    *(*to)++ = (uint8_t)(event->what >> 16);
    *to = pt_rec_put(*to, size_of(event->what));
    return PT_REC_SHAPE_NEW;
}

#define INLINE static inline __attribute__((always_inline))

static unsigned choose_shape(struct pt_record_self *self, const struct event *event, struct pt_record_shape **ret_shape,
                             uint8_t **to)
{
    struct pt_record_shape *last = self->last;
    if (!last || !is_shape(last->next, event))
        return find_shape(self, event, ret_shape, to);
    *ret_shape = last->next;
    return PT_REC_SHAPE_NEXT;
}

/* From now on it is the one that follows the shape before it. */
INLINE void follow_shape(struct pt_record_self *self, struct pt_record_shape *shape)
{
    struct pt_record_shape *last = self->last;
    if (last && __builtin_expect(last->next != shape, 0)) {
        last->other = last->next;
        last->next = shape;
    }
    self->last = shape;
}

/* `before`: the address of the event before. */
INLINE unsigned put_address(struct pt_rec_shape *shape, uint64_t before, uint64_t address, uint8_t **to)
{
    uint64_t stride = address - shape->address;
    shape->address = address;
    if (stride == shape->stride)
        return PT_REC_ADDRESS;
    shape->stride = stride;
    uint64_t own = pt_rec_fold(stride), near = pt_rec_fold(address - before);
    *to = pt_rec_put(*to, own <= near ? own << 1 : near << 1 | 1);
    return 0;
}

/* Whether nobody else is at the granule: its lock is taken, or its page is the thread's own. */
INLINE bool is_alone(const struct pt_record_self *self, const struct pt_stamp_leaf *leaf, uintptr_t in)
{
    /* acquire: partner of the release when the page has changed hands */
    uint32_t of =
        atomic_load_explicit(&leaf->pages[in >> PT_STAMP_PAGE_BITS].state, memory_order_acquire) >> PT_OWNED_STATE_AT;
    return of == PT_OWNED_BY + self->thread || of == PT_OWNED_SHARED;
}

/* The reader has both the shape's and the granule's value, in the same order, if only those who are alone with the
 * granule change the latter. Who reads it beside others does not: where their events stand nobody knows here, but what
 * the granule had when the page came to be read stands before all of them. */
INLINE unsigned put_value(const struct pt_record_self *self, struct pt_rec_shape *shape, uint64_t what,
                          uint64_t address, uint64_t value, uint8_t **to)
{
    unsigned bits = 0;
    struct pt_stamp_leaf *leaf;
    if (value == shape->value)
        return PT_REC_VALUE;
    if (pt_rec_is_kept(kind_of(what), address, size_of(what), value) && pt_record_remembers &&
        (leaf = pt_stamp_leaf_at(address))) {
        uintptr_t in = address & ((1u << PT_STAMP_LEAF_BITS) - 1);
        if (atomic_load_explicit(&leaf->values[in >> 3], memory_order_relaxed) == value)
            return PT_REC_MEMORY;
        if (__builtin_expect(is_alone(self, leaf, in), 1))
            atomic_store_explicit(&leaf->values[in >> 3], value, memory_order_relaxed);
        else
            bits = PT_REC_VALUE | PT_REC_MEMORY;
    }
    *to = pt_rec_put(*to, pt_rec_fold(value - shape->value));
    shape->value = value;
    return bits;
}

INLINE unsigned put_stack(struct pt_record_self *self, struct pt_rec_shape *shape, uint32_t stack, uint8_t **to)
{
    unsigned way = PT_REC_STACK_LAST;
    if (__builtin_expect(stack == shape->stack, 1)) {
        self->last_stack = stack;
        return PT_REC_STACK_SHAPE << PT_REC_STACK_AT;
    }
    if (stack != self->last_stack) {
        *to = pt_rec_put(*to, stack);
        way = PT_REC_STACK_OTHER;
    }
    shape->stack = self->last_stack = stack;
    return way << PT_REC_STACK_AT;
}

/* Under control one thread runs at a time: what it does comes after all that was done before, whether it depends on
 * that or not. So the recording has the order of the run itself. */
static uint64_t in_turn(uint32_t thread, uint64_t stamp)
{
    static _Atomic uint64_t last;
    static _Atomic uint32_t last_thread;
    uint64_t least = atomic_load_explicit(&last, memory_order_relaxed);
    least += atomic_load_explicit(&last_thread, memory_order_relaxed) != thread;
    if (stamp < least)
        stamp = least;
    atomic_store_explicit(&last, stamp, memory_order_relaxed);
    atomic_store_explicit(&last_thread, thread, memory_order_relaxed);
    return stamp;
}

/* The stamp, and the end of an event that is complete but for that and for `raw` bytes. */
INLINE void put_end(struct pt_record_self *self, struct pt_record_buffer *buffer, uint64_t address, uint64_t stamp,
                    uint8_t *tag, uint8_t *to, unsigned bits, const void *from, uint32_t raw)
{
    if (stamp != self->stamp) {
        to = pt_rec_put(to, stamp - self->stamp);
        bits |= PT_REC_STAMP;
        self->stamp = stamp;
    }
    if (raw)
        memcpy(to, from, raw);
    *tag = (uint8_t)bits;
    self->address = address;
    uint32_t events = atomic_load_explicit(&buffer->live.events, memory_order_relaxed);
    atomic_store_explicit(&buffer->live.events, events + 1, memory_order_relaxed);
    /* release: partner of the acquire when the writer takes the rest of a buffer */
    atomic_store_explicit(&buffer->live.used, (uint32_t)(to + raw - buffer->bytes), memory_order_release);
}

/* Whether these are the bytes that the piece has of the latest event with such: what was read is written by a copy. */
static bool repeats(const struct pt_record_buffer *buffer, const void *bytes, uint32_t raw)
{
    return raw == buffer->raw && memcmp(buffer->bytes + buffer->raw_at, bytes, raw) == 0;
}

static void put(struct pt_record_self *self, const struct event *event, uint32_t stack, uint64_t stamp)
{
    enum pt_event_kind kind = kind_of(event->what);
    uint32_t size = size_of(event->what);
    struct pt_record_buffer *buffer = self->buffer;
    struct pt_record_shape *shape;
    uint8_t *tag = buffer->bytes + atomic_load_explicit(&buffer->live.used, memory_order_relaxed), *to = tag + 1;
    if (__builtin_expect(pt_explore_on, 0))
        stamp = in_turn(self->thread, stamp);
    unsigned bits = choose_shape(self, event, &shape, &to);
    follow_shape(self, shape);
    bits |= put_address(&shape->known, self->address, event->address, &to);
    if (pt_rec_has_value(kind, size))
        bits |= put_value(self, &shape->known, event->what, event->address, event->value, &to);
    bits |= put_stack(self, &shape->known, stack, &to);
    uint32_t raw = pt_rec_raw_bytes(kind, size);
    if (raw && repeats(buffer, event->raw, raw)) {
        bits |= PT_REC_VALUE;
        raw = 0;
    }
    put_end(self, buffer, event->address, stamp, tag, to, bits, event->raw, raw);
    if (raw) {
        buffer->raw_at = atomic_load_explicit(&buffer->live.used, memory_order_relaxed) - raw;
        buffer->raw = raw;
    }
}

/* The order and such of what is under way, as core/channel.h has it in marks. */
static unsigned marks_of(const struct pt_thread *self, enum pt_event_kind kind)
{
    const struct pt_locked_range *range = self->shadow.locked;
    if (!range || !pt_op_may_be_ordered(pt_kind_op(kind)) || (range->sync && range->sync != (uint16_t)kind))
        return 0;
    return (unsigned)range->order << PT_MARK_ORDER | (range->stores ? PT_MARK_STORE : 0);
}

static inline bool crosses(uintptr_t address, uint32_t size)
{
    return (address & 7) + size > 8;
}

static bool is_near_named(uintptr_t address, size_t size)
{
    return size > (size_t)1 << PT_STAMP_LEAF_BITS || pt_stamp_is_named(pt_stamp_leaf_at(address)) ||
           pt_stamp_is_named(pt_stamp_leaf_at(address + size - 1));
}

static void note_new(uintptr_t address, size_t size, bool known)
{
    for (uintptr_t at = address & ~(uintptr_t)7; at < address + size; at += 8)
        if (__builtin_expect(pt_stamp_is_new(at), 0))
            pt_record_define_initial(at, known);
}

/* What is about memory of any size, which is locked. `known`: its first value is what is there now. */
static void put_touching(struct pt_thread *thread, const struct event *event, bool known, bool timed)
{
    struct pt_record_self *self = thread->record;
    uint32_t size = size_of(event->what);
    bool named = is_near_named(event->address, size);
    if (!prepare(thread))
        return;
    uint32_t stack = pt_record_stack_number(self);
    if (named)
        note_new(event->address, size, known);
    begin(self);
    uint64_t stamp = pt_stamp_touch(self->thread, self->stamp, event->address, size, timed);
    put(self, event, stack, stamp);
    end(self);
}

/* Of any size. */
static void put_access(struct pt_thread *thread, const struct event *event)
{
    bool reads = kind_of(event->what) == PT_KIND_READ_AT;
    put_touching(thread, event, reads, !reads && is_near_named(event->address, size_of(event->what)));
}

/* Of at most 8 bytes, whatever may be new about it. */
static __attribute__((noinline)) void put_small(struct pt_shadow_self *shadow, uint64_t what,
                                                const struct pt_site *site, uintptr_t address, uint64_t value)
{
    const struct event event = {.what = what, .site = site, .address = address, .value = value};
    put_access(pt_thread_of(shadow), &event);
}

/* The thread is in other calls than at the event before; the number of those is known when they are marked. */
static __attribute__((noinline)) void put_small_elsewhere(struct pt_shadow_self *shadow, uint64_t what,
                                                          const struct pt_site *site, uintptr_t address, uint64_t value)
{
    struct pt_record_self *self = pt_thread_of(shadow)->record;
    (void)pt_record_find_stack(self);
    (self->marks == PT_RECORD_MARKED ? pt_record_small : put_small)(shadow, what, site, address, value);
}

/* The shape that is expected, or the other one; its part of the tag, and its number if need be. NULL: it is neither. */
INLINE struct pt_record_shape *expect_shape(struct pt_record_self *self, uint64_t what, const struct pt_site *site,
                                            unsigned *ret_bits, uint8_t **to)
{
    struct pt_record_shape *last = self->last, *shape = last->next;
    *ret_bits = PT_REC_SHAPE_NEXT;
    if (__builtin_expect(shape->site == site && shape->what == what, 1))
        return shape;
    shape = last->other;
    if (shape->site != site || shape->what != what)
        return NULL;
    *ret_bits = PT_REC_SHAPE_KNOWN;
    *to = pt_rec_put(*to, (uint64_t)(shape - self->coder->shapes));
    return shape;
}

/* Whether the fast path is for the granule: its word may be there, or has no name and needs no more than to be. */
INLINE bool is_usual(struct pt_stamp_leaf *leaf, uintptr_t in, bool named)
{
    if (__builtin_expect(atomic_load_explicit(&leaf->words[in >> 3], memory_order_relaxed) != 0, 1))
        return true;
    atomic_store_explicit(&leaf->used[in >> PT_STAMP_PAGE_BITS], 1, memory_order_relaxed);
    return !named;
}

/* Nearly all events are of a shape that is expected, where the thread was at the event before, of memory that was
 * touched before: this is all of it for those. What is unusual is left to others at the end of all, so that next to
 * nothing has to be kept for a call. */
void pt_record_small(struct pt_shadow_self *shadow, uint64_t what, const struct pt_site *site, uintptr_t address,
                     uint64_t value)
{
    struct pt_record_self *self = pt_thread_of(shadow)->record;
    struct pt_record_buffer *buffer = self->buffer;
    struct pt_stamp_leaf *leaf = pt_stamp_leaf_at(address);
    struct pt_record_shape *shape;
    uintptr_t in = address & ((1u << PT_STAMP_LEAF_BITS) - 1);
    unsigned bits;
    if (__builtin_expect(!self->last || !leaf || !has_room(buffer) || pt_explore_on, 0))
        goto unusual;
    if (__builtin_expect(!pt_record_stack_is_same(self), 0)) {
        put_small_elsewhere(shadow, what, site, address, value);
        return;
    }
    uintptr_t last = in + size_of(what) - 1;
    bool named = pt_stamp_is_named(leaf), pair = crosses(address, size_of(what));
    if (!is_usual(leaf, in, named) ||
        (__builtin_expect(pair, 0) && (last >> PT_STAMP_LEAF_BITS || !is_usual(leaf, last, named))))
        goto unusual;
    uint8_t *tag = buffer->bytes + atomic_load_explicit(&buffer->live.used, memory_order_relaxed), *to = tag + 1;
    shape = expect_shape(self, what, site, &bits, &to);
    if (__builtin_expect(!shape, 0))
        goto unusual;
    begin(self);
    bool timed = named && kind_of(what) != PT_KIND_READ_AT;
    uint64_t stamp = __builtin_expect(pair, 0)
                         ? pt_stamp_touch(self->thread, self->stamp, address, size_of(what), timed)
                         : pt_stamp_touch_in(leaf, self->thread, self->stamp, address, timed);
    follow_shape(self, shape);
    bits |= put_address(&shape->known, self->address, address, &to);
    bits |= put_value(self, &shape->known, what, address, value, &to);
    bits |= put_stack(self, &shape->known, self->stack, &to);
    put_end(self, buffer, address, stamp, tag, to, bits, NULL, 0);
    end(self);
    return;
unusual:
    put_small(shadow, what, site, address, value);
}

/* The event as a whole, whatever may be new about it. That one is under way says `owning`; the page stays as it is
 * meanwhile. */
static __attribute__((noinline)) void put_owned(struct pt_thread *thread, const struct event *event,
                                                const struct pt_owned_page *page, const struct pt_owned_page *last)
{
    struct pt_record_self *self = thread->record;
    if (!prepare(thread))
        return;
    uint32_t stack = pt_record_stack_number(self);
    uint64_t stamp = pt_stamp_highest(pt_stamp_touch_owned(page, self->stamp), pt_stamp_floor(last));
    put(self, event, stack, stamp);
}

void pt_record_owned_piece(struct pt_shadow_self *shadow, enum pt_event_kind kind, const struct pt_site *site,
                           uintptr_t address, size_t size)
{
    struct event event = {
        .what = pt_shadow_what(kind, 0, size), .site = site, .address = address, .raw = (const void *)address};
    if (size <= sizeof event.value)
        memcpy(&event.value, (const void *)address, size);
    put_owned(pt_thread_of(shadow), &event, pt_owned_page_at(address), pt_owned_page_at(address + size - 1));
}

static __attribute__((noinline)) void put_owned_small(struct pt_shadow_self *shadow, uint64_t what,
                                                      const struct pt_site *site, uintptr_t address, uint64_t value,
                                                      const struct pt_owned_page *page)
{
    const struct event event = {.what = what, .site = site, .address = address, .value = value};
    put_owned(pt_thread_of(shadow), &event, page, page);
}

static __attribute__((noinline)) void put_owned_elsewhere(struct pt_shadow_self *shadow, uint64_t what,
                                                          const struct pt_site *site, uintptr_t address, uint64_t value,
                                                          const struct pt_owned_page *page)
{
    struct pt_record_self *self = pt_thread_of(shadow)->record;
    (void)pt_record_find_stack(self);
    (self->marks == PT_RECORD_MARKED ? pt_record_owned : put_owned_small)(shadow, what, site, address, value, page);
}

/* As pt_record_small; no granule has a word here, and none has a name. */
void pt_record_owned(struct pt_shadow_self *shadow, uint64_t what, const struct pt_site *site, uintptr_t address,
                     uint64_t value, const struct pt_owned_page *page)
{
    struct pt_record_self *self = pt_thread_of(shadow)->record;
    struct pt_record_buffer *buffer = self->buffer;
    unsigned bits;
    if (__builtin_expect(!self->last || !has_room(buffer), 0))
        goto unusual;
    if (__builtin_expect(!pt_record_stack_is_same(self), 0)) {
        put_owned_elsewhere(shadow, what, site, address, value, page);
        return;
    }
    uint8_t *tag = buffer->bytes + atomic_load_explicit(&buffer->live.used, memory_order_relaxed), *to = tag + 1;
    struct pt_record_shape *shape = expect_shape(self, what, site, &bits, &to);
    if (__builtin_expect(!shape, 0))
        goto unusual;
    uint64_t stamp = pt_stamp_touch_owned(page, self->stamp);
    follow_shape(self, shape);
    bits |= put_address(&shape->known, self->address, address, &to);
    bits |= put_value(self, &shape->known, what, address, value, &to);
    bits |= put_stack(self, &shape->known, self->stack, &to);
    put_end(self, buffer, address, stamp, tag, to, bits, NULL, 0);
    return;
unusual:
    put_owned_small(shadow, what, site, address, value, page);
}

void pt_record_opens(struct pt_shadow_self *self, uintptr_t address, size_t size)
{
    const struct pt_stamp_leaf *leaf = pt_stamp_leaf_at(address);
    if (__builtin_expect((address & 7) + size <= 8 && leaf, 1) &&
        (!pt_stamp_is_named(leaf) || !pt_stamp_is_new(address)))
        return; /* most of them */
    for (uintptr_t at = address & ~(uintptr_t)7; at < address + size; at += 8)
        if (pt_stamp_is_new(at)) {
            pt_record_define_initial(at, true);
            pt_stamp_claim(pt_thread_number(pt_thread_of(self)), at);
        }
}

static struct event make_access(const struct pt_thread *thread, enum pt_event_kind kind, const struct pt_site *site,
                                uintptr_t address, size_t size)
{
    struct event event = {.what = pt_shadow_what(kind, marks_of(thread, kind), (uint32_t)size),
                          .site = site,
                          .address = address,
                          .raw = (const void *)address};
    if (size <= sizeof event.value)
        memcpy(&event.value, (const void *)address, size);
    return event;
}

void pt_record_access(struct pt_thread *thread, enum pt_event_kind kind, const struct pt_site *site, uintptr_t address,
                      size_t size)
{
    struct event event = make_access(thread, kind, site, address, size);
    if (size > sizeof event.value)
        put_access(thread, &event);
    else
        pt_record_small(&thread->shadow, event.what, site, address, event.value);
}

void pt_record_watched(struct pt_thread *thread, enum pt_event_kind kind, const struct pt_site *site, uintptr_t address,
                       size_t size)
{
    struct event event = make_access(thread, kind, site, address, size);
    if (kind == PT_KIND_READ_AT || is_near_named(address, size))
        pt_record_access(thread, kind, site, address, size);
    else
        put_touching(thread, &event, false, true);
}

void pt_record_name(struct pt_thread *thread, const struct pt_watched *named)
{
    struct event event = {.what = pt_shadow_what(PT_KIND_NAMED, 0, named->size),
                          .address = pt_watch_address(named),
                          .value = named->size <= PT_REC_NAMED_MOST ? pt_record_define_named(named) : 0};
    if (event.value)
        put_touching(thread, &event, true, true);
}

void pt_record_sync(struct pt_thread *thread, enum pt_event_kind kind, const struct pt_site *site, uintptr_t address)
{
    struct pt_record_self *self = thread->record;
    unsigned marks = marks_of(thread, kind) | (thread->shadow.tries ? PT_MARK_TRIES : 0);
    struct event event = {.what = pt_shadow_what(kind, marks, 0), .site = site, .address = address};
    bool is_new;
    if (!prepare(thread))
        return;
    uint32_t stack = pt_record_stack_number(self);
    begin(self);
    put(self, &event, stack, pt_stamp_touch_one(self->thread, self->stamp, address, true, &is_new));
    end(self);
}

/* What is about no memory. */
static void put_other(struct pt_thread *thread, const struct event *event, uint64_t after)
{
    struct pt_record_self *self = thread->record;
    if (!prepare(thread))
        return;
    uint32_t stack = pt_record_stack_number(self);
    begin(self);
    uint64_t stamp = pt_stamp_touch(self->thread, self->stamp > after ? self->stamp : after, 0, 0, true);
    put(self, event, stack, stamp);
    end(self);
}

void pt_record_fence(struct pt_thread *self, uint8_t order, const struct pt_site *site)
{
    struct event event = {.what = pt_shadow_what(PT_KIND_FENCE, (unsigned)order << PT_MARK_ORDER, 0), .site = site};
    put_other(self, &event, 0);
}

/* The child begins above its fork. */
void pt_record_thread(struct pt_thread *self, enum pt_event_kind kind, const struct pt_site *site,
                      struct pt_thread *other)
{
    struct event event = {.what = kind, .site = site, .address = other ? pt_thread_number(other) : 0};
    put_other(self, &event, kind == PT_KIND_JOIN ? other->record->stamp + 1 : 0);
    if (kind == PT_KIND_FORK)
        other->record->stamp = self->record->stamp + 1;
}

/* Of free and the like it is the call itself. */
static const struct pt_site *innermost_call(void)
{
    const struct pt_calls *calls = &__portent_calls;
    return calls->depth ? pt_calls_at(calls, calls->depth - 1) : NULL;
}

static void put_extent(struct pt_thread *thread, enum pt_event_kind kind, const struct pt_site *site, uintptr_t from,
                       uintptr_t to)
{
    struct pt_record_self *self = thread->record;
    struct event event = {.what = kind, .site = site, .address = from, .value = to - from};
    if (!prepare(thread))
        return;
    uint32_t stack = pt_record_stack_number(self);
    pt_own_extent(&thread->shadow, from, to);
    begin(self);
    put(self, &event, stack, pt_stamp_extent(self->thread, self->stamp, from, to));
    end(self);
}

void pt_record_freed(struct pt_thread *self, uintptr_t from, uintptr_t to, unsigned ends)
{
    if (from < to && ends & PT_MEMORY_WRITTEN)
        put_extent(self, PT_KIND_FREE, innermost_call(), from, to);
    if (from < to && ends & PT_MEMORY_FORGOTTEN)
        put_extent(self, PT_KIND_FREED, NULL, from, to);
}

void pt_record_allocated(struct pt_thread *self, uintptr_t from, size_t size, const struct pt_site *site)
{
    if (size)
        put_extent(self, PT_KIND_ALLOC, site, from, from + size);
}

void pt_record_named(struct pt_thread *self, enum pt_event_kind kind, const struct pt_site *site, const char *name,
                     int64_t value)
{
    struct event event = {.what = kind, .site = site, .address = pt_record_name_number(name), .value = (uint64_t)value};
    if (event.address)
        put_other(self, &event, 0);
    else
        pt_runtime_lost();
}

void pt_record_ended(struct pt_thread *self)
{
    pt_own_end(self->record);
    pt_record_give_buffer(self->record);
}
