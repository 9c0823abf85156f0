/* Between shadow.c and fine.c, which own the tables, granule.c, which computes on one granule, and shadow/fast.h. */
#ifndef PT_RUNTIME_SHADOW_GRANULE_H
#define PT_RUNTIME_SHADOW_GRANULE_H

#include "runtime/shadow/shadow.h"

enum { PT_FINE_BITS = 25, PT_FINE_MANY = 1 << 16 /* 8 MB */ };

bool pt_fine_start(void);
void pt_fine_restart(void);
/* A record for a granule; 0 when there is no more room. And one that is no granule's any more, whose references the
 * caller has given up. */
uint32_t pt_fine_new(struct pt_shadow_self *self);
void pt_fine_free(struct pt_shadow_self *self, uint32_t id);
/* Whether records are worth saving. */
#pragma GCC visibility push(hidden)
extern _Atomic uint32_t pt_fines_out; /* that threads and granules have */
#pragma GCC visibility pop
static inline bool pt_fine_are_many(void)
{
    return atomic_load_explicit(&pt_fines_out, memory_order_relaxed) > PT_FINE_MANY;
}
/* A word in the page of this address is no longer 0. */
void pt_shadow_note_use(uintptr_t address);
/* What a word of nobody any more refers to is given up. */
void pt_granule_drop(struct pt_shadow_self *self, uint64_t word);
/* The locked granule without what is known of these bytes. */
uint64_t pt_granule_forget(struct pt_shadow_self *self, uintptr_t address, uint64_t word, unsigned bytes);
/* The word of a locked granule, packed where it can be. */
uint64_t pt_granule_pack(struct pt_shadow_self *self, uintptr_t address, uint64_t word);
/* The word of a locked granule after an access of some, not all, of its bytes in use, of which it learned nothing. */
uint64_t pt_granule_split(struct pt_shadow_self *self, uint64_t word, unsigned bytes, bool write);
/* The word of a locked granule that is fine, after a read of all of it which knows of all accesses, where all bytes
 * were written by the same clock and there are only rungs. */
uint64_t pt_granule_unite(struct pt_shadow_self *self, uint64_t word);
/* What its readings have (readers.h) goes into the locked granule's record. Reads through them that are under way are
 * over then, and none begins until the granule is unlocked: whoever is to write collects before. */
void pt_granule_collect(struct pt_shadow_self *self, uint64_t word);
/* The end of an access: its clocks into the granule, locked with this word, and the granule unlocked. */
void pt_granule_end(struct pt_shadow_self *self, pt_shadow_word *word, uint64_t seen, uintptr_t address, unsigned bytes,
                    bool write);
/* The clocks of a granule that was unlocked and locked again during a fast access, taken; gives its word. */
uint64_t pt_granule_take_changed(struct pt_shadow_self *self, pt_shadow_word *word, unsigned bytes, bool write);
/* The same, and the end of the access. */
void pt_granule_end_changed(struct pt_shadow_self *self, pt_shadow_word *word, uintptr_t address, unsigned bytes,
                            bool write);

/* A <- V_i in the word of a locked granule, where A <= V_i, the clock is not empty, and `bytes` are all in use. */
static inline uint64_t pt_granule_raise_access(struct pt_shadow_self *self, uintptr_t address, uint64_t word,
                                               unsigned bytes)
{
    if (!word)
        pt_shadow_note_use(address);
    pt_self_give(&self->clock, 1);
    pt_self_pass(&self->clock, pt_shadow_access(word), 1);
    return pt_shadow_pack(self->clock.id, pt_shadow_write(word), bytes);
}

/* A <- W <- V_i, likewise. */
static inline uint64_t pt_granule_raise_both(struct pt_shadow_self *self, uintptr_t address, uint64_t word,
                                             unsigned bytes)
{
    if (!word)
        pt_shadow_note_use(address);
    pt_self_give(&self->clock, 2);
    pt_self_pass(&self->clock, pt_shadow_access(word), 1);
    pt_self_release(&self->clock, pt_shadow_write(word), 1);
    return pt_shadow_pack(self->clock.id, self->clock.id, bytes);
}

#endif
