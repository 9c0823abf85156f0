/*
 * Slots for granules: leaves of 2 MiB of memory each, found through one array, both reserved without commit; so memory
 * costs 16 or 32 bytes for 8 bytes that were accessed while several threads were there.
 *
 * Pages of constants of the modules that are there from the start need no slots: whoever writes them faults, or has made
 * them something else by mprotect, which is noticed by the first write.
 *
 * Guarantee: a slot stays where it is once it is there. Cost: a leaf is found by one load.
 */
#include "runtime/race/impl.h"
#include "runtime/sys/module.h"
#include "runtime/sys/sys.h"

enum { RUN = 8 };

struct pt_race_leaf *_Atomic *pt_race_leaves;
static struct pt_race_leaf *_Atomic newest;

static struct pt_race_leaf *leaf_of(uintptr_t address);

/* Whole pages of it. */
static void note_constant(uint64_t from, uint64_t to)
{
    for (from = (from + 4095) & ~UINT64_C(4095); from + 4096 <= to; from += 4096) {
        struct pt_race_leaf *leaf = from >> PT_RACE_ADDRESS_BITS ? NULL : leaf_of(from);
        if (leaf)
            atomic_store_explicit(&leaf->puts[pt_race_page_of(from)], UINT16_MAX, memory_order_relaxed);
    }
}

bool pt_race_shadow_start(void)
{
    pt_race_leaves = pt_sys_reserve_table(sizeof *pt_race_leaves << (PT_RACE_ADDRESS_BITS - PT_RACE_LEAF_BITS));
    if (pt_race_leaves)
        pt_module_each_constant(note_constant);
    return pt_race_leaves;
}

void pt_race_calm(uintptr_t address)
{
    struct pt_race_leaf *leaf = pt_race_leaf_of(address);
    if (leaf && !pt_race_is_constant(leaf, address))
        atomic_store_explicit(&leaf->puts[pt_race_page_of(address)], 0, memory_order_relaxed);
}

void pt_race_is_written(uintptr_t address)
{
    struct pt_race_leaf *leaf = pt_race_leaf_of(address);
    uint16_t constant = UINT16_MAX;
    if (leaf && pt_race_is_constant(leaf, address))
        atomic_compare_exchange_strong(&leaf->puts[pt_race_page_of(address)], &constant, 0);
}

void pt_race_shadow_restart(void)
{
    for (struct pt_race_leaf *leaf = atomic_load(&newest), *older; leaf; leaf = older) {
        older = leaf->older;
        pt_sys_empty(leaf, sizeof *leaf);
        leaf->older = older;
    }
}

static struct pt_race_leaf *make_leaf(uintptr_t address)
{
    struct pt_race_leaf *made = pt_sys_reserve(sizeof *made), *there = NULL;
    if (!made) {
        pt_runtime_give_up();
        return NULL;
    }
    made->older = atomic_load_explicit(&newest, memory_order_relaxed);
    while (
        !atomic_compare_exchange_weak_explicit(&newest, &made->older, made, memory_order_release, memory_order_relaxed))
        ;
    /* acq_rel: partner of the acquire in pt_race_leaf_of */
    if (atomic_compare_exchange_strong_explicit(&pt_race_leaves[address >> PT_RACE_LEAF_BITS], &there, made,
                                                memory_order_acq_rel, memory_order_acquire))
        return made;
    return there; /* ours stays in the list, and empty */
}

static struct pt_race_leaf *leaf_of(uintptr_t address)
{
    struct pt_race_leaf *leaf = pt_race_leaf_of(address);
    return leaf ? leaf : make_leaf(address);
}

/* A page of slots that is read before it is written costs two faults. Where RUN pages before it are in use, the next
 * RUN will be soon: they are made in one call. */
static void use_page(struct pt_race_leaf *leaf, unsigned page)
{
    uint64_t used = atomic_fetch_or_explicit(&leaf->used[page >> 6], UINT64_C(1) << (page & 63), memory_order_relaxed);
    uint64_t before = ((UINT64_C(1) << RUN) - 1) << (page & 63) >> RUN;
    if (page % RUN == 0 && page & 63 && (used & before) == before)
        pt_sys_populate((char *)&leaf->granules[page * 512u], (size_t)RUN << 13);
}

struct pt_race_granule *pt_race_granule_of(uintptr_t address)
{
    struct pt_race_leaf *leaf = leaf_of(address);
    if (!leaf)
        return NULL;
    if (!pt_race_is_used(leaf, address))
        use_page(leaf, pt_race_page_of(address));
    return pt_race_granule_in(leaf, address);
}

void pt_race_note_synced(uintptr_t address)
{
    struct pt_race_leaf *leaf = leaf_of(address);
    unsigned page = pt_race_page_of(address);
    if (leaf && !(atomic_load_explicit(&leaf->synced[page >> 6], memory_order_relaxed) >> (page & 63) & 1))
        atomic_fetch_or_explicit(&leaf->synced[page >> 6], UINT64_C(1) << (page & 63), memory_order_relaxed);
}

uint64_t pt_race_lock_word(pt_race_word *word)
{
    unsigned turn = 0;
    uint64_t seen = atomic_load_explicit(word, memory_order_relaxed);
    for (;;) {
        /* acquire: partner of the release that unlocked it last */
        if (!(seen & PT_RACE_LOCKED) &&
            atomic_compare_exchange_weak_explicit(word, &seen, seen | PT_RACE_LOCKED, memory_order_acquire,
                                                  memory_order_relaxed))
            return seen;
        if (seen & PT_RACE_LOCKED) /* the futex is the half of the word with that bit: the upper one */
            pt_spin_await((_Atomic uint32_t *)word + 1, (uint32_t)(seen >> 32), &turn);
        seen = atomic_load_explicit(word, memory_order_relaxed);
    }
}
