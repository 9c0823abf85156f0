/*
 * The fast paths: small accesses that need no more than their own granule's word (shadow/slow.c has the slow path, for
 * the rest):
 *
 *   known read    the granule is as the read would leave it. Nothing is written: the word is checked, the value loaded,
 *                 the word checked again. What another thread did in between shows in the word, or was done with the
 *                 same clock and is no news.
 *                 An access of two granules is one if it is so of both.
 *   known write   A = W = V_i already: locked, written, unlocked.
 *   passed        A is an older clock, which the thread has passed (clock/self.h), and the access covers all bytes in
 * use. W <= A, so the access takes no clock; locked, looked at again if the thread had no reference to A, accessed, and
 * unlocked with V_i in place. evaluated     the same by a thread whose monitor looks at every event: the
 * hook is called between the access and the end, and may make a new V_i of it.
 *
 * Whoever has locked a granule is alone with it, so the access and its clocks are one step for all others. In a fault
 * of the access the granule is unlocked while the program's handler runs (thread/signal.c); the ends look whether it is
 * still as it was.
 */
#ifndef PT_RUNTIME_SHADOW_FAST_H
#define PT_RUNTIME_SHADOW_FAST_H

#include "runtime/shadow/granule.h"
#include "runtime/shadow/kept.h"
#include "runtime/shadow/readers.h"
#include "runtime/shadow/shadow.h"

/* The word of an access within one granule; NULL when it is no such access, or nothing near it has a word. */
static inline pt_shadow_word *pt_fast_word(uintptr_t address, unsigned size)
{
    return (address & 7) + size <= 8 && pt_address_ok(address) ? pt_shadow_peek(address) : NULL;
}

/* Marks of the bytes, none while the clock is empty. */
static inline uint64_t pt_fast_marks(const struct pt_shadow_self *self, uintptr_t address, unsigned size)
{
    return (uint64_t)pt_bytes_at(address, size) << PT_SHADOW_BYTES_AT & self->care;
}

/* Whether, for a thread that may be fast with this clock, a read would leave the granule as it is: A is this thread's
 * clock, so W, which is no later, is known to it. Whoever keeps it does not matter (kept.h).
 */
static inline bool pt_fast_read_is_known(uint64_t fast, uint64_t word, uint64_t marks)
{
    return __builtin_expect((word & (PT_SHADOW_LOCKED | PT_SHADOW_FINE | PT_SHADOW_CLOCK | marks)) == (fast | marks),
                            1);
}

/* A read that touches two granules, as it saw them. */
struct pt_fast_pair {
    pt_shadow_word *low, *high;
    uint64_t low_seen, high_seen;
};

static inline bool pt_fast_pair_is_known(const struct pt_shadow_self *self, uintptr_t address, unsigned size,
                                         struct pt_fast_pair *ret_pair)
{
    uintptr_t last = address + size - 1, high = last & ~(uintptr_t)7;
    if (high - (address & ~(uintptr_t)7) != 8 || !pt_address_ok(last))
        return false;
    pt_shadow_word *low_word = pt_shadow_peek(address);
    pt_shadow_word *high_word = low_word && !pt_shadow_starts_leaf(high) ? low_word + 1 : pt_shadow_peek(high);
    if (!low_word || !high_word)
        return false;
    /* acquire: partner of the release that unlocked it last */
    *ret_pair = (struct pt_fast_pair){low_word, high_word, atomic_load_explicit(low_word, memory_order_acquire),
                                      atomic_load_explicit(high_word, memory_order_acquire)};
    uint64_t low_marks = (UINT64_C(0xff) << (address & 7) & 0xff) << PT_SHADOW_BYTES_AT;
    uint64_t high_marks = (UINT64_C(0xff) >> (7 - (last & 7))) << PT_SHADOW_BYTES_AT;
    return pt_fast_read_is_known(self->fast, ret_pair->low_seen, low_marks & self->care) &&
           pt_fast_read_is_known(self->fast, ret_pair->high_seen, high_marks & self->care);
}

