/*
 * Plain accesses of several granules: one after the other, as make.c does it, or else granule.c.
 */
#include "runtime/race/log.h"

/* Whether it has, in the middle of an access of several granules: then the others are checked with what it knew before,
 * whose reference makes that another vector. */
static bool has_learned(const struct pt_race_self *self)
{
    return self->before.clock && self->before.past != self->hb.past;
}

/* The records from this one on are of one write, which ends now: who reads any of it learns of all. */
static void end_together(struct pt_race_self *self, uint64_t from, uint64_t last)
{
    if (last - from > PT_RACE_LATER || last - from > PT_RACE_RING - 2 * PT_RACE_BLOCK)
        from = last - (PT_RACE_RING - 2 * PT_RACE_BLOCK);
    for (uint64_t number = from; number < last && number < self->hb.clock; number++) {
        struct pt_race_record *record = pt_race_record_at(self->log.ring, number);
        if (pt_race_get(&record->about) >> PT_RACE_TYPE_AT == PT_RACE_RECORD_WRITE)
            pt_race_put(&record->more, pt_race_get(&record->more) + last - number);
    }
}

/* The same of granules with cells, of which this access, that began at that clock, has written some. */
static void end_cells(struct pt_race_self *self, uintptr_t granule, uintptr_t to, uint64_t before)
{
    for (; granule < to; granule += 8) {
        struct pt_race_pair *pair = pt_race_pair_of(granule);
        if (!pair || !(pt_race_get(&pair->w) & PT_RACE_OWN))
            continue;
        uint64_t word = pt_race_lock_word(&pair->w);
        if (word & PT_RACE_OWN && !((uint32_t)word & PT_RACE_MANY))
            pt_cell_rewrite(&pt_race_cells[(uint32_t)word].cell, &self->hb, PT_CELL_WHOLE, before);
        pt_race_unlock_word(&pair->w, word);
    }
}

void pt_race_access(struct pt_race_self *self, uintptr_t address, size_t size, unsigned kind,
                    const struct pt_site *site)
{
    uintptr_t to = address + size;
    if (!pt_race_is_address(address, to))
        return;
    struct pt_race_step access = pt_race_step_of(kind, site);
    bool reads = kind == PT_CELL_READS, touched = false; /* of a write all granules get records, for end_together */
    uintptr_t granule = address & ~(uintptr_t)7;
    uint64_t before = self->hb.clock;
    self->several = granule + 8 < to;
    for (; granule < to; granule += 8) {
        access.cell.bytes = pt_race_bytes_in(granule, address, to);
        if (reads && pt_race_fast(self, granule, access.cell.bytes, kind, access.site))
            continue;
        struct pt_race_pair *pair = pt_race_pair_of(granule);
        if (!pair || pt_race_is_said_again(self, pair, access.cell.bytes, kind, access.site) ||
            (!has_learned(self) && pt_race_make(self, pair, granule, access.cell.bytes, kind, access.site)))
            continue;
        pt_race_touch(self, granule, &access);
        touched = true;
    }
    if (kind & PT_CELL_WRITES) {
        if (self->several && self->log.ring && before < self->hb.clock)
            end_together(self, before, self->hb.clock - !touched); /* cells have it at the clock itself */
        if (self->several && touched)
            end_cells(self, address & ~(uintptr_t)7, to, before);
        self->hb.clock += touched;
    }
    if (self->before.clock) {
        pt_vec_drop(&self->memory, self->before.past);
        self->before = (struct pt_hb_thread){0};
    }
    self->several = false;
}
