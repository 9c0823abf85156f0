/*
 * Stamps in shadow memory of their own: 8 bytes for each granule that was touched, and for each page a floor.
 *
 * Guarantee: stamp.h. Cost: two loads and a store for a granule; memory as much as the program touches.
 */
#include "runtime/record/stamp.h"

#include <stdatomic.h>
#include <x86intrin.h>

#include "runtime/sys/spin.h"
#include "runtime/sys/sys.h"

enum { LEAF_BITS = 21, PAGE_BITS = 12, ADDRESS_BITS = 47 };
enum { GRANULES = 1 << (LEAF_BITS - 3), PAGES = 1 << (LEAF_BITS - PAGE_BITS) };
#define STAMP_MASK ((UINT64_C(1) << PT_STAMP_BITS) - 1)

/* Relaxed throughout: words of granules are under the granules' locks; where memory ends while others use it, either
 * order is one that happened. */
struct leaf {
    _Atomic uint64_t words[GRANULES]; /* the thread's number plus 1, and its stamp */
    _Atomic uint64_t floors[PAGES];
    _Atomic uint8_t used[PAGES]; /* it has words other than 0: those of a stack that ends are mostly 0 */
};

static struct leaf *_Atomic *leaves;
static uint64_t begun;
static _Alignas(64) _Atomic uint64_t lowest; /* that an event may have */
static struct {
    struct pt_spin lock;
    uint64_t stamp;
} extents = {.lock = PT_SPIN(PT_RANK_RECORD)};

bool pt_stamp_start(void)
{
    pt_spin_reset(&extents.lock);
    extents.stamp = 0;
    atomic_store(&lowest, 0);
    leaves = pt_sys_reserve_table(sizeof *leaves << (ADDRESS_BITS - LEAF_BITS));
    begun = __rdtsc();
    return leaves;
}

uint64_t pt_stamp_now(void)
{
    return (__rdtsc() - begun) >> PT_STAMP_UNIT & STAMP_MASK >> 1;
}

void pt_stamp_raise_floor(uint64_t floor)
{
    atomic_store_explicit(&lowest, floor, memory_order_relaxed);
}

static struct leaf *leaf_at(uintptr_t address)
{
    /* acquire: partner of the exchange that publishes a leaf */
    return atomic_load_explicit(&leaves[address >> LEAF_BITS], memory_order_acquire);
}

static __attribute__((noinline)) struct leaf *make_leaf(uintptr_t address)
{
    struct leaf *made = pt_sys_reserve(sizeof *made), *there = NULL;
    if (!made || atomic_compare_exchange_strong(&leaves[address >> LEAF_BITS], &there, made))
        return made;
    pt_sys_release(made, sizeof *made);
    return there;
}

static struct leaf *leaf_of(uintptr_t address)
{
    struct leaf *leaf = leaf_at(address);
    return __builtin_expect(leaf != NULL, 1) ? leaf : make_leaf(address);
}

/* The least stamp that an event of the thread may have after what the word says. */
static uint64_t after_word(uint64_t word, uint32_t thread)
{
    return word >> PT_STAMP_BITS == thread + UINT64_C(1) ? 0 : (word & STAMP_MASK) + (word != 0);
}

