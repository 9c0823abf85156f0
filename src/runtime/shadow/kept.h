/*
 * Pages that one thread alone uses: it keeps the granules that it has accessed there, and needs no lock for them
 * (biased locking).
 *
 *   kept granule   its word has the mark PT_SHADOW_KEPT, and its page a keeper (in the leaf). Only the keeper may
 * change the word, what it refers to and the memory; all else about it, references included, is as of any other
 * granule. Of a granule that is not fine A <= V of the keeper: so it was when it was kept. the keeper     says that it
 * is at work (`keeping` is odd), looks whether the page is still its own, accesses, and says that it is done. A write
 * puts its clocks into the word before it stores the value. anybody else   who wants to lock a kept granule takes the
 * mark from all granules of the page (pt_kept_open): the page moves, all threads pass a barrier (membarrier, so that
 * the keeper needs none), and whoever is at work is waited for. A page has had PT_KEPT_TIMES keepers at most, until its
 * memory's shadow ends.
 *
 * More granules of a page that is its own become kept when the keeper unlocks them, or when a piece of memory touches
 * them (by a compare-and-swap, while it is at work); what it gives back stays kept, and is then the mark alone.
 *
 * A read that finds its own clock in a word needs none of this, whoever keeps the granule: the value that it loaded is
 * no later than the word if that is the same afterwards, since the keeper stores the word first.
 *
 * Memory order: the keeper stores `keeping` and then loads the page's cell; who comes stores the cell, has a barrier in
 * every thread, and loads `keeping`. If the keeper's barrier is before its load it sees that the page moves; if behind
 * it, its store is seen. What the keeper did is seen with the release by which it is done.
 * tests/interleave/test_kept.c.
 *
 * A fault of an access by the keeper: the granule is locked when the handler has returned (thread/signal.c). If it does
 * not return, a write that did not happen has left its clocks.
 */
#ifndef PT_RUNTIME_SHADOW_KEPT_H
#define PT_RUNTIME_SHADOW_KEPT_H

#include "runtime/shadow/shadow.h"

/* A cell: who keeps the page, 0 nobody; whether it moves; and how many have kept it. */
enum { PT_KEPT_BY = (1 << 26) - 1, PT_KEPT_MOVING = 1 << 26, PT_KEPT_TIMES_AT = 28, PT_KEPT_TIMES = 15 };
#define PT_KEPT_NEVER ((uint32_t)PT_KEPT_TIMES << PT_KEPT_TIMES_AT) /* nobody does, for good */
enum { PT_KEPT_TURN = 16 }; /* accesses after which a thread looks whether the page could be its own */

static inline __attribute__((always_inline)) pt_kept_cell *pt_kept_cell_of(uintptr_t address)
{
    struct pt_shadow_leaf *leaf = atomic_load_explicit(&pt_leaves[address >> PT_LEAF_BITS], memory_order_relaxed);
    return &leaf->keepers[(address & ((1u << PT_LEAF_BITS) - 1)) >> 12];
}

/* Whether the thread keeps the page, and may use that now. */
static inline __attribute__((always_inline)) bool pt_kept_is_own(const struct pt_shadow_self *self, uintptr_t address)
{
    /* acquire: partner of the release by which it became so; it was this thread's */
    uint32_t state = atomic_load_explicit(pt_kept_cell_of(address), memory_order_acquire);
    return (state & (PT_KEPT_BY | PT_KEPT_MOVING)) == self->keeper && self->keeper;
}

static inline __attribute__((always_inline)) void pt_kept_exit(struct pt_shadow_self *self)
{
    /* release: partner of the acquire of who waits for it */
    uint32_t keeping = atomic_load_explicit(&self->keeping, memory_order_relaxed);
    atomic_store_explicit(&self->keeping, keeping + 1, memory_order_release);
}

/* True: the page stays the thread's until it exits. Nothing is waited for in between. */
static inline __attribute__((always_inline)) bool pt_kept_enter(struct pt_shadow_self *self, uintptr_t address)
{
    uint32_t keeping = atomic_load_explicit(&self->keeping, memory_order_relaxed);
    atomic_store_explicit(&self->keeping, keeping + 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst); /* for other threads: the barrier of who moves the page */
    if (__builtin_expect(pt_kept_is_own(self, address), 1))
        return true;
    pt_kept_exit(self);
    return false;
}

/* Unlocks a granule whose clock of accesses was an earlier one of this thread, and is V_i now: so the thread was alone
 * meanwhile, and will come again. Keeps the granule where its page is the thread's own, or can be. */
void pt_kept_unlock_own(struct pt_shadow_self *self, pt_shadow_word *word, uintptr_t address, uint64_t value);
static inline __attribute__((always_inline)) void pt_kept_unlock(struct pt_shadow_self *self, pt_shadow_word *word,
                                                                 uintptr_t address, uint64_t value)
{
    uint32_t state = atomic_load_explicit(pt_kept_cell_of(address), memory_order_relaxed);
    if (__builtin_expect(state == PT_KEPT_NEVER, 1))
        pt_granule_unlock(word, value);
    else
        pt_kept_unlock_own(self, word, address, value);
}

/* Locks a granule which the thread keeps, where others would have to open it. */
bool pt_kept_lock(struct pt_shadow_self *self, pt_shadow_word *word, uintptr_t granule);
static inline uint64_t pt_granule_lock_at(struct pt_shadow_self *self, pt_shadow_word *word, uintptr_t granule)
{
    uint64_t seen = atomic_load_explicit(word, memory_order_relaxed);
    if (seen & PT_SHADOW_KEPT && pt_kept_lock(self, word, granule))
        return seen & ~PT_SHADOW_KEPT;
    return pt_granule_lock(word);
}

/* Ends the lives of whole granules in a page, from this one on as long as the thread keeps them, and goes on keeping
 * them. The first that is left. */
uintptr_t pt_kept_forget(struct pt_shadow_self *self, pt_shadow_word *word, uintptr_t granule, uintptr_t end);

/* A fault in the middle of an access of a kept granule: true if there is one. It is given up, for others to open. */
bool pt_kept_suspend(struct pt_shadow_self *self);
/* The thread ends: what it has kept is for others to open. */
void pt_kept_end(struct pt_shadow_self *self);
void pt_kept_restart(void);

/* Of up to a page, plain, of which all granules are kept: begins with the clocks of a write in place. False: nothing
 * has happened. The thread is inside the runtime. */
bool pt_kept_begin_piece(struct pt_shadow_self *self, uintptr_t address, size_t size, bool write,
                         struct pt_locked_range *range);
/* False: there was a fault, and its granules are locked now. */
bool pt_kept_end_piece(struct pt_shadow_self *self, struct pt_locked_range *range, bool write);
/* Whether granules of a locked range may be unlocked as kept ones: what goes into their words for that, or 0. Unless it
 * is 0 the caller exits afterwards. */
uint64_t pt_kept_enter_range(struct pt_shadow_self *self, const struct pt_locked_range *range);
/* Whether this is a word to keep. */
static inline bool pt_kept_fits(const struct pt_shadow_self *self, uint64_t word)
{
    if (!(word & PT_SHADOW_FINE))
        return pt_shadow_access(word) == self->clock.id;
    const struct pt_fine *fine = &pt_fines[pt_shadow_access(word)];
    return !fine->watch && !fine->readers && !fine->bytes;
}

#endif
