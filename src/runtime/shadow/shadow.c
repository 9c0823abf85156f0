/*
 * The tables behind shadow words: leaves, and the end of variables' lives.
 *
 * Guarantee: a word stays where it is once it is there. Cost: a leaf is found by one load;
 * clearing is linear in the words of pages that were ever used.
 */
#include "runtime/shadow/shadow.h"

#include <string.h>

#include "runtime/shadow/granule.h"
#include "runtime/shadow/kept.h"
#include "runtime/shadow/silence.h"
#include "runtime/shadow/watch.h"

enum { RUN = 8 };

struct pt_shadow_leaf *_Atomic *pt_leaves;
static struct pt_shadow_leaf *_Atomic newest; /* of all leaves */

bool pt_shadow_start(void)
{
    pt_leaves = pt_sys_reserve_table(sizeof *pt_leaves << (PT_ADDRESS_BITS - PT_LEAF_BITS));
    return pt_fine_start() && pt_leaves;
}

void pt_shadow_restart(void)
{
    for (struct pt_shadow_leaf *leaf = atomic_load(&newest), *older; leaf; leaf = older) {
        older = leaf->older;
        pt_sys_empty(leaf, sizeof *leaf);
        leaf->older = older;
    }
    pt_fine_restart();
    pt_kept_restart();
    pt_silence_restart();
}

static void list_leaf(struct pt_shadow_leaf *leaf)
{
    leaf->older = atomic_load_explicit(&newest, memory_order_relaxed);
    while (
        !atomic_compare_exchange_weak_explicit(&newest, &leaf->older, leaf, memory_order_release, memory_order_relaxed))
        ;
}

struct pt_shadow_leaf *pt_shadow_make_leaf(uintptr_t address)
{
    struct pt_shadow_leaf *made = pt_sys_reserve(sizeof *made), *there = NULL;
    if (!made) {
        pt_runtime_give_up();
        return NULL;
    }
    list_leaf(made); /* before it is found: a child that is forked in between has to find it, too */
    /* acq_rel: partner of the acquire in pt_shadow_peek */
    if (atomic_compare_exchange_strong_explicit(&pt_leaves[address >> PT_LEAF_BITS], &there, made, memory_order_acq_rel,
                                                memory_order_acquire))
        return made;
    return there; /* ours stays in the list, and empty */
}

struct pt_shadow_leaf *pt_shadow_leaf_of(const pt_shadow_word *word)
{
    struct pt_shadow_leaf *leaf = atomic_load_explicit(&newest, memory_order_acquire);
    while (word < leaf->words || word >= leaf->words + (1 << (PT_LEAF_BITS - 3)))
        leaf = leaf->older;
    return leaf;
}

/*
 * A page of words that is read before it is written costs two faults, the second with an interrupt to all processors.
 * Where RUN pages before it are in use, the next RUN will be soon: they are made in one call.
 */
static void use_page(struct pt_shadow_leaf *leaf, unsigned page)
{
    uint64_t used = atomic_fetch_or_explicit(&leaf->used[page >> 6], UINT64_C(1) << (page & 63), memory_order_relaxed);
    uint64_t before = ((UINT64_C(1) << RUN) - 1) << (page & 63) >> RUN;
    if (page % RUN == 0 && page & 63 && (used & before) == before)
        pt_sys_populate((char *)leaf + ((size_t)(page + 1) << 12), (size_t)RUN << 12);
}

void pt_shadow_note_use(uintptr_t address)
{
    struct pt_shadow_leaf *leaf = atomic_load_explicit(&pt_leaves[address >> PT_LEAF_BITS], memory_order_relaxed);
    unsigned page = (address & ((1u << PT_LEAF_BITS) - 1)) >> 12;
    if (!(atomic_load_explicit(&leaf->used[page >> 6], memory_order_relaxed) >> (page & 63) & 1))
        use_page(leaf, page);
}

