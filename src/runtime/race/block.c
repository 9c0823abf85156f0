/*
 * Heap blocks that instrumented code has allocated, for reports: where the memory comes from that a race is about.
 *
 * A table by the block's first address, in which neighbours in memory are neighbours, so that a program which allocates
 * in sequence touches it in sequence. A block stands in one of PROBES places, nearly always in the first one; where all
 * are taken it is not known.
 * Blocks of more than FAR bytes stand in a list of their own as well, because an address in the middle is looked for
 * downwards, step by step, and no further than that.
 *
 * An entry says whether a block that belongs there has ever been put into another place, so that where none has, one is
 * looked at. Who frees a block knows that, since it was said before the block was given to the program.
 *
 * Guarantee: a block that is given is one that was allocated there and not freed through libc since; threads that
 * allocate and free meanwhile may make it one that was just freed. Cost: a hash of the calls and one or two lines of
 * memory for each allocation, one for each free; 32 bytes for each block; some 30,000 loads for a report.
 */
#include "runtime/race/impl.h"
#include "runtime/sys/sys.h"

enum { BITS = 22, PROBES = 8, STEP = 16, FAR = 1 << 16, FAR_COUNT = 1024 };

struct entry {
    _Atomic uintptr_t start; /* 0: free */
    size_t size;
    uint32_t thread, place, stack;
    _Atomic uint32_t elsewhere; /* a block whose first place this is was put into a later one */
};
static struct entry *blocks, *far_ones;
static _Atomic bool any;

bool pt_race_block_start(void)
{
    blocks = pt_sys_reserve_table(sizeof *blocks << BITS);
    far_ones = pt_sys_reserve_table(sizeof *far_ones * FAR_COUNT);
    return blocks && far_ones;
}

void pt_race_block_restart(void)
{
    pt_sys_empty(blocks, sizeof *blocks << BITS);
    pt_sys_empty(far_ones, sizeof *far_ones * FAR_COUNT);
}

/* Heaps of different threads begin at multiples of ARENA, and would all begin at one entry. */
static struct entry *entry_at(uintptr_t start, uint32_t probe)
{
    enum { ARENA = 1 << 26, APART = 0x9e3779 };
    return &blocks[(start / (2 * STEP) + start / ARENA * APART + probe) & ((1u << BITS) - 1)];
}

/* 1 stands there while the rest is written. */
static bool put(struct entry *entry, const struct pt_race_block *block)
{
    uintptr_t free = 0;
    if (!atomic_compare_exchange_strong_explicit(&entry->start, &free, 1, memory_order_acquire, memory_order_relaxed))
        return false;
    entry->size = block->size;
    entry->thread = block->thread;
    entry->place = block->place;
    entry->stack = block->stack;
    atomic_store_explicit(&entry->start, block->start, memory_order_release);
    return true;
}

static void put_elsewhere(const struct pt_race_block *block)
{
    atomic_store_explicit(&entry_at(block->start, 0)->elsewhere, 1, memory_order_relaxed);
    for (uint32_t i = 1; i < PROBES; i++)
        if (put(entry_at(block->start, i), block))
            break;
}

/* In how many places it can be. */
static uint32_t probes(uintptr_t start)
{
    return atomic_load_explicit(&entry_at(start, 0)->elsewhere, memory_order_relaxed) ? PROBES : 1;
}

void pt_race_allocated(struct pt_race_self *self, uintptr_t start, size_t size, const struct pt_site *site)
{
    struct pt_race_block block = {start, size, self->number, pt_race_place_of(site), pt_race_stack_of(self)};
    if (!atomic_load_explicit(&any, memory_order_relaxed))
        atomic_store_explicit(&any, true, memory_order_relaxed);
    pt_race_freed(start); /* by somebody who does not say so */
    if (!put(entry_at(start, 0), &block))
        put_elsewhere(&block);
    for (uint32_t i = 0; size > FAR && i < FAR_COUNT; i++)
        if (put(&far_ones[i], &block))
            break;
}

static void clear_if(struct entry *entry, uintptr_t start)
{
    if (atomic_load_explicit(&entry->start, memory_order_relaxed) == start)
        atomic_compare_exchange_strong_explicit(&entry->start, &start, 0, memory_order_relaxed, memory_order_relaxed);
}

void pt_race_freed(uintptr_t start)
{
    size_t size = 0;
    if (!atomic_load_explicit(&any, memory_order_relaxed))
        return;
    for (uint32_t i = 0, count = probes(start); i < count; i++) {
        struct entry *entry = entry_at(start, i);
        if (atomic_load_explicit(&entry->start, memory_order_relaxed) == start)
            size = entry->size;
        clear_if(entry, start);
    }
    for (uint32_t i = 0; size > FAR && i < FAR_COUNT; i++)
        clear_if(&far_ones[i], start);
}

static bool take(const struct entry *entry, uintptr_t start, struct pt_race_block *ret_block)
{
    /* acquire: partner of the release in put */
    if (atomic_load_explicit(&entry->start, memory_order_acquire) != start)
        return false;
    *ret_block = (struct pt_race_block){start, entry->size, entry->thread, entry->place, entry->stack};
    return true;
}

bool pt_race_block_of(uintptr_t start, struct pt_race_block *ret_block)
{
    for (uint32_t i = 0; i < PROBES && atomic_load_explicit(&any, memory_order_relaxed); i++)
        if (take(entry_at(start, i), start, ret_block))
            return true;
    return false;
}

bool pt_race_block_at(uintptr_t address, struct pt_race_block *ret_block)
{
    uintptr_t lowest = address > FAR ? address - FAR : STEP;
    if (!atomic_load_explicit(&any, memory_order_relaxed))
        return false;
    for (uintptr_t start = address & ~(uintptr_t)(STEP - 1); start >= lowest; start -= STEP)
        for (uint32_t i = 0; i < PROBES; i++)
            if (take(entry_at(start, i), start, ret_block))
                return address - start < ret_block->size; /* blocks do not overlap: no other one can hold it */
    for (uint32_t i = 0; i < FAR_COUNT; i++) {
        uintptr_t start = atomic_load_explicit(&far_ones[i].start, memory_order_relaxed);
        if (start > 1 && start <= address && take(&far_ones[i], start, ret_block) && address - start < ret_block->size)
            return true;
    }
    return false;
}
