/*
 * Marks of memory that has ended: a bit for each granule, in leaves of 2 MiB of memory each, found through one array.
 *
 * Guarantee: granules that are marked and unmarked at the same time by different threads do not disturb each other.
 * Cost: 1/64 of the memory that ever was marked; a word for each 512 bytes that are marked.
 */
#include "runtime/race/life_impl.h"
#include "runtime/sys/sys.h"

enum { LEAF = 1 << PT_RACE_LEAF_BITS, WORD = 512 /* bytes of memory of a word of bits */ };

struct pt_life_leaf *_Atomic *pt_life_leaves;

bool pt_life_mark_start(void)
{
    pt_life_leaves = pt_sys_reserve_table(sizeof *pt_life_leaves << (PT_RACE_ADDRESS_BITS - PT_RACE_LEAF_BITS));
    return pt_life_leaves;
}

/* The leaves of the parent are lost, and stay shared with it. */
void pt_life_mark_restart(void)
{
    pt_sys_empty(pt_life_leaves, sizeof *pt_life_leaves << (PT_RACE_ADDRESS_BITS - PT_RACE_LEAF_BITS));
}

static struct pt_life_leaf *leaf_at(uintptr_t address)
{
    return atomic_load_explicit(&pt_life_leaves[address >> PT_RACE_LEAF_BITS], memory_order_acquire);
}

static struct pt_life_leaf *make_leaf(uintptr_t address)
{
    struct pt_life_leaf *made = pt_sys_reserve(sizeof *made), *there = NULL;
    if (!made) {
        pt_runtime_give_up();
        return NULL;
    }
    /* acq_rel: partner of the acquire in pt_life_is_marked */
    if (atomic_compare_exchange_strong_explicit(&pt_life_leaves[address >> PT_RACE_LEAF_BITS], &there, made,
                                                memory_order_acq_rel, memory_order_acquire))
        return made;
    pt_sys_release(made, sizeof *made);
    return there;
}

/* Of the granules from `from` to `to`, those of the word that has `from`. */
static uint64_t bits_of(uintptr_t from, uintptr_t to)
{
    uintptr_t word = from & ~(uintptr_t)(WORD - 1);
    uint64_t bits = ~UINT64_C(0) << ((from - word) >> 3);
    if (to < word + WORD)
        bits &= ~(~UINT64_C(0) << ((to - word) >> 3));
    return bits;
}

static _Atomic uint64_t *word_of(struct pt_life_leaf *leaf, uintptr_t address)
{
    return &leaf->bits[(address & (LEAF - 1)) / WORD];
}

/* Granules that belong to it as a whole. */
static bool is_whole(uintptr_t *from, uintptr_t *to)
{
    *from = (*from + 7) & ~(uintptr_t)7;
    *to &= ~(uintptr_t)7;
    return *from < *to && !((*to - 1) >> PT_RACE_ADDRESS_BITS);
}

void pt_life_mark(uintptr_t from, uintptr_t to)
{
    if (!is_whole(&from, &to))
        return;
    for (uintptr_t next; from < to; from = next) {
        struct pt_life_leaf *leaf = leaf_at(from);
        if (!leaf && !(leaf = make_leaf(from)))
            return;
        next = (from | (WORD - 1)) + 1;
        atomic_fetch_or_explicit(word_of(leaf, from), bits_of(from, to), memory_order_relaxed);
    }
}

void pt_life_unmark(uintptr_t from, uintptr_t to)
{
    if (!is_whole(&from, &to))
        return;
    for (uintptr_t next; from < to; from = next) {
        struct pt_life_leaf *leaf = leaf_at(from);
        next = (from | (uintptr_t)(leaf ? WORD - 1 : LEAF - 1)) + 1;
        if (leaf)
            atomic_fetch_and_explicit(word_of(leaf, from), ~bits_of(from, to), memory_order_relaxed);
    }
}

uintptr_t pt_life_first_marked(uintptr_t from, uintptr_t to)
{
    uintptr_t at = from & ~(uintptr_t)7;
    if (from >= to || (to - 1) >> PT_RACE_ADDRESS_BITS)
        return to;
    for (uintptr_t next; at < to; at = next) {
        struct pt_life_leaf *leaf = leaf_at(at);
        next = (at | (uintptr_t)(leaf ? WORD - 1 : LEAF - 1)) + 1;
        uint64_t bits = leaf ? atomic_load_explicit(word_of(leaf, at), memory_order_relaxed) : 0;
        bits &= bits_of(at, (to + 7) & ~(uintptr_t)7);
        if (!bits)
            continue;
        uintptr_t marked = (at & ~(uintptr_t)(WORD - 1)) + (uintptr_t)__builtin_ctzll(bits) * 8;
        return marked < from ? from : marked;
    }
    return to;
}
