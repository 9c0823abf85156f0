/* What an access makes of one granule: what the files about accesses share. */
#ifndef PT_RUNTIME_RACE_GRANULE_H
#define PT_RUNTIME_RACE_GRANULE_H

#include "runtime/race/impl.h"

/* An access on its way through the granules it touches. */
struct pt_race_step {
    struct pt_cell_access cell;
    const struct pt_site *site;
    bool located; /* its place is filled in ... */
    bool noted;   /* ... and its note */
};

/* The word of a granule with a cell. */
static inline uint64_t pt_race_word_made(uint32_t cell)
{
    const uint64_t stamps = (UINT64_C(1) << 30) - 1;
    return PT_RACE_OWN | (pt_race_cells[cell].stamp & stamps) << 32 | cell;
}

/* Of the bytes from `from` to `to`, those in the granule. */
static inline uint8_t pt_race_bytes_in(uintptr_t granule, uintptr_t from, uintptr_t to)
{
    unsigned bytes = PT_CELL_WHOLE;
    if (from > granule)
        bytes &= 0xffu << (from - granule);
    if (to < granule + 8)
        bytes &= 0xffu >> (granule + 8 - to);
    return (uint8_t)bytes;
}

static inline bool pt_race_is_address(uintptr_t from, uintptr_t to)
{
    return from < to && !((to - 1) >> PT_RACE_ADDRESS_BITS);
}

struct pt_race_step pt_race_step_of(unsigned kind, const struct pt_site *site);
/* Its place, stack and locks, once. */
void pt_race_fill_in(struct pt_race_self *self, struct pt_race_step *access);
/* Whether the granule says all of the access already; a write's clock is then that of the last writes. */
bool pt_race_is_repeated(const struct pt_race_self *self, const struct pt_race_cell *own,
                         const struct pt_cell_access *access);
/* Records in a granule's cell. */
uint64_t pt_race_change_own(struct pt_race_self *self, uint32_t own, struct pt_race_step *access, bool covers);
/* Makes the access at one granule by a cell, under its lock, and reports what it races with. */
void pt_race_touch(struct pt_race_self *self, uintptr_t granule, struct pt_race_step *access);

/* A read of a granule with a cell that says nothing new. */
static inline bool pt_race_is_said_again(struct pt_race_self *self, struct pt_race_granule *granule, unsigned bytes,
                                         unsigned kind, const struct pt_site *site)
{
    uint64_t word = atomic_load_explicit(&granule->near[0], memory_order_relaxed);
    return kind == PT_CELL_READS && word & PT_RACE_OWN && !((uint32_t)word & PT_RACE_MANY) &&
           ((bytes != PT_CELL_WHOLE && pt_race_is_said(self, word, bytes)) ||
            pt_race_is_again(self, word, pt_race_key(site, bytes, kind)));
}

#endif
