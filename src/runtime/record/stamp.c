/*
 * Stamps in shadow memory of their own: 8 bytes for each granule that was touched, and for each page a floor; and
 * beside them the values that the recording has given in full, of those granules that have such (core/recording.h, bit
 * 7).
 *
 * Guarantee: stamp.h. Cost: two loads and a store for a granule; memory as much as the program touches, and where there
 * are long values twice that.
 */
#include "runtime/record/stamp.h"

#include <stdatomic.h>

#include "runtime/record/impl.h"
#include "runtime/sys/spin.h"
#include "runtime/sys/sys.h"

enum { LEAF_BITS = PT_STAMP_LEAF_BITS, PAGE_BITS = PT_STAMP_PAGE_BITS, ADDRESS_BITS = 47 };
#define STAMP_MASK PT_STAMP_MASK

uint64_t pt_stamp_begun;
_Alignas(64) _Atomic uint64_t pt_stamp_lowest;
static struct {
    struct pt_spin lock;
    uint64_t stamp;
} extents = {.lock = PT_SPIN(PT_RANK_RECORD)};

bool pt_stamp_start(void)
{
    pt_spin_reset(&extents.lock);
    extents.stamp = 0;
    atomic_store(&pt_stamp_lowest, 0);
    pt_owned_leaves = pt_sys_reserve_table(sizeof *pt_owned_leaves << (ADDRESS_BITS - LEAF_BITS));
    pt_stamp_begun = __rdtsc();
    pt_own_start();
    return pt_owned_leaves;
}

void pt_stamp_raise_floor(uint64_t floor)
{
    atomic_store_explicit(&pt_stamp_lowest, floor, memory_order_relaxed);
}

/* Whoever makes a leaf asks afterwards whether it is named, and who names memory looks for leaves afterwards: one of
 * the two sees the other. */
struct pt_stamp_leaf *pt_stamp_make_leaf(uintptr_t address)
{
    _Static_assert(offsetof(struct pt_stamp_leaf, pages) == 0, "a leaf is where its pages are");
    struct pt_stamp_leaf *made = pt_sys_reserve(sizeof *made);
    struct pt_owned_page *there = NULL;
    if (!made)
        return NULL;
    if (!atomic_compare_exchange_strong(&pt_owned_leaves[address >> LEAF_BITS], &there, made->pages)) {
        pt_sys_release(made, sizeof *made);
        made = (struct pt_stamp_leaf *)there;
    }
    atomic_thread_fence(memory_order_seq_cst);
    uintptr_t low = address >> LEAF_BITS << LEAF_BITS;
    if (pt_record_may_have_static(low, low + ((uintptr_t)1 << LEAF_BITS)))
        atomic_store_explicit(&made->named, true, memory_order_relaxed);
    return made;
}

void pt_stamp_name(uintptr_t low, uintptr_t high)
{
    atomic_thread_fence(memory_order_seq_cst);
    for (uintptr_t at = low >> LEAF_BITS; at <= (high - 1) >> LEAF_BITS; at++) {
        struct pt_stamp_leaf *leaf = pt_stamp_leaf_at(at << LEAF_BITS);
        if (leaf)
            atomic_store_explicit(&leaf->named, true, memory_order_relaxed);
    }
    pt_own_share_static(low, high);
}

static uint64_t after_granule(const struct pt_stamp_leaf *leaf, uintptr_t address, uint32_t thread)
{
    uintptr_t in = address & ((1u << LEAF_BITS) - 1);
    return pt_stamp_highest(
        pt_stamp_after_word(atomic_load_explicit(&leaf->words[in >> 3], memory_order_relaxed), thread),
        pt_stamp_floor(&leaf->pages[in >> PAGE_BITS]));
}

static void set_granule(struct pt_stamp_leaf *leaf, uintptr_t address, uint64_t word)
{
    uintptr_t in = address & ((1u << LEAF_BITS) - 1);
    atomic_store_explicit(&leaf->words[in >> 3], word, memory_order_relaxed);
    if (!atomic_load_explicit(&leaf->used[in >> PAGE_BITS], memory_order_relaxed))
        atomic_store_explicit(&leaf->used[in >> PAGE_BITS], 1, memory_order_relaxed);
}

