/* Open addressing with linear probing, at most half full, so that a look-up ends after few slots. */
#include "base/unique.h"

#include <stdlib.h>

void pt_unique_init(struct pt_unique *index, uint32_t slots)
{
    *index = (struct pt_unique){.slots = pt_xcalloc(slots, sizeof *index->slots), .mask = slots - 1};
}

void pt_unique_release(struct pt_unique *index)
{
    free(index->slots);
    *index = (struct pt_unique){0};
}

static void insert(struct pt_unique *index, struct pt_unique_slot slot)
{
    uint32_t at = slot.hash;
    while (index->slots[at & index->mask].id1)
        at++;
    index->slots[at & index->mask] = slot;
}

static void grow(struct pt_unique *index)
{
    struct pt_unique old = *index;
    index->mask = old.mask * 2 + 1;
    index->slots = pt_xcalloc((size_t)index->mask + 1, sizeof *index->slots);
    for (uint32_t i = 0; i <= old.mask; i++)
        if (old.slots[i].id1)
            insert(index, old.slots[i]);
    free(old.slots);
}

void pt_unique_add(struct pt_unique *index, uint32_t hash, uint32_t id)
{
    insert(index, (struct pt_unique_slot){hash, id + 1});
    if (++index->count > index->mask / 2)
        grow(index);
}
