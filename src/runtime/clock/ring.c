/*
 * The clocks of a thread that makes many: a ring of numbers that are its own, used in turn.
 *
 * Order. A thread's clocks only grow, and the ring is used in one direction; so of two numbers in the same ring, made
 * in the same cycle, the one behind is the later clock, and any made in an earlier cycle is earlier than both. Who
 * remembers how far in a ring it has come (struct pt_seen) can tell that it has passed a number from the number alone,
 * without touching memory that the owner writes. A number is made at most once in a cycle, and the owner's cycle is
 * public before the first number made in it: so while the cycle is as it was remembered, no number at or before the
 * remembered position can have come to mean a later clock.
 *
 * References. The owner counts those that go through its hands in memory of its own (biased reference counting, Choi et
 * al. 2018); all others are counted in the clock, above a bias, so that no other thread ever finds zero. Only the owner
 * uses a number again, when its turn has come and the two counts say that nobody has it. A layer above may have numbers
 * of the owner's without counting them, where only the owner looks: it marks them when a cycle begins (shadow/own.h).
 * Those that come there later have been made in that cycle, and none of these is used again before the next.
 *
 * A ring doubles when most of its numbers were in use in the last cycle, so a clock is made in constant time on
 * average. One that is as large as they may be, and full, is looked through a few numbers at a time: where none of
 * those is free, the clock gets a common one. When the thread ends, both counts become one and the numbers are common
 * ones, as those of threads without a ring.
 *
 * Invariant: a number comes to mean another clock only when no word, record, reading or thread has a reference to it.
 * Memory order: a reference is given up by a read-modify-write (release), and the owner's look (acquire) at a count
 * that includes it sees all reads of the old clock done. What a number means is written before the shadow word with it
 * is unlocked (release) and read after that word was loaded or locked (acquire). The owner's cycle is stored (release)
 * before the first number of it gets into a word; who is asked about a number out of a word that was loaded without
 * order or lock may get an answer about its former meaning, and asks again when the granule is locked
 * (pt_fast_lock_passed). Nothing here rests on x86. tests/interleave/test_clock_ring.c.
 */
#include <string.h>

#include "runtime/clock/impl.h"
#include "runtime/clock/self.h"
#include "runtime/pool/pool.h"
#include "runtime/sys/sys.h"

enum { FEW = 16, FIRST = 128, MOST = 1 << 20, LOOKS = 8 };
#define BIAS (INT64_C(1) << 60)

_Atomic uint64_t *pt_clock_homes;
struct pt_clock_cycle *pt_clock_cycles;

bool pt_clock_ring_start(void)
{
    pt_clock_homes = pt_sys_reserve_table(sizeof *pt_clock_homes << PT_CLOCK_BITS);
    pt_clock_cycles = pt_sys_reserve_table(sizeof *pt_clock_cycles << (PT_THREAD_BITS + 1));
    return pt_clock_homes && pt_clock_cycles;
}

void pt_clock_ring_restart(void)
{
    pt_sys_empty(pt_clock_homes, sizeof *pt_clock_homes << PT_CLOCK_BITS);
    pt_sys_empty(pt_clock_cycles, sizeof *pt_clock_cycles << (PT_THREAD_BITS + 1));
}

/* Room for so many. From the pool: mapping memory for a ring, and unmapping it at the thread's end, would cost a short
 * thread more than its clocks. */
static bool make_room(struct pt_clock_self *self, uint32_t count)
{
    struct pt_clock_ring *ring = &self->ring;
    pt_clock_id *ids = pt_pool_take(&self->pool, count * sizeof *ids);
    int64_t *local = ids ? pt_pool_take(&self->pool, count * sizeof *local) : NULL;
    uint8_t *marked = local ? pt_pool_take(&self->pool, count) : NULL;
    if (!marked) {
        pt_pool_give(&self->pool, ids);
        pt_pool_give(&self->pool, local);
        return false;
    }
    if (ring->size) {
        memcpy(ids, ring->ids, ring->size * sizeof *ids);
        memcpy(local, ring->local, ring->size * sizeof *local);
    }
    memset(marked, 0, count); /* a ring grows when a cycle ends: all are asked for again */
    pt_pool_give(&self->pool, ring->ids);
    pt_pool_give(&self->pool, ring->local);
    pt_pool_give(&self->pool, ring->marked);
    ring->ids = ids;
    ring->local = local;
    ring->marked = marked;
    return true;
}

