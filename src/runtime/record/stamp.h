/*
 * Stamps: the order of recorded events, exact where they depend on each other, at the cost of one word of shadow for
 * each granule of memory, and without any counter that all threads share.
 *
 * A thread's stamp is a Lamport clock that also follows the time. Each granule has a word: the thread that touched it
 * last, and its stamp then. An event of another thread gets a higher stamp than that, and leaves its own. The time (of
 * the processor's counter, in units of 64 cycles) raises stamps, too, when they have fallen behind by more than
 * PT_STAMP_LAG, so that events that do not depend on each other come about in the order in which they happened.
 *
 * A page that one thread alone uses, or that is only read, needs no words: when that changes it gets a floor above all
 * stamps (own.c).
 *
 * Why the order is exact. The granule is locked while its word is read and written and the event gets its stamp, so the
 * events of a granule come one after the other; from each to the next the stamp does not fall, and rises where the
 * thread changes. It does not fall within a thread. A child begins above its fork, a join is above the child's last
 * event. So for every two events of which one depends on the other, through whatever chain, the later one has the
 * higher stamp or is of the same thread and later in its log: sorting by stamps, then by thread, keeps all dependences.
 * This orders reads of one granule by different threads too, unless their page is only read, which is more than
 * is needed, and what happened. Counters
 * of different cores that disagree cost nothing but the order of independent events. Where threads take turns
 * (runtime/explore), these too have the order in which they happened (record.c).
 *
 * Reads do not look at the time, nor do writes of memory that has no name: what a run is judged by is when variables
 * that properties can name are written, and asking the processor costs as much as the rest of the event. Such an access
 * stands between what its thread did before and after, and behind the accesses that it depends on; and above the floor,
 * which the writer raises (write.c).
 *
 * Memory that begins or ends has a floor for each of its whole pages instead of a word for each granule; and all
 * beginnings and ends are ordered among themselves by one word (extents), since the allocator hands memory from thread
 * to thread in ways that nobody sees.
 */
#ifndef PT_RUNTIME_RECORD_STAMP_H
#define PT_RUNTIME_RECORD_STAMP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <x86intrin.h>

#include "runtime/shadow/owned.h"

enum { PT_STAMP_BITS = 44, PT_STAMP_UNIT = 6, PT_STAMP_LAG = 16, PT_STAMP_THREADS = (1 << 20) - 2 };
enum { PT_STAMP_AHEAD = 1 << 10 }; /* that counters of cores, and chains of events, may be ahead of the time */

enum { PT_STAMP_LEAF_BITS = PT_OWNED_LEAF_BITS, PT_STAMP_PAGE_BITS = PT_OWNED_PAGE_BITS };
enum {
    PT_STAMP_GRANULES = 1 << (PT_STAMP_LEAF_BITS - 3),
    PT_STAMP_PAGES = 1 << (PT_STAMP_LEAF_BITS - PT_STAMP_PAGE_BITS)
};
#define PT_STAMP_MASK ((UINT64_C(1) << PT_STAMP_BITS) - 1)

/* --- inside: stamp.c --- */

/* Relaxed throughout: words of granules are under the granules' locks; where memory ends while others use it, either
 * order is one that happened. */
struct pt_stamp_leaf {
    struct pt_owned_page pages[PT_STAMP_PAGES]; /* first: pt_owned_leaves */
    _Atomic uint64_t words[PT_STAMP_GRANULES];  /* the thread's number plus 1, and its stamp */
    _Atomic uint64_t values[PT_STAMP_GRANULES]; /* changed by who is alone with the granule; mostly never touched */
    _Atomic uint8_t used[PT_STAMP_PAGES];       /* it has words other than 0: those of a stack that ends are mostly 0 */
    atomic_bool named;                          /* static memory is in it: its variables have names and first values */
};

extern uint64_t pt_stamp_begun;          /* of the processor's counter */
extern _Atomic uint64_t pt_stamp_lowest; /* that an event may have */

struct pt_stamp_leaf *pt_stamp_make_leaf(uintptr_t address);

static inline struct pt_stamp_leaf *pt_stamp_leaf_at(uintptr_t address)
{
    /* acquire: partner of the exchange that publishes a leaf */
    return (struct pt_stamp_leaf *)atomic_load_explicit(&pt_owned_leaves[address >> PT_STAMP_LEAF_BITS],
                                                        memory_order_acquire);
}

/* Without a leaf nothing is known. */
static inline bool pt_stamp_is_named(const struct pt_stamp_leaf *leaf)
{
    return !leaf || atomic_load_explicit(&leaf->named, memory_order_relaxed);
}
/* Static memory begins: its leaves, those that are there, are named. */
void pt_stamp_name(uintptr_t low, uintptr_t high);

static inline struct pt_stamp_leaf *pt_stamp_leaf_of(uintptr_t address)
{
    struct pt_stamp_leaf *leaf = pt_stamp_leaf_at(address);
    return __builtin_expect(leaf != NULL, 1) ? leaf : pt_stamp_make_leaf(address);
}

