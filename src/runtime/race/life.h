/*
 * Lifetimes of memory (contract section 10): uses of memory that has ended, and ends that come twice.
 *
 * Memory that has ended is marked, a bit for each granule of 8 bytes, as long as nobody else can have it: heap blocks
 * that free keeps for a while instead of giving them back (kept.c), stacks of threads that have ended, and what was
 * unmapped (stopped.c). Whoever is about to access memory looks at its marks first. That a use can come after the end
 * in another order of the run is found by races (end.c): the end writes the memory as a whole.
 *
 * All functions that take a `struct pt_race_self` are for the calling thread's own, inside the runtime.
 */
#ifndef PT_RUNTIME_RACE_LIFE_H
#define PT_RUNTIME_RACE_LIFE_H

#include "runtime/race/race.h"

struct pt_life_leaf {
    _Atomic uint64_t bits[1 << (PT_RACE_LEAF_BITS - 3 - 6)];
};
extern struct pt_life_leaf *_Atomic *pt_life_leaves;

/* Tables, and how many bytes of freed blocks are kept. False: there is no memory. */
bool pt_life_start(uint64_t bytes);
/* In the child of a fork that begins anew: nothing has ended. */
void pt_life_restart(void);

static inline bool pt_life_is_marked(uintptr_t address)
{
    if (address >> PT_RACE_ADDRESS_BITS)
        return false;
    /* acquire: partner of the exchange that publishes a new leaf */
    struct pt_life_leaf *leaf =
        atomic_load_explicit(&pt_life_leaves[address >> PT_RACE_LEAF_BITS], memory_order_acquire);
    if (!leaf)
        return false;
    uintptr_t granule = (address & ((1u << PT_RACE_LEAF_BITS) - 1)) >> 3;
    return atomic_load_explicit(&leaf->bits[granule >> 6], memory_order_relaxed) >> (granule & 63) & 1;
}

/* The thread's own stack, which other memory never is while it runs; 0: not known. */
void pt_life_own_stack(struct pt_race_self *self, uintptr_t low, uintptr_t high);
/* Whether the thread accesses its own stack below the frame it is in: that of a function that has returned. */
static inline bool pt_life_is_below(const struct pt_race_self *self, uintptr_t address, uintptr_t frame)
{
    return address < frame && address >= self->stack_low && frame < self->stack_high;
}

/* An access, before it is made: is what it uses still there? `kind` as for pt_race_access, `frame` the caller's. */
void pt_life_use(struct pt_race_self *self, uintptr_t address, size_t size, unsigned kind, const struct pt_site *site,
                 uintptr_t frame);
static inline void pt_life_access(struct pt_race_self *self, uintptr_t address, size_t size, unsigned kind,
                                  const struct pt_site *site, uintptr_t frame)
{
    if (__builtin_expect(size > 16 || pt_life_is_marked(address) || pt_life_is_marked(address + size - 1) ||
                             (size > 8 && pt_life_is_marked(address + 8)) || pt_life_is_below(self, address, frame),
                         0))
        pt_life_use(self, address, size, kind, site, frame);
}

/* What is about to be freed. */
enum pt_life_free {
    PT_LIFE_GOOD,  /* as far as anybody knows */
    PT_LIFE_AGAIN, /* it was freed before, and is kept: reported, and not to be freed again */
    PT_LIFE_WRONG, /* it is no block of the heap: reported, and libc decides what becomes of it */
};
enum pt_life_free pt_life_free(struct pt_race_self *self, uintptr_t start, uintptr_t frame);
/* The block is freed, and is kept, and its memory is nobody's; or there is no room for it; or another thread has freed
 * it since it was looked at. */
enum pt_life_keep { PT_LIFE_KEPT, PT_LIFE_NOT_KEPT, PT_LIFE_KEPT_ALREADY };
enum pt_life_keep pt_life_keep(struct pt_race_self *self, uintptr_t start, size_t size);
/* The block that is to be given back before one of this size is kept; 0: there is room. */
uintptr_t pt_life_give_back(struct pt_race_self *self, size_t size);
/* It is not kept any more: somebody who is not known frees it. */
void pt_life_drop(uintptr_t start);

/* The calling thread ends, and nobody else can get its stack before it is released; libc does not keep those for
 * ever. Who begins on one has it. */
void pt_life_stack_ends(struct pt_race_self *self, uintptr_t low, uintptr_t high);
void pt_life_stack_released(uint32_t thread);
void pt_life_stack_begins(uintptr_t low, uintptr_t high);
/* The stack of a thread that nobody was seen to start may be any. */
void pt_life_forget_stacks(void);
/* A mapping ends. */
void pt_life_unmapped(struct pt_race_self *self, uintptr_t from, uintptr_t to);

#endif