static uint64_t highest(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t with_time(uint64_t stamp)
{
    uint64_t now = pt_stamp_now();
    return now > stamp + PT_STAMP_LAG ? now : stamp;
}

static uint64_t after_granule(const struct leaf *leaf, uintptr_t address, uint32_t thread)
{
    uintptr_t in = address & ((1u << LEAF_BITS) - 1);
    uint64_t floor = atomic_load_explicit(&leaf->floors[in >> PAGE_BITS], memory_order_relaxed);
    return highest(after_word(atomic_load_explicit(&leaf->words[in >> 3], memory_order_relaxed), thread), floor);
}

static void set_granule(struct leaf *leaf, uintptr_t address, uint64_t word)
{
    uintptr_t in = address & ((1u << LEAF_BITS) - 1);
    atomic_store_explicit(&leaf->words[in >> 3], word, memory_order_relaxed);
    if (!atomic_load_explicit(&leaf->used[in >> PAGE_BITS], memory_order_relaxed))
        atomic_store_explicit(&leaf->used[in >> PAGE_BITS], 1, memory_order_relaxed);
}

static uint64_t word_of(uint32_t thread, uint64_t stamp)
{
    return (thread + UINT64_C(1)) << PT_STAMP_BITS | stamp;
}

/* Most accesses are of one granule. */
uint64_t pt_stamp_touch_one(uint32_t thread, uint64_t stamp, uintptr_t address, bool timed, bool *ret_new)
{
    struct leaf *leaf = leaf_of(address);
    stamp = timed ? with_time(stamp) : highest(stamp, atomic_load_explicit(&lowest, memory_order_relaxed));
    *ret_new = false;
    if (!leaf)
        return stamp;
    uintptr_t in = address & ((1u << LEAF_BITS) - 1);
    uint64_t floor = atomic_load_explicit(&leaf->floors[in >> PAGE_BITS], memory_order_relaxed);
    uint64_t word = atomic_load_explicit(&leaf->words[in >> 3], memory_order_relaxed);
    *ret_new = !word;
    stamp = highest(stamp, highest(after_word(word, thread), floor));
    set_granule(leaf, address, word_of(thread, stamp));
    return stamp;
}

bool pt_stamp_is_new(uintptr_t address)
{
    const struct leaf *leaf = leaf_at(address);
    uintptr_t in = address & ((1u << LEAF_BITS) - 1);
    return !leaf || !atomic_load_explicit(&leaf->words[in >> 3], memory_order_relaxed);
}

/* What is above its own stamp of 0 is above all that matters to it. */
void pt_stamp_claim(uint32_t thread, uintptr_t address)
{
    struct leaf *leaf = leaf_of(address);
    if (leaf)
        set_granule(leaf, address, word_of(thread, 0));
}

uint64_t pt_stamp_touch(uint32_t thread, uint64_t stamp, uintptr_t address, size_t size)
{
    uintptr_t first = address & ~(uintptr_t)7, end = address + size;
    stamp = with_time(stamp);
    for (uintptr_t at = first; at < end; at += 8) {
        struct leaf *leaf = leaf_of(at);
        if (leaf)
            stamp = highest(stamp, after_granule(leaf, at, thread));
    }
    uint64_t word = word_of(thread, stamp);
    for (uintptr_t at = first; at < end; at += 8) {
        struct leaf *leaf = leaf_at(at);
        if (leaf)
            set_granule(leaf, at, word);
    }
    return stamp;
}

/* Of the page or the part of it in [from, to): what is above all of its stamps. */
static uint64_t after_page(const struct leaf *leaf, uintptr_t from, uintptr_t to, uint32_t thread)
{
    uintptr_t page = (from & ((1u << LEAF_BITS) - 1)) >> PAGE_BITS;
    uint64_t stamp = atomic_load_explicit(&leaf->floors[page], memory_order_relaxed);
    if (!atomic_load_explicit(&leaf->used[page], memory_order_relaxed))
        return stamp;
    for (uintptr_t at = from & ~(uintptr_t)7; at < to; at += 8)
        stamp = highest(stamp, after_granule(leaf, at, thread));
    return stamp;
}

static void set_page(struct leaf *leaf, uintptr_t from, uintptr_t to, uint64_t word)
{
    uintptr_t in = from & ((1u << LEAF_BITS) - 1);
    if (to - from == 1u << PAGE_BITS) {
        atomic_store_explicit(&leaf->floors[in >> PAGE_BITS], (word & STAMP_MASK) + 1, memory_order_relaxed);
        return;
    }
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
    stamp = with_time(stamp);
    for (uintptr_t at = from, next; at < to; at = next) {
        const struct leaf *leaf = leaf_at(at);
        next = end_of_page(at, to);
        if (leaf)
            stamp = highest(stamp, after_page(leaf, at, next, thread));
    }
    pt_spin_lock(&extents.lock);
    stamp = highest(stamp, extents.stamp + 1);
    extents.stamp = stamp;
    pt_spin_unlock(&extents.lock);
    uint64_t word = word_of(thread, stamp);
    for (uintptr_t at = from, next; at < to; at = next) {
        struct leaf *leaf = leaf_at(at);
        next = end_of_page(at, to);
        if (leaf)
            set_page(leaf, at, next, word);
    }
    return stamp;
}
