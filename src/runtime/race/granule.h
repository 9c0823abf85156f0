/* What an access makes of one granule: what the files about accesses share. */
#ifndef PT_RUNTIME_RACE_GRANULE_H
#define PT_RUNTIME_RACE_GRANULE_H

#include "runtime/race/impl.h"

/* Accesses of a granule by one thread in one region that are kept by their places. */
enum { PT_RACE_ENOUGH = 16 };

/* An access on its way through the granules it touches. */
struct pt_race_step {
    struct pt_cell_access cell;
    const struct pt_site *site;
    bool located; /* its place is filled in ... */
    bool noted;   /* ... and its note */
};

/* What a shape, or a packed cell, says of one granule, and room for one more access. */
struct pt_race_view {
    struct pt_cell cell;
    struct pt_cell_seen seen[PT_RACE_PACKED_SEEN + 2];
    struct pt_cell_written written[PT_CELL_BYTES + 1];
};

/* The word of a granule with a cell of its own. */
static inline uint64_t pt_race_word_made(uint32_t cell)
{
    uint64_t stamp =
        cell & PT_RACE_PACKED ? pt_race_packed_at(cell & ~PT_RACE_PACKED)->stamp : pt_race_cells[cell].stamp;
    return PT_RACE_OWN | (stamp & PT_RACE_DELTA_MAX) << PT_RACE_DELTA_AT | cell;
}

static inline bool pt_race_is_packed(uint64_t word)
{
    return word & PT_RACE_OWN && word & PT_RACE_PACKED;
}
static inline struct pt_race_packed *pt_race_packed_of(uint64_t word)
{
    return pt_race_packed_at((uint32_t)word & ~PT_RACE_PACKED);
}

static inline uint64_t pt_race_delta_of(uint64_t word)
{
    return word >> PT_RACE_DELTA_AT & PT_RACE_DELTA_MAX;
}

/* The clock of a shape's last write where the word's delta is 0. */
static inline uint64_t pt_race_base_of(const struct pt_cell *cell)
{
    return cell->written_count ? pt_epoch_clock(cell->written[0].stamp.at) : 0;
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
/* References to a shape that are no more. */
void pt_race_drop(struct pt_race_self *self, uint32_t cell, int64_t count);
void pt_race_look(struct pt_race_view *view, const struct pt_race_cell *shape, uint64_t delta);
/* Up to which clock of the shape's writer the thread knows it. */
uint64_t pt_race_known_of(const struct pt_race_self *self, const struct pt_cell *cell);
/* Whether the granule says all of the access already; a write's clock is then the word's. */
bool pt_race_is_repeated(const struct pt_race_self *self, const struct pt_cell *cell, uint64_t since,
                         const struct pt_cell_access *access);
/* From which clock on an access counts as made again. Where there was a race all are exact. */
uint64_t pt_race_since(const struct pt_race_self *self, const struct pt_race_cell *own);
/* Packs what is in the view, which is left empty, in place of the packed cell that is there already (0: none). Its
 * word; 0: it cannot be packed, and all is as it was. */
uint64_t pt_race_pack(struct pt_race_self *self, struct pt_race_view *view, uint64_t old);
/* What a packed cell says, which still has its references to what the last writers knew. */
void pt_race_unpack(struct pt_race_view *view, const struct pt_race_packed *packed);
void pt_race_packed_end(struct pt_race_self *self, uint64_t word);
/* A new one, with room for so many entries and further last writes; 0: there is none. */
uint32_t pt_race_packed_empty(struct pt_race_self *self, unsigned entries, unsigned further);
/* Makes that room, for which the cell may move. False: there is none, and nothing has happened. */
bool pt_race_packed_room(struct pt_race_self *self, uint32_t *cell, unsigned entries, unsigned further);
/* A write of these bytes, by the thread itself in this region, is made again. The same of a cell that is not packed. */
void pt_race_packed_rewrite(const struct pt_race_self *self, struct pt_race_packed *packed, unsigned bytes);
void pt_race_rewrite_own(const struct pt_race_self *self, struct pt_cell *cell, unsigned bytes);
/* A plain access that the fast path has not made, in the granule's own cell. False: that cannot be done, and nothing
 * has happened. */
bool pt_race_make(struct pt_race_self *self, uintptr_t granule, unsigned bytes, unsigned kind,
                  const struct pt_site *site);
/* The same of all granules from this one on, of an access of these bytes, until one that has no cell of its own, or of
 * which that cannot be done: which is returned. */
uintptr_t pt_race_make_own(struct pt_race_self *self, uintptr_t granule, uintptr_t from, uintptr_t to, unsigned kind,
                           const struct pt_site *site);
/* The word of a granule of which nothing is known but such an access; 0: it cannot be done. */
uint64_t pt_race_packed_begin(struct pt_race_self *self, unsigned bytes, unsigned kind, const struct pt_site *site);
/* Makes a granule's own cell, not packed, of what its word says; the word's reference is dropped. */
uint32_t pt_race_own_cell(struct pt_race_self *self, uint64_t seen);
/* Records in a granule's own cell. */
uint64_t pt_race_change_own(struct pt_race_self *self, uint32_t own, struct pt_race_step *access, bool covers);
/* The thread remembers the word that an access has left: while it is there, and the thread's region lasts, such an
 * access says nothing new. Of a write only the clock is then another: nobody else has written since, or read. */
static inline void pt_race_note_key(struct pt_race_self *self, uint64_t made, uint64_t key)
{
    self->noted = self->version;
    *pt_race_again_of(self, made, key) = (struct pt_race_again){key, made, self->version};
}
/* Makes the access at one granule, under its lock, and reports what it races with. */
void pt_race_touch(struct pt_race_self *self, uintptr_t granule, struct pt_race_step *access);

#endif
