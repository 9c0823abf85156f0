/* Forms of packed cells: what the files about them share. */
#ifndef PT_RUNTIME_RACE_FORM_H
#define PT_RUNTIME_RACE_FORM_H

#include "runtime/race/granule.h"

enum { PT_RACE_UNIT = 16 };

struct pt_race_kind { /* 8 bytes, all of them used */
    uint32_t place;
    uint8_t kind, bytes, op, merged;
};
struct pt_race_form {
    uint64_t hash;
    uint16_t next; /* in its bucket */
    uint8_t count;
    uint8_t writes; /* a bit for each entry */
    uint8_t written_count;
    uint8_t written[PT_CELL_BYTES]; /* the bytes of each */
    struct pt_race_kind seen[PT_RACE_SHAPE_SEEN];
};

extern struct pt_race_form *pt_race_forms; /* the first one has no entries */
/* The number of one that is the same, made if need be; 0: there are too many. */
uint16_t pt_race_form_number(struct pt_race_form *form);

/* What an access makes of cells of a form: what is in the form of it already ... */
void pt_race_fit_make(struct pt_race_fit *fit, uint64_t key, uint16_t form, unsigned bytes, unsigned kind,
                      const struct pt_site *site);
/* ... what form there is after the access has become one with that entry ... */
void pt_race_fit_next(struct pt_race_fit *fit, unsigned at, unsigned bytes, unsigned kind);
/* ... and after it has become an entry of its own. */
void pt_race_fit_longer(struct pt_race_fit *fit, unsigned bytes, unsigned kind, const struct pt_site *site);

/* Two at a time: every other entry that comes finds its room. */
static inline unsigned pt_race_units_for(const struct pt_race_form *form)
{
    size_t bytes = sizeof(struct pt_race_packed) + form->count * sizeof((struct pt_race_packed *)0)->seen[0];
    if (form->written_count > 1)
        bytes += (form->written_count - 1u) * sizeof(pt_epoch);
    return (unsigned)((bytes + 2 * PT_RACE_UNIT - 1) / (2 * PT_RACE_UNIT) * 2);
}

/* The last writes beside the first. */
static inline pt_epoch *pt_race_further(struct pt_race_packed *packed, const struct pt_race_form *form)
{
    return (pt_epoch *)(void *)&packed->seen[form->count];
}

#endif
