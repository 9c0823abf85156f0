/*
 * Variables that several threads read again and again, and seldom write: a constant set at the start, a table's size.
 * Algorithm A raises A_x at every read by a thread whose clock has changed since; done in the shadow word, that makes a
 * clock that is nobody's and moves the word's cache line from reader to reader.
 *
 * The granule of such a variable gets a record (struct pt_fine) and each reader a reading: a cache line of its own with
 * the clock of its last read. A_x is then the maximum of the record's access clock and of all readings; whoever wants
 * to know it (the next write, the end of the variable's life, a watch) locks the granule and collects them. Readings
 * are a lock with one part for each reader: a reader marks its part busy and looks whether the granule is locked;
 * whoever has locked it to write waits for the parts that are busy. Both have a full fence in between, so one of them
 * sees the other (Dekker's argument), and a read is either before the writer's access, and collected, or after it.
 *
 * Invariant: while a reading's `busy` is set and its granule was then seen unlocked, nobody collects it. Memory order:
 * both fences are seq_cst, and of two such fences one comes first on any processor; then the other side's load sees the
 * store before it (`busy`, or the lock). The end of a read (`busy` <- 0, release) pairs with the collector's load
 * (acquire), which then sees the clock. A read with the reading's own clock marks nothing: it loads the value, then,
 * behind an acquire fence, the word and `record`. If the value is that of a later writer, the fence of that writer's
 * lock (shadow.h) makes the word show the lock, or an unlock; and the unlock (release) shows that `record` is 0.
 * tests/interleave/test_readers.c.
 */
#ifndef PT_RUNTIME_SHADOW_READERS_H
#define PT_RUNTIME_SHADOW_READERS_H

#include "runtime/shadow/shadow.h"

/* In these the caller has locked the granule. After a read of `bytes`, all that are in use, the thread's clock goes
 * into its reading; false where that is not worth it or not possible. The word may have changed in any case. */
bool pt_readers_add(struct pt_shadow_self *self, uintptr_t address, uint64_t *word, unsigned bytes);
/* The record's access clocks have all that the readings had; there are none any more. */
void pt_readers_collect(struct pt_shadow_self *self, uint32_t record);

/* Nothing is locked here. Gives up readings: that whose place another granule wants, or all at the thread's end. */
void pt_readers_make_room(struct pt_shadow_self *self);
void pt_readers_end(struct pt_shadow_self *self);

/* The thread's reading of a granule that has a record; NULL: it has none. */
static inline struct pt_reading *pt_readers_at(struct pt_shadow_self *self, uint64_t word, uintptr_t address,
                                               unsigned bytes)
{
    uint32_t record = pt_shadow_access(word);
    struct pt_reading *reading = &self->readings[record & ((1u << PT_READING_BITS) - 1)];
    bool mine = pt_has_cache(PT_CACHE_READINGS) && (word & PT_SHADOW_STATE) == PT_SHADOW_FINE &&
                self->fast != PT_NOT_FAST && reading->granule == (address & ~(uintptr_t)7) && reading->bytes == bytes &&
                atomic_load_explicit(&reading->record, memory_order_relaxed) == record;
    return mine ? reading : NULL;
}

static inline bool pt_readers_still(const struct pt_reading *reading, pt_shadow_word *word, uint64_t seen)
{
    return atomic_load_explicit(word, memory_order_acquire) == seen &&
           atomic_load_explicit(&reading->record, memory_order_relaxed) == pt_shadow_access(seen);
}

/* relaxed: a collector may clear it at any time, which `record` tells, too */
static inline pt_clock_id pt_readers_clock(const struct pt_reading *reading)
{
    return atomic_load_explicit(&reading->clock, memory_order_relaxed);
}

/* The thread's clock in place of the last; no collector can be at it. */
static inline void pt_readers_renew(struct pt_shadow_self *self, struct pt_reading *reading)
{
    pt_self_give(&self->clock, 1);
    pt_self_release(&self->clock, pt_readers_clock(reading), 1);
    atomic_store_explicit(&reading->clock, self->clock.id, memory_order_relaxed);
}

/* A read by a thread whose clock is not that of the reading: enters the runtime; false if the granule is not as it was,
 * and then the caller leaves. */
static inline bool pt_readers_begin(struct pt_shadow_self *self, struct pt_reading *reading, pt_shadow_word *word,
                                    uint64_t seen)
{
    self->locked_word = NULL;
    self->busy = 1;
    self->reading = reading;
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&reading->busy, 1, memory_order_relaxed);
    /* Partner: the fence in pt_readers_collect, between locking the granule and looking at `busy`. */
    atomic_thread_fence(memory_order_seq_cst);
    if (pt_readers_still(reading, word, seen))
        return true;
    self->reading = NULL;
    atomic_store_explicit(&reading->busy, 0, memory_order_release);
    return false;
}

/* After it; false if the granule was unlocked in the middle (a fault), so that the read does not count. */
static inline bool pt_readers_done(struct pt_shadow_self *self, struct pt_reading *reading)
{
    atomic_signal_fence(memory_order_seq_cst);
    self->reading = NULL;
    if (__builtin_expect(self->disturbed, 0)) {
        self->disturbed = false;
        return false;
    }
    pt_readers_renew(self, reading);
    /* release: partner of the acquire by which a collector sees that it may look */
    atomic_store_explicit(&reading->busy, 0, memory_order_release);
    return true;
}

#endif
