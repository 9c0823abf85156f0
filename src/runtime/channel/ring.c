/*
 * Rings of records: how a thread claims one, finds room, and publishes.
 *
 * Invariant: tail <= head <= tail + ring_bytes, both only grow, and bytes below head are whole records. The writer
 * alone moves head, by a release store once a record is complete; the observer alone moves tail, by a release store
 * once it has read. Each loads the other's with acquire, so the observer reads nothing half written, and the writer
 * writes over nothing unread: release and acquire on these two words are all the order that is needed, on any
 * processor. tests/interleave/test_event_ring.c runs both sides against each other.
 *
 * The limit that a ring past the first thousand has on top (core/channel.h) is the writer's own affair. So is the bit
 * that says it has written: the observer may miss one, as the bit is read while the head is on its way, and looks at
 * all rings now and then.
 *
 * A ring is found by a look at one bit for each that is in use. There are as many as there can be threads at a time
 * (PT_THREAD_BITS) unless the machine's limits leave fewer; so who finds none waits for the observer to drain those of
 * threads that have ended, though not for ever: what finds no ring is lost, and reported as such.
 *
 * Cost: a record is written once, in place; the observer's tail is loaded when the ring looks full, and a system call
 * is made only to wake an observer that has read everything, at most once in WAKE_CYCLES, some millisecond: what is
 * worth waking it for then comes as a batch. A ring that gets half full wakes it, too.
 */
#include "runtime/channel/ring.h"

#include <stdbool.h>
#include <x86intrin.h>

#include "runtime/sys/runtime.h"
#include "runtime/sys/sys.h"

enum { WAIT_NS = 20 * 1000 * 1000, RING_WAIT_NS = 200 * 1000, RING_WAITS = 10000, WAKE_CYCLES = 2500 * 1000 };

static bool may_wait(void)
{
    return pt_channel->on_full == PT_ON_FULL_BLOCK &&
           !atomic_load_explicit(&pt_channel->observer_gone, memory_order_relaxed);
}

/* The strict mode of seccomp takes this instruction away, too. */
static uint64_t cycles(void)
{
    return pt_sys_is_quiet() ? 0 : __rdtsc();
}

static void wake_observer(struct pt_ring_writer *writer)
{
    writer->last_wake = cycles();
    atomic_fetch_add_explicit(&pt_channel->wake, 1, memory_order_release);
    pt_sys_wake(&pt_channel->wake);
}

static struct pt_ring_bits *bits_at(uint32_t word)
{
    return (struct pt_ring_bits *)(void *)((char *)pt_channel + pt_channel->bits_offset) + word;
}

static void set_limits(struct pt_ring_writer *writer, uint32_t index)
{
    bool frugal = index >= PT_RING_ROOMY && pt_channel->ring_bytes > PT_RING_FRUGAL_BYTES;
    writer->limit = frugal ? PT_RING_FRUGAL_BYTES : pt_channel->ring_bytes;
    writer->fresh = NULL;
    if (pt_channel->bits_offset && index >= PT_RING_NEAR) {
        writer->fresh = &bits_at(index / 64)->fresh;
        writer->fresh_bit = UINT64_C(1) << index % 64;
    }
}

static bool claim(struct pt_ring_writer *writer, uint32_t thread, uint32_t index)
{
    struct pt_ring *ring = (void *)((char *)pt_channel + pt_channel->rings_offset +
                                    index * (sizeof(struct pt_ring) + pt_channel->ring_bytes));
    uint32_t state = PT_RING_FREE;
    if (atomic_load_explicit(&ring->state, memory_order_relaxed) != PT_RING_FREE)
        return false;
    /* acquire: partner of the observer's release when it frees the ring; head and tail go on from where they were */
    if (!atomic_compare_exchange_strong_explicit(&ring->state, &state, PT_RING_ACTIVE, memory_order_acquire,
                                                 memory_order_relaxed))
        return false;
    ring->thread = thread;
    writer->ring = ring;
    set_limits(writer, index);
    writer->head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    writer->tail_seen = atomic_load_explicit(&ring->tail, memory_order_acquire);
    uint32_t used = atomic_load_explicit(&pt_channel->rings_used, memory_order_relaxed);
    while (used < index + 1 && !atomic_compare_exchange_weak(&pt_channel->rings_used, &used, index + 1))
        ;
    return true;
}

