/*
 * Merging the rings. Numbers rise within a ring, and each event's number was taken while it held what it touches, so
 * handing events out by number is the actual order (core/channel.h). A heap holds the next event of each ring that has
 * one; empty rings are only looked at when the expected number is not at the top of the heap: the first of them each
 * time, the others when their bit says so, and all now and then, since a bit may be missed (core/channel.h). Cost per
 * event: O(log rings), plus a look at the first rings and one bit for each other per batch.
 *
 * The memory belongs to the program too. Lengths are checked before use; a record is copied out and looked at only in
 * the copy. A ring whose contents make no sense is skipped up to its head, since nothing in it can be trusted.
 */
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "trace/channel_impl.h"

/* All rings are looked at so often: nanoseconds. It is what an event may be late by whose bit was missed. */
static const uint64_t all_rings_every = 20000000;
/* A ring past the first gives its pages back after so many bytes. */
enum { RETURN_BYTES = 1 << 16, PAGE = 4096 };

/* How long a number that was taken is waited for (nanoseconds): its thread may be held up before it has written the
 * event. What is dropped takes none. And how long the word of a thread that was numbered, by its parent before it is
 * started: where records were dropped, that may have been one. */
static const uint64_t patience = 5000000000, name_patience = 1000000000, drop_patience = 10000000;
/* When nobody has asked for so long, this process was stopped, and the program probably too: waiting begins anew. */
static const uint64_t stopped = 1000000000;

/* --- the heap --- */

static bool before(const struct pt_channel_reader *r, uint32_t a, uint32_t b)
{
    return r->rings[r->heap[a]].front < r->rings[r->heap[b]].front;
}

static void swap(struct pt_channel_reader *r, uint32_t a, uint32_t b)
{
    uint32_t ring = r->heap[a];
    r->heap[a] = r->heap[b];
    r->heap[b] = ring;
}

static void heap_push(struct pt_channel_reader *r, uint32_t ring)
{
    uint32_t i = r->heap_count++;
    r->heap[i] = ring;
    for (; i && before(r, i, (i - 1) / 2); i = (i - 1) / 2)
        swap(r, i, (i - 1) / 2);
}

/* Restores the order after the number of the top has changed. */
static void heap_sift(struct pt_channel_reader *r)
{
    for (uint32_t i = 0;;) {
        uint32_t least = i;
        for (uint32_t child = 2 * i + 1; child <= 2 * i + 2 && child < r->heap_count; child++)
            least = before(r, child, least) ? child : least;
        if (least == i)
            return;
        swap(r, i, least);
        i = least;
    }
}

static void heap_pop(struct pt_channel_reader *r)
{
    r->heap[0] = r->heap[--r->heap_count];
    heap_sift(r);
}

/* --- one ring --- */

struct pt_ring *chan_ring(const struct pt_channel_reader *r, uint32_t index)
{
    return (struct pt_ring *)((char *)r->map + r->rings_offset + index * (sizeof(struct pt_ring) + r->ring_bytes));
}

