/*
 * Accesses of one granule by the thread that keeps it (kept.h). A fine granule may have bytes of which there is
 * something to learn: those are for the slow path.
 *
 * While all clocks are rungs (clock/ladder.h) most accesses take a short way: numbers are compared and stored, nothing
 * has references, and nothing is called on it. Those of which nothing is to be learned either, but whose granule gets
 * or loses a record, begin likewise and go on a longer one. pt_clock_only_rungs is asked before the thread is at work:
 * what it keeps then was put there by itself, or locked by it since, so that there is no other clock if the ladder ends
 * meanwhile.
 */
#ifndef PT_RUNTIME_SHADOW_KEPT_ACCESS_H
#define PT_RUNTIME_SHADOW_KEPT_ACCESS_H

#include "runtime/shadow/kept.h"
#include "runtime/shadow/narrow.h"

/* V_i into the word of a granule, without its mark, after or before an access of these bytes; the word then. */
uint64_t pt_kept_put(struct pt_shadow_self *self, uint64_t word, uintptr_t address, unsigned bytes, bool write);

/* True inside the runtime, and at work, with the word as it is. The thread is not in the runtime before. */
static inline __attribute__((always_inline)) bool pt_kept_begin(struct pt_shadow_self *self, pt_shadow_word *word,
                                                                uintptr_t address, unsigned size, uint64_t *ret_seen)
{
    if (self->busy)
        return false;
    self->busy = 1;
    self->locked_word = word; /* for faults, as of a fast access */
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(pt_kept_enter(self, address), 1)) {
        uint64_t seen = atomic_load_explicit(word, memory_order_relaxed);
        if (__builtin_expect(seen & PT_SHADOW_KEPT, 1) &&
            (!(seen & PT_SHADOW_FINE) ||
             pt_narrow_is_past(self, &pt_fines[pt_shadow_access(seen)], address & 7, size))) {
            *ret_seen = seen & ~PT_SHADOW_KEPT;
            return true;
        }
        pt_kept_exit(self);
    }
    pt_fast_leave(self);
    return false;
}

/* V_i into these bytes of a record, where there are only rungs, which have no references; true if it is to be packed.
 */
static inline __attribute__((always_inline)) bool pt_kept_put_rung(pt_clock_id rung, struct pt_fine *fine,
                                                                   unsigned first, unsigned size, bool write)
{
    bool packs = write && pt_narrow_seems_whole(fine, rung, first);
    for (unsigned i = first; i < first + size; i++)
        fine->access[i] = rung;
    for (unsigned i = first; write && i < first + size; i++)
        fine->write[i] = rung;
    return packs || __builtin_expect(pt_fine_are_many() && pt_narrow_agrees(fine, rung), 0);
}

/* V_i into the word of a granule of which these are all bytes in use, or into its record. */
static inline __attribute__((always_inline)) void pt_kept_raise(struct pt_shadow_self *self, pt_shadow_word *word,
                                                                uint64_t seen, uintptr_t address, unsigned size,
                                                                bool write)
{
    unsigned bytes = pt_bytes_at(address, size);
    uint64_t clock = self->clock.id, marks = (uint64_t)bytes << PT_SHADOW_BYTES_AT, made;
    if (write && (seen & (PT_SHADOW_FINE | PT_SHADOW_CLOCKS | marks)) == (clock << PT_SHADOW_WRITE_AT | clock | marks))
        return;
    if ((seen & (PT_SHADOW_FINE | UINT64_C(0xff) << PT_SHADOW_BYTES_AT)) == marks) {
        made = write ? marks | clock << PT_SHADOW_WRITE_AT | clock : (seen & ~PT_SHADOW_CLOCK) | clock;
        if (!pt_clock_only_rungs()) {
            pt_self_give(&self->clock, 1 + write);
            pt_self_pass(&self->clock, pt_shadow_access(seen), 1);
            if (write)
                pt_self_release(&self->clock, pt_shadow_write(seen), 1);
        }
    } else if (size < 8 && seen & PT_SHADOW_FINE && pt_clock_only_rungs()) {
        if (!pt_kept_put_rung(self->clock.id, &pt_fines[pt_shadow_access(seen)], address & 7, size, write))
            return;
        made = pt_granule_pack(self, address, seen);
    } else {
        made = pt_kept_put(self, seen, address, bytes, write);
        if (made == seen)
            return;
    }
    atomic_store_explicit(word, made | PT_SHADOW_KEPT, memory_order_relaxed);
}

static inline __attribute__((always_inline)) void pt_kept_end_read(struct pt_shadow_self *self, pt_shadow_word *word,
                                                                   uint64_t seen, uintptr_t address, unsigned size)
{
    if (pt_fast_kept(self)) {
        pt_kept_raise(self, word, seen, address, size, false);
        pt_kept_exit(self);
    } else {
        pt_granule_end_changed(self, word, address, pt_bytes_at(address, size), false);
    }
    pt_fast_leave(self);
}