static void grow(struct pt_clock_self *self, uint32_t count)
{
    struct pt_clock_ring *ring = &self->ring;
    if (ring->size == MOST || !make_room(self, ring->size + count))
        return;
    while (count--) {
        pt_clock_id id = pt_clock_make(self, 0);
        if (!id)
            return;
        atomic_store_explicit(&pt_clocks[id].references, BIAS, memory_order_relaxed);
        pt_clocks[id].count = 0;
        /* others see it, at the latest, with the first word that has this number */
        atomic_store_explicit(&pt_clock_homes[id], (uint64_t)ring->owner << 32 | ring->size, memory_order_relaxed);
        ring->ids[ring->size] = id;
        ring->local[ring->size++] = 0;
    }
}

static void new_cycle(struct pt_clock_self *self)
{
    _Atomic uint64_t *cycle = &pt_clock_cycles[self->ring.owner].number;
    /* release: with the first number of the new cycle that others see, they see this */
    atomic_store_explicit(cycle, atomic_load_explicit(cycle, memory_order_relaxed) + 1, memory_order_release);
}

static bool start_ring(struct pt_clock_self *self)
{
    struct pt_clock_ring *ring = &self->ring;
    ring->owner = self->slot + 1;
    new_cycle(self);
    grow(self, FIRST);
    ring->position = 0;
    return ring->size > 0;
}

/* Nobody has it. acquire: partner of the releases by which others gave their references up. */
static bool is_free(const struct pt_clock_ring *ring, uint32_t position)
{
    pt_clock_id id = ring->ids[position];
    return !ring->marked[position] &&
           ring->local[position] + atomic_load_explicit(&pt_clocks[id].references, memory_order_acquire) == BIAS;
}

/* What comes next was used long ago, and another thread may have released it last. */
static void look_ahead(const struct pt_clock_ring *ring)
{
    enum { NEAR = 4, FAR = 8 };
    if (ring->position + FAR >= ring->size)
        return;
    const char *fact = (const char *)pt_clocks[ring->ids[ring->position + NEAR]].knows.fact;
    pt_sys_prefetch_write(&pt_clocks[ring->ids[ring->position + FAR]]);
    if (fact) {
        pt_sys_prefetch_write(fact);
        pt_sys_prefetch_write(fact + 64);
    }
}

/* False when all that there may be are in use. */
static bool turn(struct pt_clock_self *self)
{
    struct pt_clock_ring *ring = &self->ring;
    if (ring->found < ring->size / 8 * 3 || ring->size < ring->least)
        grow(self, ring->size);
    if (ring->mark) {
        memset(ring->marked, 0, ring->size);
        ring->mark(self);
    }
    bool any = ring->found > 0 || ring->position + 1 < ring->size;
    ring->found = 0;
    ring->position = 0;
    new_cycle(self);
    return any;
}

pt_clock_id pt_clock_ring_next(struct pt_clock_self *self)
{
    struct pt_clock_ring *ring = &self->ring;
    if (!pt_has_cache(PT_CACHE_RING) || (!ring->owner && (++ring->made < FEW || !start_ring(self))))
        return 0;
    for (unsigned looks = 0;; looks++) {
        if (looks >= LOOKS && ring->size == MOST)
            return 0;
        if (ring->position + 1 >= ring->size) {
            if (!turn(self))
                return 0;
        } else {
            ring->position++;
        }
        if (is_free(ring, ring->position))
            break;
    }
    look_ahead(ring);
    ring->found++;
    ring->local[ring->position] = 1;
    pt_clock_id id = ring->ids[ring->position];
    atomic_store_explicit(&pt_clocks[id].references, BIAS, memory_order_relaxed);
    atomic_store_explicit(&pt_clocks[id].cycle,
                          atomic_load_explicit(&pt_clock_cycles[ring->owner].number, memory_order_relaxed),
                          memory_order_relaxed);
    return id;
}

void pt_clock_ring_end(struct pt_clock_self *self)
{
    struct pt_clock_ring *ring = &self->ring;
    if (!ring->local)
        return;
    for (uint32_t i = 0; i < ring->size; i++) {
        pt_clock_id id = ring->ids[i];
        int64_t mine = ring->local[i] - BIAS;
        atomic_store_explicit(&pt_clock_homes[id], 0, memory_order_relaxed);
        /* acq_rel: as in pt_clock_release */
        if (atomic_fetch_add_explicit(&pt_clocks[id].references, mine, memory_order_acq_rel) + mine == 0)
            pt_clock_recycle(self, id);
    }
    new_cycle(self); /* whoever comes to have this place has other numbers */
    pt_pool_give(&self->pool, ring->ids);
    pt_pool_give(&self->pool, ring->local);
    pt_pool_give(&self->pool, ring->marked);
    *ring = (struct pt_clock_ring){0};
}
