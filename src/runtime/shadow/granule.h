/* Between shadow.c, which owns the tables, granule.c, which computes on one granule, and shadow/fast.h. */
#ifndef PT_RUNTIME_SHADOW_GRANULE_H
#define PT_RUNTIME_SHADOW_GRANULE_H

#include "runtime/shadow/shadow.h"

enum { PT_FINE_BITS = 26 };

uint32_t pt_fine_new(void);
void pt_fine_free(uint32_t id);
/* A word in the page of this address is no longer 0. */
void pt_shadow_note_use(uintptr_t address);
/* The held granule without what is known of these bytes. */
uint64_t pt_granule_forget(struct pt_shadow_self *self, uintptr_t address, uint64_t word, unsigned bytes);
/* What its readings have (readers.h) goes into the held granule's record. Reads through them that are under way are
 * over then, and none begins until the granule is let go: whoever is to write collects before. */
void pt_granule_collect(struct pt_shadow_self *self, uint64_t word);
/* The end of an access: its clocks into the granule, held with this word, and the granule let go. */
void pt_granule_end(struct pt_shadow_self *self, pt_shadow_word *word, uint64_t seen, uintptr_t address, unsigned bytes,
                    bool write);
/* The clocks of a granule that was let go and held again during a quick access, taken; gives its word. */
uint64_t pt_granule_take_changed(struct pt_shadow_self *self, pt_shadow_word *word, unsigned bytes, bool write);
/* The same, and the end of the access. */
void pt_granule_end_changed(struct pt_shadow_self *self, pt_shadow_word *word, uintptr_t address, unsigned bytes,
                            bool write);

/* A <- V_i in the word of a held granule, where A <= V_i, the clock is not empty, and `bytes` are all in use. */
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
