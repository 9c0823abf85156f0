/*
 * Silence: no thread has had a relevant event that another does not know of.
 *
 * While that lasts every clock is the same, number 0, and no access but those of watched variables says anything to
 * anybody: it is made as with nothing to check. It begins with the program. Relevant events of a program that has one
 * thread do not end it, since whoever comes later knows of them: they go into the clock of number 0
 * (pt_clock_tick_all). The first thread whose clock becomes another one ends it, for good.
 *
 *   load    made, and then it is looked whether there is still silence: if so, what was read was written in it.
 *   store   its thread says that it stores (`storing`), looks whether there is silence, and stores.
 *   end     takes the mark from pt_active, has a barrier in every thread (membarrier, so that stores need none), and
 *           waits for those who store. All of that before the first clock that is not number 0 is anybody's.
 *
 * Memory order: the thread stores `storing` and then loads pt_active; who ends silence stores pt_active, has a barrier
 * in every thread, and loads `storing`. If the barrier is before the load, it sees that silence is over; if behind it,
 * its store of `storing` is seen, and the end waits. A load that got a value from behind the end sees the end, since
 * the value was stored after it: partner of the acquire fence is the release by which the granule was locked.
 * tests/interleave/test_silence.c.
 *
 * Silence that lasts (PT_KEEP_CHAINS). Each property speaks of one variable and of no user event: its relevant events
 * are the writes of that variable. Any two of these are ordered, as conflicting accesses of one variable (contract 3),
 * so its lattice is a chain, and what threads learn through other memory and through locks says nothing more. Then the
 * first clock that is not number 0 does not end silence, and no store is announced, since nobody waits for one: all
 * variables have their places from the start, and what the program names later is not watched. An event has the clock
 * of the event before it of the same variable (record_write in slow.c), and with it all of them: as far as its property
 * counts, that is the clock of algorithm A. Clocks that threads get otherwise, by fork and join or near watched
 * variables, are true, and nobody needs them.
 *
 * Where watched variables are is a range of addresses: accesses there take the way of all others, which looks at their
 * granules. A range that grows is waited for like the end.
 *
 * A fault of a store: its handler may run for long, so that the thread does not store meanwhile. If silence is over
 * when the handler has returned, the store's granules are locked then. Of accesses of more than PT_SILENCE_ROOM bytes
 * the clocks come late, and the observer is told that something was lost.
 */
#ifndef PT_RUNTIME_SHADOW_SILENCE_H
#define PT_RUNTIME_SHADOW_SILENCE_H

#include "runtime/shadow/self.h"

enum { PT_SILENCE_ROOM = 16 }; /* bytes of the largest access by a hook */

/* The watched variables, with PT_SILENCE_ROOM bytes before them. */
#pragma GCC visibility push(hidden)
extern _Atomic uintptr_t pt_silence_from, pt_silence_span;
#pragma GCC visibility pop

/* From the next access on, if it can be: nothing is recorded yet, and there is one thread. With `lasts` to the end. */
void pt_silence_start(bool lasts);
void pt_silence_restart(void);
/* Before a thread gets a clock that is not number 0. It is in the runtime. */
void pt_silence_end_now(void);
extern _Atomic bool pt_silence_over; /* there is such a clock */
extern bool pt_silence_lasts;        /* nevertheless; set before the first thread is known */
static inline bool pt_is_lasting(void)
{
    return atomic_load_explicit(&pt_active, memory_order_relaxed) == PT_ACTIVE_LASTING;
}
static inline void pt_silence_end(void)
{
    /* acquire: partner of the release by whoever has waited */
    if (__builtin_expect(!atomic_load_explicit(&pt_silence_over, memory_order_acquire), 0))
        pt_silence_end_now();
}
/* The next relevant event of a thread that is alone, in silence: true if nothing more is to be done. */
bool pt_silence_tick(struct pt_shadow_self *self);
/* Whether there is no watched variable, and none within [address, address + size). Silence or not. */
bool pt_silence_is_outside(uintptr_t address, size_t size);
/* While it lasts: whether nothing is watched in the granules of this access. */
bool pt_silence_spares(uintptr_t address, size_t size);
/* ... and the thread, which knew of the latest event of a variable, has had the next. Whoever has locked the
 * variable is alone with `latest`, which owns a reference. */
void pt_silence_lead(struct pt_shadow_self *self, pt_clock_id *latest);
/* A variable will be watched in [low, high). */
void pt_silence_widen(uintptr_t low, uintptr_t high);

static inline __attribute__((always_inline)) bool pt_is_silent(void)
{
    return atomic_load_explicit(&pt_active, memory_order_relaxed) == PT_ACTIVE_SILENCE;
}

/* Whether nothing is watched where an access of up to PT_SILENCE_ROOM bytes is. */
static inline __attribute__((always_inline)) bool pt_silence_has(uintptr_t address)
{
    return __builtin_expect(address - atomic_load_explicit(&pt_silence_from, memory_order_relaxed) >=
                                atomic_load_explicit(&pt_silence_span, memory_order_relaxed),
                            1);
}

static inline __attribute__((always_inline)) void pt_silence_leave(struct pt_shadow_self *self)
{
    /* release: partner of the acquire of who waits for it */
    atomic_store_explicit(&self->storing, 0, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    self->busy = 0;
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(self->attention != 0, 0))
        pt_shadow_hooks.attend(self);
}

/* True: the thread is in the runtime, stores, and may do so until the end. A size of 0: what is said in the end. */
static inline __attribute__((always_inline)) bool pt_silence_begin_store(struct pt_shadow_self *self, uintptr_t address,
                                                                         uint32_t size)
{
    if (__builtin_expect(!self || self->busy, 0))
        return false;
    self->busy = 1;
    self->store_at = address;
    self->store_size = size;
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&self->storing, 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst); /* for other threads: the barrier of who ends silence */
    if (__builtin_expect(pt_is_silent(), 1))
        return true;
    pt_silence_leave(self);
    return false;
}

/* The handler of a fault in the middle of a store has returned. True: the store is disturbed, for its end. */
bool pt_silence_resume(struct pt_shadow_self *self);
/* A fault has disturbed the store. */
void pt_silence_disturbed(struct pt_shadow_self *self, uintptr_t address, size_t size);
static inline __attribute__((always_inline)) void pt_silence_end_store(struct pt_shadow_self *self, uintptr_t address,
                                                                       size_t size)
{
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(self->disturbed, 0))
        pt_silence_disturbed(self, address, size);
    pt_silence_leave(self);
}

/* The same for accesses of any size, of which the first may be none. */
bool pt_silence_begin_piece(struct pt_shadow_self *self, uintptr_t from, size_t read, uintptr_t to, size_t written);

/* The same for an access that the program makes between two calls, and that may be inside of another: false if it is to
 * be made in the ordinary way, which may wait, so that the thread does not store any more. The outermost one ends the
 * store. */
bool pt_silence_open(struct pt_shadow_self *self, uintptr_t address, size_t size, struct pt_locked_range *ret_range);
void pt_silence_close(struct pt_shadow_self *self, const struct pt_locked_range *range);

#endif