static inline uint64_t pt_stamp_highest(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline uint64_t pt_stamp_floor(const struct pt_owned_page *page)
{
    return atomic_load_explicit(&page->floor, memory_order_relaxed);
}

/* The least stamp that an event of the thread may have after what the word says. */
static inline uint64_t pt_stamp_after_word(uint64_t word, uint32_t thread)
{
    return word >> PT_STAMP_BITS == thread + UINT64_C(1) ? 0 : (word & PT_STAMP_MASK) + (word != 0);
}

static inline uint64_t pt_stamp_word_of(uint32_t thread, uint64_t stamp)
{
    return (thread + UINT64_C(1)) << PT_STAMP_BITS | stamp;
}

/* --- what others call --- */

bool pt_stamp_start(void);
/* The time, as a stamp. */
static inline uint64_t pt_stamp_now(void)
{
    return (__rdtsc() - pt_stamp_begun) >> PT_STAMP_UNIT & PT_STAMP_MASK >> 1;
}

static inline uint64_t pt_stamp_with_time(uint64_t stamp)
{
    uint64_t now = pt_stamp_now();
    return now > stamp + PT_STAMP_LAG ? now : stamp;
}
static inline uint64_t pt_stamp_from(uint64_t stamp, bool timed)
{
    return timed ? pt_stamp_with_time(stamp)
                 : pt_stamp_highest(stamp, atomic_load_explicit(&pt_stamp_lowest, memory_order_relaxed));
}
/* From now on no event that a thread begins has a stamp below this one. */
void pt_stamp_raise_floor(uint64_t floor);
/* The stamp of an event of `thread`, whose last one was `stamp`, that touches this memory, which is locked; not
 * `timed`: it need not follow the time. */
uint64_t pt_stamp_touch(uint32_t thread, uint64_t stamp, uintptr_t address, size_t size, bool timed);
/* The same where it lies in one granule, of this leaf. Most accesses are of one granule, and most of these by the
 * thread that touched it last. And where the leaf is not known yet: whether nobody has touched the granule before. */
static inline uint64_t pt_stamp_touch_in(struct pt_stamp_leaf *leaf, uint32_t thread, uint64_t stamp, uintptr_t address,
                                         bool timed)
{
    uintptr_t in = address & ((1u << PT_STAMP_LEAF_BITS) - 1), page = in >> PT_STAMP_PAGE_BITS;
    uint64_t word = atomic_load_explicit(&leaf->words[in >> 3], memory_order_relaxed);
    stamp = pt_stamp_from(stamp, timed);
    stamp = pt_stamp_highest(stamp, pt_stamp_floor(&leaf->pages[page]));
    stamp = pt_stamp_highest(stamp, pt_stamp_after_word(word, thread));
    uint64_t after = pt_stamp_word_of(thread, stamp);
    if (word != after)
        atomic_store_explicit(&leaf->words[in >> 3], after, memory_order_relaxed);
    return stamp;
}
static inline uint64_t pt_stamp_touch_one(uint32_t thread, uint64_t stamp, uintptr_t address, bool timed, bool *ret_new)
{
    struct pt_stamp_leaf *leaf = pt_stamp_leaf_of(address);
    uintptr_t in = address & ((1u << PT_STAMP_LEAF_BITS) - 1);
    *ret_new = false;
    if (__builtin_expect(!leaf, 0))
        return pt_stamp_with_time(stamp);
    *ret_new = !atomic_load_explicit(&leaf->words[in >> 3], memory_order_relaxed);
    if (__builtin_expect(*ret_new, 0))
        atomic_store_explicit(&leaf->used[in >> PT_STAMP_PAGE_BITS], 1, memory_order_relaxed);
    return pt_stamp_touch_in(leaf, thread, stamp, address, timed);
}
/* Whether nobody has touched the granule, which is locked; and from now on the thread has. */
static inline bool pt_stamp_is_new(uintptr_t address)
{
    const struct pt_stamp_leaf *leaf = pt_stamp_leaf_at(address);
    uintptr_t in = address & ((1u << PT_STAMP_LEAF_BITS) - 1);
    return !leaf || !atomic_load_explicit(&leaf->words[in >> 3], memory_order_relaxed);
}
void pt_stamp_claim(uint32_t thread, uintptr_t address);
/* The same where the thread uses a page as it is: the page's floor is all there is to know. */
static inline uint64_t pt_stamp_touch_owned(const struct pt_owned_page *page, uint64_t stamp)
{
    return pt_stamp_highest(pt_stamp_from(stamp, false), pt_stamp_floor(page));
}
/* The same of memory that begins or ends. */
uint64_t pt_stamp_extent(uint32_t thread, uint64_t stamp, uintptr_t from, uintptr_t to);

#endif