/* The whole pages of [from, to) of the ring's data, which does not wrap there. */
static void return_pages(struct ring *ring, uint64_t from, uint64_t to)
{
    uintptr_t low = ((uintptr_t)ring->shared->data + from + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
    uintptr_t high = ((uintptr_t)ring->shared->data + to) & ~(uintptr_t)(PAGE - 1);
    if (low < high)
        madvise((void *)low, high - low, MADV_REMOVE); /* where it cannot be, the memory stays in use */
}

/* What has been read and is not yet known to be: the thread does not write there. */
static void return_memory(struct pt_channel_reader *r, struct ring *ring)
{
    uint64_t mask = r->ring_bytes - 1, from = ring->returned & mask, to = ring->cursor & mask;
    if (ring->cursor - ring->returned >= r->ring_bytes || from >= to) {
        return_pages(ring, from, r->ring_bytes);
        from = 0;
    }
    return_pages(ring, from, to);
    ring->returned = ring->cursor;
}

static void publish(struct pt_channel_reader *r, struct ring *ring)
{
    if (ring->cursor == ring->published)
        return;
    if (ring - r->rings >= PT_RING_ROOMY && ring->cursor - ring->returned >= RETURN_BYTES)
        return_memory(r, ring);
    ring->published = ring->cursor;
    /* Partner: the thread's acquire when it looks for room. */
    atomic_store_explicit(&ring->shared->tail, ring->cursor, memory_order_release);
    atomic_fetch_add(&ring->shared->room, 1);
    syscall(SYS_futex, &ring->shared->room, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* A thread that waits for room is woken after each eighth of the ring: a system call per record would cost too much. */
static void advance(struct pt_channel_reader *r, struct ring *ring, uint32_t bytes)
{
    ring->cursor += bytes;
    ring->front = 0;
    if (!ring->behind) {
        ring->behind = true;
        r->behind[r->behind_count++] = (uint32_t)(ring - r->rings);
    }
    bool frugal = ring - r->rings >= PT_RING_ROOMY && r->ring_bytes > PT_RING_FRUGAL_BYTES;
    if (ring->cursor - ring->published >= (frugal ? PT_RING_FRUGAL_BYTES : r->ring_bytes) / 8)
        publish(r, ring);
}

/* Looks what the thread has written; false when there is nothing to read. */
static bool look_at(struct pt_channel_reader *r, struct ring *ring)
{
    /* In this order: a thread that has ended writes no more, so a head read later is its last. */
    uint32_t state = atomic_load_explicit(&ring->shared->state, memory_order_acquire);
    uint64_t head = atomic_load_explicit(&ring->shared->head, memory_order_acquire);
    if (!ring->open && state == PT_RING_FREE)
        return false;
    if (!ring->open) {
        ring->open = true;
        ring->thread = PT_NONE;
        ring->cursor = ring->published = ring->returned =
            atomic_load_explicit(&ring->shared->tail, memory_order_acquire);
    }
    ring->head = head;
    if (head != ring->cursor)
        return true;
    if (state == PT_RING_ENDED) {
        if (ring - r->rings >= PT_RING_ROOMY && ring->cursor - ring->returned >= PAGE)
            return_memory(r, ring);
        publish(r, ring);
        ring->open = false;
        if (ring->thread != PT_NONE)
            chan_note_end(r, ring->thread);
        /* Partner: the acquire of a new thread that takes the ring. */
        atomic_store_explicit(&ring->shared->state, PT_RING_FREE, memory_order_release);
        uint32_t index = (uint32_t)(ring - r->rings);
        if (r->bits)
            atomic_fetch_or(&r->bits[index / 64].free, UINT64_C(1) << index % 64);
    }
    return false;
}

/* The header of the record at the cursor; false when there is none. Skips what makes no sense. */
static bool next_header(struct pt_channel_reader *r, struct ring *ring, struct pt_record *ret_header)
{
    /* The thread's own line of memory is looked at once per batch. */
    if ((!ring->open || ring->head == ring->cursor) && !look_at(r, ring))
        return false;
    uint64_t head = ring->head, available = head - ring->cursor;
    uint64_t at = ring->cursor & (r->ring_bytes - 1);
    bool good = available <= r->ring_bytes && ring->cursor % 8 == 0 && available % 8 == 0;
    if (good) {
        memcpy(ret_header, ring->shared->data + at, sizeof *ret_header);
        good = ret_header->bytes >= sizeof *ret_header && ret_header->bytes % 8 == 0 &&
               ret_header->bytes <= available && ret_header->bytes <= r->ring_bytes - at;
    }
    if (!good) {
        r->corrupt++;
        ring->cursor = ring->head = head & ~UINT64_C(7);
        ring->returned = ring->cursor;
        publish(r, ring);
    }
    return good;
}

/* Copies the record at the cursor, of `bytes` bytes, where the program cannot change it any more. */
static void copy_record(struct pt_channel_reader *r, const struct ring *ring, uint32_t bytes)
{
    struct pt_record header;
    memcpy(r->record, ring->shared->data + (ring->cursor & (r->ring_bytes - 1)), bytes);
    memcpy(&header, r->record, sizeof header);
    header.bytes = bytes;
    memcpy(r->record, &header, sizeof header);
}

/* The event at the cursor becomes the ring's front. */
static bool set_front(struct pt_channel_reader *r, struct ring *ring, uint32_t bytes)
{
    struct pt_record_event event;
    if (bytes < sizeof event)
        return false;
    memcpy(&event, ring->shared->data + (ring->cursor & (r->ring_bytes - 1)), sizeof event);
    /* Numbers come from the counter, so none can be ahead of it. */
    if (event.number >= r->numbered)
        r->numbered = atomic_load(&r->map->next_number);
    if (event.number < r->expected || event.number >= r->numbered)
        return false;
    ring->front = event.number;
    ring->front_bytes = bytes;
    return true;
}

/* A ring of nothing but records that are no events must not hold up the others. */
enum { AT_ONCE = 4096 };

/* Reads on until the ring has an event in front, is empty, or has been read for long. */
static void fill_front(struct pt_channel_reader *r, uint32_t index)
{
    struct ring *ring = &r->rings[index];
    struct pt_record header;
    for (uint32_t n = 0; next_header(r, ring, &header); n++) {
        if (n == AT_ONCE) {
            r->held_back = true;
            return;
        }
        bool good = true;
        if (header.type == PT_RECORD_EVENT) {
            if (set_front(r, ring, header.bytes))
                return;
            good = false;
        } else if (header.type != PT_RECORD_PAD) {
            copy_record(r, ring, header.bytes);
            good = chan_take_record(r, index);
        }
        r->corrupt += !good;
        advance(r, ring, header.bytes);
    }
}

/* --- all of them --- */

static void poll_ring(struct pt_channel_reader *r, uint32_t index)
{
    if (r->rings[index].front)
        return;
    fill_front(r, index);
    if (r->rings[index].front)
        heap_push(r, index);
}

/* Those beyond the first whose threads have written. The bits go first: what is written after that sets them again. */
static void poll_fresh(struct pt_channel_reader *r)
{
    for (uint32_t word = PT_RING_NEAR / 64; word * 64 < r->ring_count; word++) {
        if (!atomic_load_explicit(&r->bits[word].fresh, memory_order_relaxed))
            continue;
        uint64_t bits = atomic_exchange(&r->bits[word].fresh, 0);
        for (; bits; bits &= bits - 1) {
            uint32_t index = word * 64 + (uint32_t)__builtin_ctzll(bits);
            if (index < r->ring_count)
                poll_ring(r, index);
        }
    }
}

static void find_rings(struct pt_channel_reader *r)
{
    uint32_t used = atomic_load_explicit(&r->map->rings_used, memory_order_acquire), known = r->ring_count;
    r->ring_count = used < r->ring_max ? used : r->ring_max;
    for (uint32_t i = known; i < r->ring_count; i++)
        r->rings[i].shared = chan_ring(r, i);
}

static void poll_rings(struct pt_channel_reader *r, uint64_t now)
{
    r->wake_seen = atomic_load(&r->map->wake);
    r->held_back = false;
    find_rings(r);
    bool all = !r->bits || r->ended || now - r->all_looked_at >= all_rings_every;
    uint32_t count = all || r->ring_count < PT_RING_NEAR ? r->ring_count : PT_RING_NEAR;
    if (all)
        r->all_looked_at = now;
    for (uint32_t i = 0; i < count; i++)
        poll_ring(r, i);
    if (!all && r->ring_count > PT_RING_NEAR)
        poll_fresh(r);
}

static void publish_all(struct pt_channel_reader *r)
{
    for (uint32_t i = 0; i < r->behind_count; i++) {
        r->rings[r->behind[i]].behind = false;
        publish(r, &r->rings[r->behind[i]]);
    }
    r->behind_count = 0;
}

/* The event at the top of the heap leaves it; its ring's next one comes in. */
static void drop_top(struct pt_channel_reader *r)
{
    uint32_t index = r->heap[0];
    advance(r, &r->rings[index], r->rings[index].front_bytes);
    fill_front(r, index);
    if (r->rings[index].front)
        heap_sift(r);
    else
        heap_pop(r);
}

/* Has `*since` stood still for `limit`? Starts the clock when it is 0. */
static bool is_over(uint64_t *since, uint64_t now, uint64_t limit)
{
    if (!*since)
        *since = now ? now : 1;
    return now > *since && now - *since >= limit;
}

/* Numbers from expected up to `number` will not come. */
static void give_up(struct pt_channel_reader *r, uint64_t number)
{
    *(r->ended ? &r->unfinished : &r->missing) += number - r->expected;
    r->expected = number;
    r->stalled_at = 0;
}

/* Nothing can be handed out after a look at all rings. True: try again. */
static bool skip_gap(struct pt_channel_reader *r, uint64_t now)
{
    if (r->heap_count) {
        if (!r->ended && !is_over(&r->stalled_at, now, patience))
            return false;
        give_up(r, r->rings[r->heap[0]].front);
        return true;
    }
    r->stalled_at = 0;
    uint64_t next = atomic_load(&r->map->next_number);
    if (r->ended && next > r->expected)
        give_up(r, next);
    return false;
}

/* The expected event is at the top. Copies it; false: its thread's name is not settled yet. */
static bool open_top(struct pt_channel_reader *r)
{
    const struct ring *ring = &r->rings[r->heap[0]];
    copy_record(r, ring, ring->front_bytes);
    return !chan_name_is_open(r);
}

/* After open_top. False: it makes no sense, or is none or several events, which are in the queue; it is gone. */
static bool take_top(struct pt_channel_reader *r, struct pt_event *ret_event)
{
    r->names_stalled_at = r->stalled_at = 0;
    bool good = chan_take_event(r, r->heap[0], ret_event);
    bool event = good && ret_event->op != PT_OP_COUNT;
    if (good)
        r->rings[r->heap[0]].thread = ((const struct pt_record_event *)(const void *)r->record)->thread;
    r->settled |= good;
    if (event)
        ret_event->line = ++r->events;
    r->corrupt += !good;
    r->expected++;
    drop_top(r);
    return event;
}

/* What is left of the last record's events, and then who ended with it. */
static bool take_queued(struct pt_channel_reader *r, struct pt_event *ret_event)
{
    if (r->queue_next < r->queue_count) {
        *ret_event = r->queue[r->queue_next++];
    } else {
        r->queue_next = r->queue_count = 0;
        if (!chan_take_end(r, ret_event))
            return false;
    }
    ret_event->line = ++r->events;
    return true;
}

/* Has a name been waited for long enough? */
static bool names_are_over(struct pt_channel_reader *r, uint64_t now)
{
    uint64_t limit = atomic_load(&r->map->dropped) ? drop_patience : name_patience;
    if (!r->ended && !is_over(&r->names_stalled_at, now, limit))
        return false;
    chan_settle_names(r);
    return true;
}

bool chan_ready(struct pt_channel_reader *r, struct pt_event *ret_event)
{
    if (take_queued(r, ret_event))
        return true;
    while (r->settled && r->heap_count && r->rings[r->heap[0]].front == r->expected && open_top(r)) {
        if (take_top(r, ret_event) || take_queued(r, ret_event))
            return true;
    }
    return false;
}

bool chan_next(struct pt_channel_reader *r, uint64_t now, struct pt_event *ret_event)
{
    bool looked = false;
    if (now - r->asked_at > stopped)
        r->stalled_at = r->names_stalled_at = 0;
    r->asked_at = now;
    for (;;) {
        if (take_queued(r, ret_event))
            return true;
        if (r->init_next < r->init_count) { /* of objects that are named late, between events */
            *ret_event = r->inits[r->init_next++];
            ret_event->line = ++r->events;
            return true;
        }
        if (r->ended && r->held_back) { /* nobody writes any more: what is there is read before anything is given up */
            poll_rings(r, now);
            continue;
        }
        uint64_t top = r->heap_count ? r->rings[r->heap[0]].front : 0;
        if (top && top < r->expected) { /* given up before, or twice the same */
            r->corrupt++;
            drop_top(r);
        } else if (top == r->expected && (r->settled || looked) && (open_top(r) || names_are_over(r, now))) {
            if (take_top(r, ret_event))
                return true;
        } else if (!looked) {
            /* Also before the first event: initial values, written before it, may stand in a ring looked at too early.
             */
            poll_rings(r, now);
            looked = true;
        } else if (top == r->expected || !skip_gap(r, now)) {
            publish_all(r);
            return false;
        }
    }
}