/* Bytes of the granule at `granule` that lie in [from, to). */
static unsigned bytes_between(uintptr_t granule, uintptr_t from, uintptr_t to)
{
    unsigned bytes = 0xff;
    if (from > granule)
        bytes &= 0xffu << (from - granule);
    if (to < granule + 8)
        bytes &= 0xffu >> (granule + 8 - to);
    return bytes;
}

/* The whole of a granule that nobody has locked or keeps, in one step: it has no record, and there are only rungs,
 * which have no references. A number in the word means what it meant when it was looked at. */
static bool clear_rungs(struct pt_shadow_self *self, pt_shadow_word *word, uint64_t seen, bool keep)
{
    if (seen & PT_SHADOW_STATE || !pt_clock_only_rungs() ||
        (keep && !pt_self_is_past(&self->clock, pt_shadow_write(seen))))
        return false;
    /* acquire and release: as a lock and an unlock */
    return atomic_compare_exchange_strong_explicit(word, &seen, 0, memory_order_acq_rel, memory_order_relaxed);
}

static bool clear_page(struct pt_shadow_self *self, uintptr_t page, uintptr_t from, uintptr_t to, bool keep)
{
    bool any = false;
    uintptr_t granule = page > from ? page : from & ~(uintptr_t)7, end = page + 4096 < to ? page + 4096 : to;
    pt_shadow_word *word = pt_shadow_peek(granule);
    for (; granule < end; granule += 8, word++) {
        uint64_t seen = atomic_load_explicit(word, memory_order_relaxed);
        if (!(seen & ~PT_SHADOW_KEPT))
            continue;
        any = true;
        unsigned bytes = bytes_between(granule, from, to);
        uintptr_t next = seen & PT_SHADOW_KEPT && bytes == 0xff ? pt_kept_forget(self, word, granule, end) : granule;
        if (next != granule) {
            word += (next - granule) / 8 - 1;
            granule = next - 8;
            continue;
        }
        if (bytes == 0xff && clear_rungs(self, word, seen, keep))
            continue;
        seen = pt_granule_lock_at(self, word, granule);
        if (keep)
            pt_granule_before_read(self, seen, bytes);
        pt_granule_unlock(word, pt_granule_forget(self, granule, seen, bytes));
    }
    return any;
}

bool pt_shadow_any(uintptr_t from, uintptr_t to)
{
    for (uintptr_t page = from & ~(uintptr_t)4095; page < to && pt_address_ok(page); page += 4096) {
        struct pt_shadow_leaf *leaf = atomic_load_explicit(&pt_leaves[page >> PT_LEAF_BITS], memory_order_acquire);
        unsigned index = (page & ((1u << PT_LEAF_BITS) - 1)) >> 12;
        if (!leaf)
            page = (page | ((1u << PT_LEAF_BITS) - 1)) - 4095; /* on to the next leaf */
        else if (atomic_load_explicit(&leaf->used[index >> 6], memory_order_relaxed) >> (index & 63) & 1)
            return true;
    }
    return false;
}

bool pt_shadow_clear(struct pt_shadow_self *self, uintptr_t from, uintptr_t to, bool keep)
{
    bool any = false;
    if (from >= to || !pt_address_ok(to - 1))
        return false;
    for (uintptr_t page = from & ~(uintptr_t)4095; page < to; page += 4096) {
        struct pt_shadow_leaf *leaf = atomic_load_explicit(&pt_leaves[page >> PT_LEAF_BITS], memory_order_acquire);
        if (!leaf) {
            page = (page | ((1u << PT_LEAF_BITS) - 1)) - 4095; /* on to the next leaf */
            continue;
        }
        unsigned index = (page & ((1u << PT_LEAF_BITS) - 1)) >> 12;
        if (atomic_load_explicit(&leaf->used[index >> 6], memory_order_relaxed) >> (index & 63) & 1)
            any |= clear_page(self, page, from, to, keep);
    }
    return any;
}
