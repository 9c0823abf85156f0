/*
 * Plain accesses of several granules: one after the other, in place or in the log (inplace.c), else by whatever it
 * takes (granule.c, which has the guarantee).
 */
#include "runtime/race/granule.h"

/* Whether it has, in the middle of an access of several granules: then the others are checked with what it knew before,
 * whose reference makes that another vector. */
static bool has_learned(const struct pt_race_self *self)
{
    return self->before.clock && self->before.past != self->hb.past;
}

void pt_race_access(struct pt_race_self *self, uintptr_t address, size_t size, unsigned kind,
                    const struct pt_site *site)
{
    uintptr_t to = address + size;
    if (!pt_race_is_address(address, to))
        return;
    struct pt_race_step access = pt_race_step_of(kind, site);
    uintptr_t granule = address & ~(uintptr_t)7;
    self->several = granule + 8 < to;
    for (; granule < to; granule += 8) {
        if (!has_learned(self))
            granule = pt_race_make_all(self, granule, address, to, kind, access.site);
        if (granule >= to)
            break;
        access.cell.bytes = pt_race_bytes_in(granule, address, to);
        pt_race_touch(self, granule, &access);
    }
    if (kind & PT_CELL_WRITES)
        pt_hb_tick(&self->hb);
    if (self->before.clock) {
        pt_vec_drop(&self->memory, self->before.past);
        self->before = (struct pt_hb_thread){0};
    }
    self->several = self->note_kept = false;
}