/* When the value has been loaded, behind an acquire fence. */
static inline bool pt_fast_pair_still(const struct pt_fast_pair *pair)
{
    return atomic_load_explicit(pair->low, memory_order_relaxed) == pair->low_seen &&
           atomic_load_explicit(pair->high, memory_order_relaxed) == pair->high_seen;
}

/* The same because the thread has lately found that its clock lies between W and A, as readers of one variable do that
 * have not heard of each other. */
static inline bool pt_fast_read_is_between(const struct pt_shadow_self *self, uint64_t word, uint64_t marks)
{
    uint64_t clocks = word & PT_SHADOW_CLOCKS;
    if (pt_clock_is_rung(self->clock.id)) /* what is no later than a rung is one */
        return (word & (PT_SHADOW_STATE | marks)) == marks && self->fast == self->clock.id &&
               pt_shadow_access(word) >= self->clock.id && pt_shadow_write(word) <= self->clock.id;
    const struct pt_between *between = &self->between[pt_between_slot(clocks)];
    return (word & (PT_SHADOW_STATE | marks)) == marks && clocks && between->clocks == clocks &&
           between->change == self->clock.changes && self->fast != PT_NOT_FAST && pt_has_cache(PT_CACHE_BETWEEN);
}

static inline bool pt_fast_write_is_known(uint64_t fast, uint64_t word)
{
    return (word & (PT_SHADOW_STATE | PT_SHADOW_CLOCKS)) == (fast << PT_SHADOW_WRITE_AT | fast);
}

/* Whether it is a passed or an evaluated access, if the thread may make such. */
static inline bool pt_fast_teaches_nothing(struct pt_shadow_self *self, uint64_t word, unsigned bytes, bool write)
{
    unsigned known = pt_shadow_bytes(word);
    return !(word & PT_SHADOW_STATE) && !(known & ~bytes) && (write || !known || known == bytes) && self->clock.id &&
           pt_self_is_past(&self->clock, pt_shadow_access(word));
}

static inline bool pt_fast_is_passed(struct pt_shadow_self *self, uint64_t word, unsigned bytes, bool write)
{
    return self->fast != PT_NOT_FAST && pt_fast_teaches_nothing(self, word, bytes, write);
}

/* Enters the runtime and locks the granule if its word is still `seen`; the caller leaves if it is not. The thread is
 * not in the runtime before. */
static inline bool pt_fast_lock(struct pt_shadow_self *self, pt_shadow_word *word, uint64_t seen)
{
    self->busy = 1;
    self->locked_word = word;
    atomic_signal_fence(memory_order_seq_cst);
    /* acquire: partner of the release that unlocked it last. The word is compared as a whole; a number in it
     * cannot have come to mean another clock if the thread owns a reference, as it does of its own and of passed ones,
     * and nothing was concluded from the others. */
    bool locked = __builtin_expect(atomic_compare_exchange_strong_explicit(word, &seen, seen | PT_SHADOW_LOCKED,
                                                                           memory_order_acquire, memory_order_relaxed),
                                   1);
    atomic_thread_fence(memory_order_release); /* as in pt_granule_lock */
    if (locked)
        pt_rank_take(PT_RANK_GRANULE);
    return locked;
}

/* The same for a passed access. What its ring said of a number that nobody kept for us is asked again: it may have been
 * used for another clock in between. */
static inline __attribute__((always_inline)) bool pt_fast_lock_passed(struct pt_shadow_self *self, pt_shadow_word *word,
                                                                      uint64_t seen)
{
    if (!pt_fast_lock(self, word, seen))
        return false;
    if (pt_self_is_past(&self->clock, pt_shadow_access(seen)))
        return true;
    pt_granule_unlock(word, seen);
    return false;
}

