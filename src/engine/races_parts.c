/*
 * Accesses of parts of a variable (b=). A variable is cut into eights of bytes as they are touched; what no access has
 * spoken of is one cell, and a new part begins with what is known of that.
 *
 * Guarantee: accesses race iff they have bytes in common, and an access of several parts is one: it acquires from all
 * of them, then is checked in all, then is recorded. Cost: that of an access (race/cell.c) for each part it touches,
 * and memory for each part that there is.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/races.h"

void pt_races_end_var(struct races *r, struct races_var *var)
{
    pt_cell_end(&r->memory, &var->cell);
    for (uint32_t i = 0; i < var->part_count; i++)
        pt_cell_end(&r->memory, &var->parts[i].cell);
    r->part_bytes -= var->part_count * sizeof *var->parts;
    free(var->parts);
    var->parts = NULL;
    var->part_count = 0;
    var->quiet = 0;
}

/* Makes the part of a granule, unless it is there; what is known of it is what is known of the rest. */
static void make_part(struct races *r, struct races_var *var, uint32_t granule)
{
    uint32_t at = var->part_count;
    while (at > 0 && var->parts[at - 1].granule > granule)
        at--;
    if (at > 0 && var->parts[at - 1].granule == granule)
        return;
    var->parts = pt_xrealloc(var->parts, (var->part_count + 1) * sizeof *var->parts);
    memmove(var->parts + at + 1, var->parts + at, (var->part_count - at) * sizeof *var->parts);
    var->parts[at] = (struct races_part){.granule = granule};
    pt_cell_copy(&r->memory, &var->parts[at].cell, &var->cell);
    var->part_count++;
    r->part_bytes += sizeof *var->parts;
}

/* The bytes of a granule that the event touches. */
static uint8_t bytes_in(const struct pt_event *event, uint32_t granule)
{
    uint32_t low = granule * 8, bytes = PT_CELL_WHOLE;
    if (!event->to)
        return PT_CELL_WHOLE;
    if (event->to <= low || event->from >= low + 8)
        return 0;
    if (event->from > low)
        bytes &= 0xffu << (event->from - low);
    if (event->to < low + 8)
        bytes &= 0xffu >> (low + 8 - event->to);
    return (uint8_t)bytes;
}

void pt_races_access_parts(struct races *r, struct races_thread *t, struct races_var *var,
                           struct pt_cell_access *access)
{
    const struct pt_event *event = r->event;
    for (uint32_t granule = event->from / 8; granule * 8 < event->to; granule++)
        make_part(r, var, granule);
    r->in_parts = true;
    r->met_count = 0;
    bool rest = !event->to;
    for (uint32_t i = 0; i < var->part_count; i++) {
        access->bytes = bytes_in(event, var->parts[i].granule);
        pt_cell_acquire(&r->env, &var->parts[i].cell, &t->hb, access);
    }
    access->bytes = PT_CELL_WHOLE;
    if (rest)
        pt_cell_acquire(&r->env, &var->cell, &t->hb, access);
    bool covers = rest && pt_cell_check(&r->env, &var->cell, &t->hb, access);
    for (uint32_t i = 0; i < var->part_count; i++) {
        access->bytes = bytes_in(event, var->parts[i].granule);
        if (access->bytes)
            var->parts[i].covers = pt_cell_check(&r->env, &var->parts[i].cell, &t->hb, access);
    }
    for (uint32_t i = 0; i < var->part_count; i++) {
        access->bytes = bytes_in(event, var->parts[i].granule);
        if (access->bytes)
            pt_cell_record(&r->env, &var->parts[i].cell, &t->hb, access, var->parts[i].covers);
    }
    access->bytes = PT_CELL_WHOLE;
    if (rest)
        pt_cell_record(&r->env, &var->cell, &t->hb, access, covers);
    if (access->kind & PT_CELL_WRITES)
        pt_hb_tick(&t->hb);
    r->in_parts = false;
}
