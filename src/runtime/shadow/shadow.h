/*
 * Shadow memory: one 64-bit word for each 8-byte granule of the program's memory.
 *
 *     bits    what
 *      0-25   A: the clock of its accesses; in a fine granule the number of its record (struct pt_fine)
 *     26-51   W: the clock of its writes
 *     52-59   which bytes A and W are about; the others were never accessed
 *     60      kept: one thread alone uses it, without locking it (kept.h)
 *     62      fine: the bytes have different clocks
 *     63      locked: one thread works on it
 *
 * The bytes of one granule may be different variables. The word can tell as long as all bytes in use have the same
 * clocks; else the granule goes fine, with clocks for each byte, and back as soon as they agree again. Granules of
 * watched variables stay fine. An untouched granule is 0, and so is one that was touched with empty clocks only.
 *
 * Words lie in leaves of 2 MiB of program memory each, found through one array over the 47-bit address space; both are
 * reserved without commit, so the cost is 8 bytes for 8 bytes of memory used with a non-empty clock.
 *
 * Invariant: whoever has set the top bit is alone with the word, with what it refers to and, if it writes, with the
 * granule's memory; W <= A; each number in a word owns a reference, so it means the same clock as long as it stands
 * there. Memory order, none of which is particular to x86:
 *   lock (compare-and-swap, acquire) after unlock (store, release): the next holder sees all that the last one did.
 *   A fast read takes no lock: it loads the word (acquire), the value, and the word again behind an acquire fence.
 *   Partner of the first load is the unlock; partner of the fence is the release fence right after a lock: a read that
 *   got a value written under a lock sees that lock, or what came after it, in its second load, and does not count.
 *   Acquire on the lock alone would not do on processors that let the value's store pass the lock's.
 * tests/interleave/test_shadow_word.c runs the paths against each other.
 */
#ifndef PT_RUNTIME_SHADOW_SHADOW_H
#define PT_RUNTIME_SHADOW_SHADOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/clock/clock.h"
#include "runtime/shadow/self.h"
#include "runtime/sys/sys.h"

#define PT_SHADOW_CLOCK  ((UINT64_C(1) << PT_CLOCK_BITS) - 1)
#define PT_SHADOW_CLOCKS ((UINT64_C(1) << (2 * PT_CLOCK_BITS)) - 1) /* A and W */
#define PT_SHADOW_FINE   (UINT64_C(1) << 62)
#define PT_SHADOW_LOCKED (UINT64_C(1) << 63)
#define PT_SHADOW_KEPT   (UINT64_C(1) << 60)
#define PT_SHADOW_STATE  (PT_SHADOW_LOCKED | PT_SHADOW_FINE | PT_SHADOW_KEPT)
enum {
    PT_SHADOW_WRITE_AT = PT_CLOCK_BITS,
    PT_SHADOW_BYTES_AT = 2 * PT_CLOCK_BITS,
    PT_ADDRESS_BITS = 47,
    PT_LEAF_BITS = 21
};

typedef _Atomic uint64_t pt_shadow_word;
typedef _Atomic uint32_t pt_kept_cell; /* who keeps a page (kept.h) */

struct pt_shadow_leaf {
    _Atomic uint64_t
        used[8]; /* one bit per 4 KiB of program memory that has a word other than 0; pages are cleared by it */
    struct pt_shadow_leaf *older;                   /* the one that was made before */
    pt_kept_cell keepers[1 << (PT_LEAF_BITS - 12)]; /* by page of 4 KiB */
    _Alignas(64) pt_shadow_word words[1 << (PT_LEAF_BITS - 3)];
};

struct pt_fine { /* what a read looks at stands in the first line */
    _Alignas(64) pt_clock_id access[8];
    uint64_t readers;      /* threads that have a reading of it (readers.h), by slot ... */
    uint8_t bytes;         /* ... of these bytes; 0: it is not for readings */
    uint32_t watch;        /* first of the watched variables in this granule (watch.h), 0: none */
    _Atomic uint32_t life; /* how often it has been a granule's and then was not any more */
    _Alignas(64) pt_clock_id write[8];
};

#pragma GCC visibility push(hidden)
extern struct pt_shadow_leaf *_Atomic *pt_leaves;
extern struct pt_fine *pt_fines;
#pragma GCC visibility pop

bool pt_shadow_start(void);
/* In a child that begins anew: every word is 0. Linear in the leaves. */
void pt_shadow_restart(void);
struct pt_shadow_leaf *pt_shadow_make_leaf(uintptr_t address);
/* The leaf that a word lies in. Linear in the leaves. */
struct pt_shadow_leaf *pt_shadow_leaf_of(const pt_shadow_word *word);
/* Takes the mark from a kept granule, if it still has it; from all of its page, if another thread keeps them (kept.h).
 */
void pt_kept_open(pt_shadow_word *word);