/* Whether the granule was never unlocked since. A flag, because reading the word right after the exchange is slow. */
static inline bool pt_fast_kept(const struct pt_shadow_self *self)
{
    atomic_signal_fence(memory_order_seq_cst);
    return __builtin_expect(!self->disturbed, 1);
}

/* Leaves the runtime, by the outermost entry. */
static inline __attribute__((always_inline)) void pt_fast_leave(struct pt_shadow_self *self)
{
    atomic_signal_fence(memory_order_seq_cst);
    self->busy = 0;
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(self->attention != 0, 0))
        pt_shadow_hooks.attend(self);
}

static inline __attribute__((always_inline)) void pt_fast_end_known(struct pt_shadow_self *self, pt_shadow_word *word,
                                                                    uintptr_t address, unsigned size, uint64_t seen)
{
    if (pt_fast_kept(self))
        pt_granule_unlock(word, seen | pt_fast_marks(self, address, size));
    else
        pt_granule_end_changed(self, word, address, pt_bytes_at(address, size), true);
    pt_fast_leave(self);
}

/* References: the thread takes those of the clocks it replaces, and gives as many of its own. `keep`: it may keep the
 * granule (kept.h). */
static inline __attribute__((always_inline)) void pt_fast_end_passed(struct pt_shadow_self *self, pt_shadow_word *word,
                                                                     uintptr_t address, unsigned size, bool write,
                                                                     uint64_t seen, bool keep)
{
    uint64_t clock = self->clock.id, marks = (uint64_t)pt_bytes_at(address, size) << PT_SHADOW_BYTES_AT;
    if (!pt_fast_kept(self)) {
        pt_granule_end_changed(self, word, address, pt_bytes_at(address, size), write);
    } else {
        if (!seen)
            pt_shadow_note_use(address);
        pt_self_give(&self->clock, 1 + write);
        bool own = pt_self_pass(&self->clock, pt_shadow_access(seen), 1);
        if (write)
            pt_self_release(&self->clock, pt_shadow_write(seen), 1);
        uint64_t made = write ? marks | clock << PT_SHADOW_WRITE_AT | clock : marks | (seen & ~PT_SHADOW_CLOCK) | clock;
        if (keep && own && !self->never_keeps)
            pt_kept_unlock(self, word, address, made);
        else
            pt_granule_unlock(word, made);
    }
    pt_fast_leave(self);
}

/* Begins an evaluated access: true with the granule locked. Out of the way of those that are not. */
bool pt_fast_begin_evaluated(struct pt_shadow_self *self, pt_shadow_word *word, uint64_t seen, uintptr_t address,
                             unsigned size, bool write);
static inline bool pt_fast_lock_evaluated(struct pt_shadow_self *self, pt_shadow_word *word, uint64_t seen,
                                          uintptr_t address, unsigned size, bool write)
{
    return __builtin_expect(self->evaluates, 0) && pt_fast_begin_evaluated(self, word, seen, address, size, write);
}
void pt_fast_end_evaluated(struct pt_shadow_self *self, pt_shadow_word *word, uint64_t seen, uintptr_t address,
                           unsigned size, enum pt_event_kind kind, const struct pt_site *site);
/* The same of an operation on a synchronisation object, in its first 4 bytes. */
void pt_fast_end_evaluated_sync(struct pt_shadow_self *self, pt_shadow_word *word, uint64_t seen, uintptr_t address,
                                enum pt_event_kind kind, const struct pt_site *site, bool write);

/* A granule that another thread has locked will be free in a moment: better than to fight for it. */
static inline uint64_t pt_fast_await(pt_shadow_word *word, uint64_t seen)
{
    /* acquire: partner of the release by which it is unlocked */
    for (unsigned turn = 0; seen & PT_SHADOW_LOCKED && turn < 32; turn++) {
        __builtin_ia32_pause();
        seen = atomic_load_explicit(word, memory_order_acquire);
    }
    return seen;
}

#endif