/* What is above its own stamp of 0 is above all that matters to it. */
void pt_stamp_claim(uint32_t thread, uintptr_t address)
{
    struct pt_stamp_leaf *leaf = pt_stamp_leaf_of(address);
    if (leaf)
        set_granule(leaf, address, pt_stamp_word_of(thread, 0));
}

uint64_t pt_stamp_touch(uint32_t thread, uint64_t stamp, uintptr_t address, size_t size, bool timed)
{
    uintptr_t first = address & ~(uintptr_t)7, end = address + size;
    stamp = pt_stamp_from(stamp, timed);
    for (uintptr_t at = first; at < end; at += 8) {
        struct pt_stamp_leaf *leaf = pt_stamp_leaf_of(at);
        if (leaf)
            stamp = pt_stamp_highest(stamp, after_granule(leaf, at, thread));
    }
    uint64_t word = pt_stamp_word_of(thread, stamp);
    for (uintptr_t at = first; at < end; at += 8) {
        struct pt_stamp_leaf *leaf = pt_stamp_leaf_at(at);
        if (leaf)
            set_granule(leaf, at, word);
    }
    return stamp;
}

/* Then the thread's own stamp is what others get to know, when they ask for the page. */
static bool is_own(const struct pt_owned_page *page, uint32_t thread)
{
    return atomic_load_explicit(&page->state, memory_order_relaxed) >> PT_OWNED_STATE_AT == PT_OWNED_BY + thread;
}

/* Of the page or the part of it in [from, to): what is above all of its stamps. */
static uint64_t after_page(const struct pt_stamp_leaf *leaf, uintptr_t from, uintptr_t to, uint32_t thread)
{
    uintptr_t page = (from & ((1u << LEAF_BITS) - 1)) >> PAGE_BITS;
    uint64_t stamp = pt_stamp_floor(&leaf->pages[page]);
    if (!atomic_load_explicit(&leaf->used[page], memory_order_relaxed) || is_own(&leaf->pages[page], thread))
        return stamp;
    for (uintptr_t at = from & ~(uintptr_t)7; at < to; at += 8)
        stamp = pt_stamp_highest(stamp, after_granule(leaf, at, thread));
    return stamp;
}

static void set_page(struct pt_stamp_leaf *leaf, uintptr_t from, uintptr_t to, uint32_t thread, uint64_t word)
{
    struct pt_owned_page *page = &leaf->pages[(from & ((1u << LEAF_BITS) - 1)) >> PAGE_BITS];
    if (to - from == 1u << PAGE_BITS)
        atomic_store_explicit(&page->floor, (word & STAMP_MASK) + 1, memory_order_relaxed);
    if (to - from == 1u << PAGE_BITS || is_own(page, thread))
        return;
    for (uintptr_t at = from & ~(uintptr_t)7; at < to; at += 8)
        set_granule(leaf, at, word);
}

static uintptr_t end_of_page(uintptr_t at, uintptr_t to)
{
    uintptr_t end = (at | ((1u << PAGE_BITS) - 1)) + 1;
    return end < to ? end : to;
}

/* Pages that nobody has touched have no leaf, and need none: an access there, however it came to know of the memory,
 * comes after the beginning by what its thread has seen. */
uint64_t pt_stamp_extent(uint32_t thread, uint64_t stamp, uintptr_t from, uintptr_t to)
{
    stamp = pt_stamp_with_time(stamp);
    for (uintptr_t at = from, next; at < to; at = next) {
        const struct pt_stamp_leaf *leaf = pt_stamp_leaf_at(at);
        next = end_of_page(at, to);
        if (leaf)
            stamp = pt_stamp_highest(stamp, after_page(leaf, at, next, thread));
    }
    pt_spin_lock(&extents.lock);
    stamp = pt_stamp_highest(stamp, extents.stamp + 1);
    extents.stamp = stamp;
    pt_spin_unlock(&extents.lock);
    uint64_t word = pt_stamp_word_of(thread, stamp);
    for (uintptr_t at = from, next; at < to; at = next) {
        struct pt_stamp_leaf *leaf = pt_stamp_leaf_at(at);
        next = end_of_page(at, to);
        if (leaf)
            set_page(leaf, at, next, thread, word);
    }
    pt_own_forget(from, to);
    return stamp;
}
