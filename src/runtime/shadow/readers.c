/*
 * Readings: how a granule gets a record for them, how readers enter theirs, and how they are collected.
 *
 * Guarantee: the access clock of a granule is the maximum of its record's and its readings', and whoever writes has
 * collected all of them. Cost: a read touches the reader's own cache line; collecting is linear in the readers.
 */
#include "runtime/shadow/readers.h"

#include "runtime/shadow/granule.h"

enum { WORTH = 4, MOST = 64 /* threads: the bits of pt_fine.readers */ };

/* The threads that have had readings, by slot. A slot's thread always lies at the same place, so an entry is written
 * with one value only, before the bit that tells of it. */
static struct pt_shadow_self *_Atomic threads[MOST];

/* Whether this thread has already raised A_x here some times, next to other readers. */
static bool is_worth(struct pt_shadow_self *self, uintptr_t granule)
{
    struct pt_raised *raised = &self->raised[(granule >> 3) & ((1u << PT_RAISED_BITS) - 1)];
    if (raised->granule != granule)
        *raised = (struct pt_raised){granule, 0};
    return ++raised->times >= WORTH || !pt_has_cache(PT_CACHE_RAISED);
}

/* The access clocks of the bytes that the record is for take this one in. */
static void raise_all(struct pt_shadow_self *self, struct pt_fine *fine, pt_clock_id clock)
{
    for (unsigned i = 0, j; i < 8; i = j) {
        pt_clock_id before = fine->access[i];
        bool read = fine->bytes >> i & 1;
        for (j = i + 1; j < 8 && fine->access[j] == before && (fine->bytes >> j & 1) == read; j++)
            ;
        if (!read)
            continue;
        pt_clock_id joined = pt_clock_join(&self->clock, before, clock);
        pt_self_acquire(&self->clock, joined, j - i);
        pt_self_release(&self->clock, before, j - i);
        for (unsigned k = i; k < j; k++)
            fine->access[k] = joined;
        pt_clock_release(&self->clock, joined, 1);
    }
}

/* The clock of a reading goes into the record, and the reading ends. */
static void fold(struct pt_shadow_self *self, struct pt_fine *fine, struct pt_reading *reading)
{
    raise_all(self, fine, pt_readers_clock(reading));
    pt_self_release(&self->clock, pt_readers_clock(reading), 1);
    atomic_store_explicit(&reading->clock, 0, memory_order_relaxed);
    /* release: a read that sees what is written next in the granule sees this too */
    atomic_store_explicit(&reading->record, 0, memory_order_release);
}

void pt_readers_collect(struct pt_shadow_self *self, uint32_t record)
{
    struct pt_fine *fine = &pt_fines[record];
    atomic_thread_fence(memory_order_seq_cst); /* partner: that of pt_readers_begin */
    for (uint64_t left = fine->readers; left; left &= left - 1) {
        struct pt_shadow_self *thread = atomic_load_explicit(&threads[__builtin_ctzll(left)], memory_order_relaxed);
        struct pt_reading *reading = &thread->readings[record & ((1u << PT_READING_BITS) - 1)];
        for (unsigned turn = 0; atomic_load_explicit(&reading->busy, memory_order_acquire);)
            pt_spin_await(&reading->busy, 1, &turn);
        fold(self, fine, reading);
    }
    fine->readers = 0;
    fine->bytes = 0;
}

/* Whether the granule has a record for reads of these bytes; made where that is worth it. */
static bool has_record(struct pt_shadow_self *self, uintptr_t address, uint64_t *word, unsigned bytes)
{
    if (*word & PT_SHADOW_FINE)
        return pt_fines[pt_shadow_access(*word)].bytes == bytes;
    struct pt_fine *fine = is_worth(self, address & ~(uintptr_t)7) ? pt_granule_make_fine(self, address, word) : NULL;
    if (fine)
        fine->bytes = (uint8_t)bytes;
    return fine;
}

bool pt_readers_add(struct pt_shadow_self *self, uintptr_t address, uint64_t *word, unsigned bytes)
{
    if (!pt_has_cache(PT_CACHE_READINGS) || self->clock.slot >= MOST || !has_record(self, address, word, bytes))
        return false;
    uint32_t record = pt_shadow_access(*word);
    struct pt_reading *reading = &self->readings[record & ((1u << PT_READING_BITS) - 1)];
    uint32_t has = atomic_load_explicit(&reading->record, memory_order_relaxed);
    if (has && has != record) {
        self->crowded = reading; /* there will be room next time */
        return false;
    }
    pt_readers_renew(self, reading);
    reading->granule = address & ~(uintptr_t)7;
    reading->bytes = bytes;
    atomic_store_explicit(&reading->record, record, memory_order_relaxed);
    /* relaxed: whoever sees the bit has locked the granule after us */
    atomic_store_explicit(&threads[self->clock.slot], self, memory_order_relaxed);
    pt_fines[record].readers |= UINT64_C(1) << self->clock.slot;
    return true;
}

static void give_up(struct pt_shadow_self *self, struct pt_reading *reading)
{
    pt_shadow_word *word = reading->granule ? pt_shadow_peek(reading->granule) : NULL;
    if (!word)
        return;
    uint64_t seen = pt_granule_lock(word);
    uint32_t record = atomic_load_explicit(&reading->record, memory_order_relaxed); /* none: it has been collected */
    if (record) {
        fold(self, &pt_fines[record], reading);
        pt_fines[record].readers &= ~(UINT64_C(1) << self->clock.slot);
    }
    pt_granule_unlock(word, seen);
}

void pt_readers_make_room(struct pt_shadow_self *self)
{
    struct pt_reading *reading = self->crowded;
    self->crowded = NULL;
    give_up(self, reading);
}

void pt_readers_end(struct pt_shadow_self *self)
{
    for (unsigned i = 0; i < 1u << PT_READING_BITS; i++)
        give_up(self, &self->readings[i]);
}