static inline __attribute__((always_inline)) void pt_kept_put_write(struct pt_shadow_self *self, pt_shadow_word *word,
                                                                    uint64_t seen, uintptr_t address, unsigned size)
{
    pt_kept_raise(self, word, seen, address, size, true);
    atomic_thread_fence(memory_order_release); /* partner: that of a fast read; no instruction on x86 */
}

static inline __attribute__((always_inline)) void pt_kept_end_write(struct pt_shadow_self *self, pt_shadow_word *word,
                                                                    uintptr_t address, unsigned size)
{
    if (pt_fast_kept(self))
        pt_kept_exit(self);
    else
        pt_granule_end_changed(self, word, address, pt_bytes_at(address, size), true);
    pt_fast_leave(self);
}

/* --- the short way, while all clocks are rungs --- */

/* Whether the granule is left as one word, or as the record that it has, with nothing to learn of these bytes. */
static inline __attribute__((always_inline)) bool pt_kept_is_short(pt_clock_id rung, uint64_t seen, uintptr_t address,
                                                                   unsigned size, bool write)
{
    uint64_t marks = (uint64_t)pt_bytes_at(address, size) << PT_SHADOW_BYTES_AT;
    if (!(seen & PT_SHADOW_FINE))
        return (seen & UINT64_C(0xff) << PT_SHADOW_BYTES_AT) == marks ||
               (write && (seen & (PT_SHADOW_CLOCKS | marks)) == pt_shadow_pack(rung, rung, 0) + marks);
    const struct pt_fine *fine = &pt_fines[pt_shadow_access(seen)];
    unsigned first = address & 7;
    return size < 8 && pt_narrow_is_below(rung, fine->access + first, size) &&
           !(write && pt_narrow_seems_whole(fine, rung, first)) &&
           !__builtin_expect(pt_fine_are_many() && pt_narrow_will_agree(fine, rung, first, size), 0);
}

enum pt_kept_way { PT_KEPT_NO_WAY, PT_KEPT_SHORT, PT_KEPT_LONG };

/* As pt_kept_begin, with its mark in the word; and whether it has the short way, or leaves the granule in another shape
 * (a long one). No way: nothing has happened, and whoever is called now will attend to what came meanwhile. */
static inline __attribute__((always_inline)) enum pt_kept_way pt_kept_begin_rung(struct pt_shadow_self *self,
                                                                                 pt_shadow_word *word,
                                                                                 uintptr_t address, unsigned size,
                                                                                 bool write, uint64_t *ret_seen)
{
    if (self->busy || !pt_clock_only_rungs())
        return PT_KEPT_NO_WAY;
    self->busy = 1;
    self->locked_word = word;
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(pt_kept_enter(self, address), 1)) {
        uint64_t seen = atomic_load_explicit(word, memory_order_relaxed);
        *ret_seen = seen;
        if (__builtin_expect(seen & PT_SHADOW_KEPT && pt_kept_is_short(self->clock.id, seen, address, size, write), 1))
            return PT_KEPT_SHORT;
        if (seen & PT_SHADOW_KEPT &&
            (!(seen & PT_SHADOW_FINE) ||
             pt_narrow_is_below(self->clock.id, pt_fines[pt_shadow_access(seen)].access + (address & 7), size)))
            return PT_KEPT_LONG;
        pt_kept_exit(self);
    }
    atomic_signal_fence(memory_order_seq_cst);
    self->busy = 0;
    return PT_KEPT_NO_WAY;
}

static inline __attribute__((always_inline)) void pt_kept_put_short(struct pt_shadow_self *self, pt_shadow_word *word,
                                                                    uint64_t seen, uintptr_t address, unsigned size,
                                                                    bool write)
{
    uint64_t rung = self->clock.id, kept = write ? ~PT_SHADOW_CLOCKS : ~PT_SHADOW_CLOCK;
    struct pt_fine *fine = &pt_fines[pt_shadow_access(seen)];
    if (!(seen & PT_SHADOW_FINE)) {
        uint64_t made = (seen & kept) | (write ? rung << PT_SHADOW_WRITE_AT | rung : rung);
        atomic_store_explicit(word, made, memory_order_relaxed);
        return;
    }
    for (unsigned i = 0; i < size; i++)
        fine->access[(address & 7) + i] = (pt_clock_id)rung;
    for (unsigned i = 0; write && i < size; i++)
        fine->write[(address & 7) + i] = (pt_clock_id)rung;
}

/* True: there is something to attend to. */
static inline __attribute__((always_inline)) bool pt_kept_leave(struct pt_shadow_self *self)
{
    pt_kept_exit(self);
    atomic_signal_fence(memory_order_seq_cst);
    self->busy = 0;
    atomic_signal_fence(memory_order_seq_cst);
    return __builtin_expect(self->attention != 0, 0);
}

#endif