static inline uint64_t pt_shadow_pack(pt_clock_id access, pt_clock_id write, unsigned bytes)
{
    return access | (uint64_t)write << PT_SHADOW_WRITE_AT | (uint64_t)bytes << PT_SHADOW_BYTES_AT;
}
static inline pt_clock_id pt_shadow_access(uint64_t word)
{
    return (pt_clock_id)(word & PT_SHADOW_CLOCK);
}
static inline pt_clock_id pt_shadow_write(uint64_t word)
{
    return (pt_clock_id)(word >> PT_SHADOW_WRITE_AT & PT_SHADOW_CLOCK);
}
static inline unsigned pt_shadow_bytes(uint64_t word)
{
    return (unsigned)(word >> PT_SHADOW_BYTES_AT) & 0xff;
}

static inline unsigned pt_between_slot(uint64_t clocks)
{
    return (unsigned)((clocks * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - PT_BETWEEN_BITS));
}

static inline bool pt_address_ok(uintptr_t address)
{
    return address >> PT_ADDRESS_BITS == 0;
}

/* The word of an address, or NULL while nothing in its neighbourhood has one. */
static inline pt_shadow_word *pt_shadow_peek(uintptr_t address)
{
    /* acquire: partner of the exchange that publishes a new leaf */
    struct pt_shadow_leaf *leaf = atomic_load_explicit(&pt_leaves[address >> PT_LEAF_BITS], memory_order_acquire);
    return leaf ? &leaf->words[(address & ((1u << PT_LEAF_BITS) - 1)) >> 3] : NULL;
}

/* Whether the word of this granule is not the next one after that of the granule below. */
static inline bool pt_shadow_starts_leaf(uintptr_t granule)
{
    return (granule & ((1u << PT_LEAF_BITS) - 1)) == 0;
}

/* The same, made where there is none; NULL when there is no more memory. */
static inline pt_shadow_word *pt_shadow_word_of(uintptr_t address)
{
    pt_shadow_word *word = pt_shadow_peek(address);
    if (__builtin_expect(word != NULL, 1))
        return word;
    struct pt_shadow_leaf *leaf = pt_shadow_make_leaf(address);
    return leaf ? &leaf->words[(address & ((1u << PT_LEAF_BITS) - 1)) >> 3] : NULL;
}

/* Locks a granule; the word as it was. */
static inline uint64_t pt_granule_lock(pt_shadow_word *word)
{
    unsigned turn = 0;
    uint64_t seen = atomic_load_explicit(word, memory_order_relaxed);
    pt_rank_take(PT_RANK_GRANULE);
    for (;;) {
        /* acquire: partner of the release store that unlocked it last */
        if (!(seen & (PT_SHADOW_LOCKED | PT_SHADOW_KEPT)) &&
            atomic_compare_exchange_weak_explicit(word, &seen, seen | PT_SHADOW_LOCKED, memory_order_acquire,
                                                  memory_order_relaxed)) {
            atomic_thread_fence(memory_order_release); /* partner: that of a fast read; no instruction on x86 */
            return seen;
        }
        if (seen & PT_SHADOW_KEPT)
            pt_kept_open(word);
        else if (seen & PT_SHADOW_LOCKED) /* the futex is the half of the word with that bit: the upper one */
            pt_spin_await((_Atomic uint32_t *)word + 1, (uint32_t)(seen >> 32), &turn);
        seen = atomic_load_explicit(word, memory_order_relaxed);
    }
}
static inline void pt_granule_unlock(pt_shadow_word *word, uint64_t value)
{
    pt_rank_give(PT_RANK_GRANULE);
    atomic_store_explicit(word, value, memory_order_release);
}

static inline unsigned pt_bytes_at(uintptr_t address, unsigned size)
{
    return size == 8 ? 0xff : ((1u << size) - 1) << (address & 7); /* within one granule */
}

/*
 * Algorithm A on the bytes of a locked granule. The first two take clocks into the thread's; when all granules of the
 * access have been asked, the next two put the thread's clock into the granule and give the word to unlock it with.
 */
void pt_granule_before_read(struct pt_shadow_self *self, uint64_t word, unsigned bytes);
void pt_granule_before_write(struct pt_shadow_self *self, uint64_t word, unsigned bytes);
uint64_t pt_granule_after_read(struct pt_shadow_self *self, uintptr_t address, uint64_t word, unsigned bytes);
uint64_t pt_granule_after_write(struct pt_shadow_self *self, uintptr_t address, uint64_t word, unsigned bytes);

/* The thread has found its clock between these: remembers it, with references so that the numbers keep their meaning.
 */
void pt_granule_note_between(struct pt_shadow_self *self, uint64_t word);
void pt_granule_drop_between(struct pt_shadow_self *self);
/* The thread ends: records that it keeps go back. */
void pt_fine_drop(struct pt_shadow_self *self);

/* Makes a locked granule fine, for good: a watched variable lies there. Its record is NULL when there is no more room.
 */
struct pt_fine *pt_granule_make_fine(struct pt_shadow_self *self, uintptr_t address, uint64_t *word);

/* Whether there may be something to clear between. */
bool pt_shadow_any(uintptr_t from, uintptr_t to);
/* Ends the lives of all variables in [from, to). With `keep` the thread's clock takes what was written there; true if
 * there was anything. */
bool pt_shadow_clear(struct pt_shadow_self *self, uintptr_t from, uintptr_t to, bool keep);

#endif
