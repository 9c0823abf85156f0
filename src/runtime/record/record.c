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
#include "runtime/sys/runtime.h"

/* An event, before it is coded. */
struct event {
    unsigned kind, marks;
    const struct pt_site *site;
    uint64_t address; /* or the number of its object */
    uint32_t size;    /* of an access */
    uint64_t value;
    const void *raw; /* where pt_rec_raw_bytes says that there is some */
};

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
    return pt_record_next_buffer(self);
}

/* Whether there is room for one more event. */
static inline bool prepare(struct pt_thread *thread)
{
    const struct pt_record_buffer *buffer = thread->record->buffer;
    bool room = buffer &&
                atomic_load_explicit(&buffer->live.used, memory_order_relaxed) + PT_REC_EVENT_MOST <= PT_REC_PIECE &&
                buffer->shape_count < PT_REC_SHAPES && !atomic_load_explicit(&buffer->live.cut, memory_order_relaxed);
    return __builtin_expect(room, 1) || take_room(thread);
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
    return shape->site == event->site && shape->what == (event->kind | event->marks << 8) && shape->size == event->size;
}

/* The shape's number, and its part of the tag. A new one is put down at `to`. */
static __attribute__((noinline)) unsigned find_shape(struct pt_record_self *self, const struct event *event,
                                                     uint32_t *ret_shape, uint8_t **to)
{
    struct pt_record_buffer *buffer = self->buffer;
    uint64_t hash = pt_mix64((uintptr_t)event->site + event->kind + ((uint64_t)event->size << 40));
    uint32_t slot = (uint32_t)hash % PT_RECORD_SLOTS;
    for (; buffer->slots[slot]; slot = (slot + 1) % PT_RECORD_SLOTS) {
        uint32_t number = buffer->slots[slot] - 1u;
        if (!is_shape(&buffer->shapes[number], event))
            continue;
        *ret_shape = number;
        *to = pt_rec_put(*to, number);
        return PT_REC_SHAPE_KNOWN;
    }
    uint32_t number = buffer->shape_count++;
    buffer->slots[slot] = (uint16_t)(number + 1);
    buffer->shapes[number] = (struct pt_record_shape){.known = {.address = buffer->address},
                                                      .site = event->site,
                                                      .what = event->kind | event->marks << 8,
                                                      .size = event->size};
    *ret_shape = number;
    *to = pt_rec_put(*to, pt_record_site_number(self, event->site));
    *(*to)++ = (uint8_t)event->kind;
    *(*to)++ = (uint8_t)event->marks;
    *(*to)++ = (uint8_t)(event->marks >> 8);
    *to = pt_rec_put(*to, event->size);
    return PT_REC_SHAPE_NEW;
}

/* Most of what follows is put together in pt_record_small, where much of it is known beforehand. */
#define INLINE static inline __attribute__((always_inline))

