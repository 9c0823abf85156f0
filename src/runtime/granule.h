/* Between shadow.c, which owns the tables, and granule.c, which computes on one granule. */
#ifndef PT_RUNTIME_GRANULE_H
#define PT_RUNTIME_GRANULE_H

#include "runtime/shadow.h"

enum { PT_FINE_BITS = 26 };

uint32_t pt_fine_new(void);
void pt_fine_free(uint32_t id);
/* A word in the page of this address is no longer 0. */
void pt_shadow_note_use(uintptr_t address);
/* The held granule without what is known of these bytes. */
uint64_t pt_granule_forget(struct pt_thread *self, uintptr_t address, uint64_t word, unsigned bytes);

#endif