/* One that the observer has freed, or the next that nobody has had yet. */
static bool claim_hinted(struct pt_ring_writer *writer, uint32_t thread)
{
    uint32_t used = atomic_load_explicit(&pt_channel->rings_used, memory_order_relaxed);
    if (!pt_channel->bits_offset)
        return false;
    for (uint32_t word = 0; word <= used / 64 && word * 64 < pt_channel->ring_max; word++) {
        _Atomic uint64_t *free = &bits_at(word)->free;
        for (uint64_t bits; (bits = atomic_load_explicit(free, memory_order_relaxed));) {
            uint32_t bit = (uint32_t)__builtin_ctzll(bits), index = word * 64 + bit;
            atomic_fetch_and_explicit(free, ~(UINT64_C(1) << bit), memory_order_relaxed);
            if (index < pt_channel->ring_max && claim(writer, thread, index))
                return true;
        }
    }
    for (; used < pt_channel->ring_max; used++)
        if (claim(writer, thread, used))
            return true;
    return false;
}

/* Whoever has waited for a ring in vain spares the others: all are those of threads that live. */
static _Atomic bool crowded;

void pt_ring_restart(void)
{
    atomic_store_explicit(&crowded, false, memory_order_relaxed);
}

static bool have_ring(struct pt_ring_writer *writer, uint32_t thread)
{
    for (uint32_t waits = 0; !writer->ring && !claim_hinted(writer, thread); waits++) {
        for (uint32_t i = 0; i < pt_channel->ring_max && !writer->ring; i++)
            claim(writer, thread, i);
        if (writer->ring)
            break;
        if (waits == RING_WAITS)
            atomic_store_explicit(&crowded, true, memory_order_relaxed);
        if (!may_wait() || atomic_load_explicit(&crowded, memory_order_relaxed))
            return false;
        wake_observer(writer);
        pt_sys_sleep(RING_WAIT_NS);
    }
    return true;
}

static bool fits(struct pt_ring_writer *writer, uint64_t bytes)
{
    if (writer->head + bytes - writer->tail_seen <= writer->limit)
        return true;
    /* acquire: partner of the observer's release; it has read what we are about to write over */
    writer->tail_seen = atomic_load_explicit(&writer->ring->tail, memory_order_acquire);
    uint64_t limit = writer->head == writer->tail_seen ? pt_channel->ring_bytes : writer->limit;
    return writer->head + bytes - writer->tail_seen <= limit;
}

/* Waits until `bytes` fit in one piece, or says no. Fills the end of the ring when they do not fit before it. */
static bool have_room(struct pt_ring_writer *writer, uint64_t bytes)
{
    if (bytes > pt_channel->ring_bytes / 2)
        return false;
    uint64_t at = writer->head & (pt_channel->ring_bytes - 1), rest = pt_channel->ring_bytes - at;
    uint64_t need = rest < bytes ? rest + bytes : bytes;
    while (!fits(writer, need)) {
        uint32_t seen = atomic_load_explicit(&writer->ring->room, memory_order_acquire);
        if (!may_wait())
            return false;
        wake_observer(writer);
        if (!fits(writer, need))
            pt_sys_wait(&writer->ring->room, seen, WAIT_NS);
    }
    if (rest < bytes) {
        *(struct pt_record *)(writer->ring->data + at) = (struct pt_record){(uint32_t)rest, PT_RECORD_PAD};
        writer->head += rest;
    }
    return true;
}

void *pt_ring_place(struct pt_ring_writer *writer, uint32_t thread, uint32_t bytes, enum pt_record_type type)
{
    if (!have_ring(writer, thread) || !have_room(writer, bytes))
        return NULL;
    struct pt_record *record = (void *)(writer->ring->data + (writer->head & (pt_channel->ring_bytes - 1)));
    *record = (struct pt_record){bytes, type};
    writer->head += bytes;
    return record;
}

void pt_ring_publish(struct pt_ring_writer *writer)
{
    uint64_t before = atomic_load_explicit(&writer->ring->head, memory_order_relaxed);
    /* release: partner of the observer's acquire */
    atomic_store_explicit(&writer->ring->head, writer->head, memory_order_release);
    if (writer->fresh && !(atomic_load_explicit(writer->fresh, memory_order_relaxed) & writer->fresh_bit))
        atomic_fetch_or_explicit(writer->fresh, writer->fresh_bit, memory_order_release);
    /* If it had read everything the observer may sleep. It never sleeps for long, so a wake-up that was just given need
     * not be given again, unless there will soon be no room. */
    uint64_t tail = atomic_load_explicit(&writer->ring->tail, memory_order_relaxed), half = writer->limit / 2;
    if ((tail == before && cycles() - writer->last_wake > WAKE_CYCLES) ||
        (before - tail < half && writer->head - tail >= half))
        wake_observer(writer);
}

void pt_ring_end(struct pt_ring_writer *writer)
{
    if (!writer->ring)
        return;
    /* release: everything is in the ring before it is given up */
    atomic_store_explicit(&writer->ring->state, PT_RING_ENDED, memory_order_release);
    if (writer->fresh)
        atomic_fetch_or_explicit(writer->fresh, writer->fresh_bit, memory_order_release);
    writer->ring = NULL;
    wake_observer(writer);
}