INLINE unsigned choose_shape(struct pt_record_self *self, const struct event *event, uint32_t *ret_shape, uint8_t **to)
{
    const struct pt_record_buffer *buffer = self->buffer;
    uint32_t next = buffer->shapes[buffer->last].known.next;
    if (__builtin_expect(next < buffer->shape_count && is_shape(&buffer->shapes[next], event), 1)) {
        *ret_shape = next;
        return PT_REC_SHAPE_NEXT;
    }
    struct event sought = *event; /* the others need not be in memory */
    uint8_t *at = *to;
    uint32_t shape;
    unsigned bits = find_shape(self, &sought, &shape, &at);
    *ret_shape = shape;
    *to = at;
    return bits;
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

/* The reader has both the shape's and the granule's value, in the same order: this is under the granule's lock. */
INLINE unsigned put_value(struct pt_rec_shape *shape, const struct event *event, uint8_t **to)
{
    uint64_t value = event->value;
    if (value == shape->value)
        return PT_REC_VALUE;
    if (pt_rec_is_kept(event->kind, event->address, event->size, value)) {
        uint64_t *kept = pt_record_remembers ? pt_stamp_value(event->address) : NULL;
        if (kept && *kept == value)
            return PT_REC_MEMORY;
        if (kept)
            *kept = value;
    }
    *to = pt_rec_put(*to, pt_rec_fold(value - shape->value));
    shape->value = value;
    return 0;
}

INLINE unsigned put_stack(struct pt_record_buffer *buffer, struct pt_rec_shape *shape, uint32_t stack, uint8_t **to)
{
    unsigned way = stack == shape->stack         ? PT_REC_STACK_SHAPE
                   : stack == buffer->last_stack ? PT_REC_STACK_LAST
                                                 : PT_REC_STACK_OTHER;
    if (way == PT_REC_STACK_OTHER)
        *to = pt_rec_put(*to, stack);
    shape->stack = buffer->last_stack = stack;
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

/* `valued`: it gives a value; `raw`: so many bytes of memory. */
INLINE void put_as(struct pt_record_self *self, const struct event *event, uint32_t stack, uint64_t stamp, bool valued,
                   uint32_t raw)
{
    struct pt_record_buffer *buffer = self->buffer;
    if (__builtin_expect(pt_explore_on, 0))
        stamp = in_turn(self->thread, stamp);
    uint32_t used = atomic_load_explicit(&buffer->live.used, memory_order_relaxed), shape;
    uint8_t *tag = buffer->bytes + used, *to = tag + 1;
    unsigned bits = choose_shape(self, event, &shape, &to);
    struct pt_rec_shape *known = &buffer->shapes[shape].known;
    __asm__("" : "+r"(known)); /* or it is computed again wherever it is used */
    bits |= put_address(known, buffer->address, event->address, &to);
    if (valued)
        bits |= put_value(known, event, &to);
    bits |= put_stack(buffer, known, stack, &to);
    if (stamp != self->stamp) {
        to = pt_rec_put(to, stamp - self->stamp);
        bits |= PT_REC_STAMP;
    }
    if (raw)
        memcpy(to, event->raw, raw);
    *tag = (uint8_t)bits;
    buffer->shapes[buffer->last].known.next = shape;
    buffer->last = shape;
    buffer->address = event->address;
    self->stamp = stamp;
    uint32_t events = atomic_load_explicit(&buffer->live.events, memory_order_relaxed);
    atomic_store_explicit(&buffer->live.events, events + 1, memory_order_relaxed);
    /* release: partner of the acquire when the writer takes the rest of a buffer */
    atomic_store_explicit(&buffer->live.used, (uint32_t)(to + raw - buffer->bytes), memory_order_release);
}

static void put(struct pt_record_self *self, const struct event *event, uint32_t stack, uint64_t stamp)
{
    put_as(self, event, stack, stamp, pt_rec_has_value(event->kind, event->size),
           pt_rec_raw_bytes(event->kind, event->size));
}

/* The order and such of what is under way, as core/channel.h has it in marks. */
static unsigned marks_of(const struct pt_thread *self, enum pt_event_kind kind)
{
    const struct pt_locked_range *range = self->shadow.locked;
    if (!range || !pt_op_may_be_ordered(pt_kind_op(kind)) || (range->sync && range->sync != (uint16_t)kind))
        return 0;
    return (unsigned)range->order << PT_MARK_ORDER | (range->stores ? PT_MARK_STORE : 0);
}

static inline uint64_t value_of(uintptr_t address, size_t size)
{
    uint64_t value = 0;
    switch (size) {
    case 1:
        return *(const uint8_t *)address;
    case 2:
        memcpy(&value, (const void *)address, 2);
        return value;
    case 4:
        memcpy(&value, (const void *)address, 4);
        return value;
    case 8:
        memcpy(&value, (const void *)address, 8);
        return value;
    default:
        memcpy(&value, (const void *)address, size);
        return value;
    }
}

void pt_record_small(struct pt_thread *thread, enum pt_event_kind kind, unsigned marks, const struct pt_site *site,
                     uintptr_t address, size_t size)
{
    struct pt_record_self *self = thread->record;
    struct event event = {.kind = kind, .marks = marks, .site = site, .address = address, .size = (uint32_t)size};
    bool is_new;
    if (!prepare(thread))
        return;
    uint32_t stack = pt_record_stack_number(self);
    event.value = value_of(address, size);
    begin(self);
    put_as(self, &event, stack,
           pt_stamp_touch_one(self->thread, self->stamp, address, kind != PT_KIND_READ_AT, &is_new), true, 0);
    end(self);
    if (__builtin_expect(is_new, 0))
        pt_record_define_initial(address & ~(uintptr_t)7, kind == PT_KIND_READ_AT);
}

void pt_record_opens(struct pt_thread *thread, uintptr_t address, size_t size)
{
    for (uintptr_t at = address & ~(uintptr_t)7; at < address + size; at += 8)
        if (__builtin_expect(pt_stamp_is_new(at), 0)) {
            pt_record_define_initial(at, true);
            pt_stamp_claim(pt_thread_number(thread), at);
        }
}

static void note_new(uintptr_t address, size_t size, bool known)
{
    for (uintptr_t at = address & ~(uintptr_t)7; at < address + size; at += 8)
        if (__builtin_expect(pt_stamp_is_new(at), 0))
            pt_record_define_initial(at, known);
}

void pt_record_access(struct pt_thread *thread, enum pt_event_kind kind, const struct pt_site *site, uintptr_t address,
                      size_t size)
{
    if (size && (address & 7) + size <= 8) {
        pt_record_small(thread, kind, marks_of(thread, kind), site, address, size);
        return;
    }
    struct pt_record_self *self = thread->record;
    struct event event = {.kind = kind,
                          .marks = marks_of(thread, kind),
                          .site = site,
                          .address = address,
                          .size = (uint32_t)size,
                          .raw = (const void *)address};
    if (!prepare(thread))
        return;
    uint32_t stack = pt_record_stack_number(self);
    if (size <= sizeof event.value)
        memcpy(&event.value, (const void *)address, size);
    note_new(address, size, kind == PT_KIND_READ_AT);
    begin(self);
    put(self, &event, stack, pt_stamp_touch(self->thread, self->stamp, address, size));
    end(self);
}

void pt_record_sync(struct pt_thread *thread, enum pt_event_kind kind, const struct pt_site *site, uintptr_t address)
{
    struct pt_record_self *self = thread->record;
    struct event event = {.kind = kind,
                          .marks = marks_of(thread, kind) | (thread->shadow.tries ? PT_MARK_TRIES : 0),
                          .site = site,
                          .address = address};
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
    uint64_t stamp = pt_stamp_touch(self->thread, self->stamp > after ? self->stamp : after, 0, 0);
    put(self, event, stack, stamp);
    end(self);
}

void pt_record_fence(struct pt_thread *self, uint8_t order, const struct pt_site *site)
{
    struct event event = {.kind = PT_KIND_FENCE, .marks = (unsigned)order << PT_MARK_ORDER, .site = site};
    put_other(self, &event, 0);
}

/* The child begins above its fork. */
void pt_record_thread(struct pt_thread *self, enum pt_event_kind kind, const struct pt_site *site,
                      struct pt_thread *other)
{
    struct event event = {.kind = kind, .site = site, .address = other ? pt_thread_number(other) : 0};
    put_other(self, &event, kind == PT_KIND_JOIN ? other->record->stamp + 1 : 0);
    if (kind == PT_KIND_FORK)
        other->record->stamp = self->record->stamp + 1;
}

/* Of free and the like it is the call itself. */
static const struct pt_site *innermost_call(void)
{
    const struct pt_calls *calls = &__portent_calls;
    return calls->depth ? calls->frames[(calls->depth - 1) % PT_CALLS] : NULL;
}

static void put_extent(struct pt_thread *thread, enum pt_event_kind kind, const struct pt_site *site, uintptr_t from,
                       uintptr_t to)
{
    struct pt_record_self *self = thread->record;
    struct event event = {.kind = kind, .site = site, .address = from, .value = to - from};
    if (!prepare(thread))
        return;
    uint32_t stack = pt_record_stack_number(self);
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
    struct event event = {.kind = kind, .site = site, .address = pt_record_name_number(name), .value = (uint64_t)value};
    if (event.address)
        put_other(self, &event, 0);
    else
        pt_runtime_lost();
}

void pt_record_ended(struct pt_thread *self)
{
    pt_record_give_buffer(self->record);
}
