/*
 * Pages that one thread alone uses: 512 granules that it has locked for a long time, so that it needs no lock for any
 * of them (biased locking), and does not count what it puts there.
 *
 *   owned page     all its words are locked, and its cell in the leaf has the owner's number. Clocks of the owner's
 * ring (clock/ring.c) in its words and records are not counted; the owner's ring asks for them when it begins anew
 * (pt_own_mark). All others are. All are clocks that the owner has passed. the owner      says in which page it is
 * (`own_at`), looks whether that is still its own, accesses, puts V_i there, and says that it has left. V_i must be of
 * its ring; else it gives the page up first. anybody else   finds the granule locked. Whoever waits for a lock asks for
 * the page (pt_own_revoke): marks the cell, has all threads pass a barrier (membarrier, so that the owner needs none),
 * waits until the owner is not in it, counts, and unlocks all words. After a few such times a page is nobody's.
 *
 * Invariant: as before, whoever has set the top bit is alone with the word; clocks are what algorithm A makes them, for
 * an access of the owner takes none (all are passed) and leaves V_i.
 * Memory order: the owner stores `own_at` and then loads the cell; who comes stores the cell, has a barrier in every
 * thread, and loads `own_at`. If the owner's barrier is before its load, it sees the mark; if behind it, its store is
 * seen. What the owner did is seen with the release by which it leaves.
 */
#ifndef PT_RUNTIME_SHADOW_OWN_H
#define PT_RUNTIME_SHADOW_OWN_H

#include "runtime/shadow/fast.h"

/* A page of the thread for a place in `own_at`; true: it is inside until it leaves. */
static inline bool pt_own_enter(struct pt_shadow_self *self, pt_shadow_word *word, unsigned place)
{
    pt_own_cell *cell = pt_own_cell_of(word);
    atomic_store_explicit(&self->own_at[place], cell, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst); /* partner: the barrier in all threads of pt_own_revoke */
    /* acquire: partner of the release by which the page was taken, by this thread */
    if (__builtin_expect(
            (atomic_load_explicit(cell, memory_order_acquire) & (PT_OWN_NUMBER | PT_OWN_GOING)) == self->owns, 1))
        return true;
    atomic_store_explicit(&self->own_at[place], NULL, memory_order_relaxed);
    return false;
}

static inline void pt_own_leave(struct pt_shadow_self *self, unsigned place)
{
    /* release: partner of the acquire in pt_own_revoke */
    atomic_store_explicit(&self->own_at[place], NULL, memory_order_release);
}

/* Begins an access of one granule that was seen locked: true inside the runtime, and inside the page. The thread is not
 * in the runtime before. */
static inline __attribute__((always_inline)) bool pt_own_begin(struct pt_shadow_self *self, pt_shadow_word *word)
{
    if (!self->owns || self->busy || self->fast == PT_NOT_FAST)
        return false;
    self->busy = 1;
    self->locked_word = word; /* as of a fast access: for faults, which give the page up (pt_own_yield) */
    if (__builtin_expect(pt_own_enter(self, word, 0), 1))
        return true;
    self->locked_word = NULL;
    pt_fast_leave(self);
    return false;
}

/* A read of a page of its own that would leave the granule as it is: nothing is written and nothing said. `seen` is its
 * word, loaded before the value; the cell is looked at after it, behind an acquire fence. While it is as it should be,
 * nobody else has come: whoever does marks it before anything else. */
static inline bool pt_own_read_is_known(const struct pt_shadow_self *self, uint64_t seen, uint64_t marks)
{
    return (seen & (PT_SHADOW_STATE | PT_SHADOW_CLOCK | marks)) == (self->fast | marks | PT_SHADOW_LOCKED) &&
           self->owns;
}
static inline bool pt_own_still(const struct pt_shadow_self *self, pt_shadow_word *word)
{
    return (atomic_load_explicit(pt_own_cell_of(word), memory_order_relaxed) & (PT_OWN_NUMBER | PT_OWN_GOING)) ==
           self->owns;
}

/* The end of an access of these bytes, in any form of the granule. */
void pt_own_put(struct pt_shadow_self *self, pt_shadow_word *word, unsigned bytes, bool write);

/* A clock is no longer in a word: who owns the page counts only those that are not of its own ring. */
static inline void pt_own_drop(struct pt_shadow_self *self, pt_clock_id id, int64_t references)
{
    if (id && id != self->clock.id && pt_clock_home(id) >> 32 != self->clock.ring.owner)
        pt_self_release(&self->clock, id, references);
}

static inline __attribute__((always_inline)) void pt_own_end(struct pt_shadow_self *self, pt_shadow_word *word,
                                                             uintptr_t address, unsigned size, bool write)
{
    unsigned bytes = pt_bytes_at(address, size);
    if (__builtin_expect(!pt_fast_kept(self), 0)) { /* a fault; the page is not the thread's any more */
        pt_granule_end_changed(self, word, address, bytes, write);
        pt_fast_leave(self);
        return;
    }
    uint64_t seen = atomic_load_explicit(word, memory_order_relaxed), clock = self->clock.id;
    uint64_t marks = (uint64_t)bytes << PT_SHADOW_BYTES_AT, made = PT_SHADOW_LOCKED | marks | clock;
    made |= write ? clock << PT_SHADOW_WRITE_AT : seen & (PT_SHADOW_CLOCK << PT_SHADOW_WRITE_AT);
    bool known = ((seen ^ made) & (PT_SHADOW_STATE | PT_SHADOW_CLOCKS)) == 0 && (seen & marks) == marks;
    if (!known && (seen & (PT_SHADOW_FINE | UINT64_C(0xff) << PT_SHADOW_BYTES_AT)) == marks) {
        pt_own_drop(self, pt_shadow_access(seen), 1);
        if (write)
            pt_own_drop(self, pt_shadow_write(seen), 1);
        atomic_store_explicit(word, made, memory_order_relaxed); /* nobody else looks at it */
    } else if (!known) {
        pt_own_put(self, word, bytes, write);
    }
    pt_own_leave(self, 0);
    pt_fast_leave(self);
}

/* The same of any size within a page, instead of locking its granules (slow.c). Opens it, if it is the thread's; and
 * closes it: false if the page had to be given up, with the granules of the access locked. */
bool pt_own_open(struct pt_shadow_self *self, struct pt_locked_range *range);
bool pt_own_close(struct pt_shadow_self *self, struct pt_locked_range *range, bool write);
/* What is known of [from, to), within a page, ends: false if it is not the thread's page. */
bool pt_own_forget(struct pt_shadow_self *self, uintptr_t from, uintptr_t to, bool *ret_any);

#endif
