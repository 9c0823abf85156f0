/*
 * Packed cells: what a granule's own cell says in one piece of memory (packed.h), mostly one cache line or two, where a
 * cell with its entries takes five.
 *
 * Guarantee: what was packed is unpacked as it was. Cells that raced, with atomic accesses, with more than
 * PT_RACE_PACKED_SEEN entries or PT_RACE_FURTHER last writes beside the latest are not packed. Cost: most accesses are
 * made in place (inplace.c); any other is unpacked, made by race/cell.c and packed again.
 */
#include "runtime/race/packed.h"

#include <string.h>

/* Where the keys end in a cell with room for so many entries. */
static unsigned keys_end_for(unsigned count)
{
    return count <= 2 ? 5 : count <= 8 ? (count + 1) / 2 + 4 : count <= 12 ? 10 : 12;
}

bool pt_race_packed_room(struct pt_race_self *self, uint32_t *cell, unsigned entries, unsigned further)
{
    const struct pt_race_packed *from = pt_race_packed_at(*cell);
    unsigned keys_end = from->keys_end, spare = from->spare;
    if (entries <= pt_race_packed_cap(keys_end) && further <= spare)
        return true;
    if (entries > PT_RACE_PACKED_SEEN || further > PT_RACE_FURTHER)
        return false;
    keys_end = entries > pt_race_packed_cap(keys_end) ? keys_end_for(entries) : keys_end;
    spare = further > spare ? further : spare;
    uint32_t moved = pt_race_packed_new(self, pt_race_packed_units(keys_end, spare));
    if (!moved)
        return false;
    struct pt_race_packed *to = pt_race_packed_at(moved);
    uint32_t stamp = to->stamp;
    memcpy(to, from, sizeof *to);
    to->stamp = stamp + 1;
    pt_race_packed_touched(to);
    to->keys_end = (uint16_t)keys_end & 0xf;
    to->spare = (uint16_t)spare & 7;
    memcpy(to->keys, from->keys, from->count * sizeof *to->keys);
    memcpy(pt_race_packed_seen(to), pt_race_packed_seen(from), from->count * sizeof(struct pt_race_packed_seen));
    memcpy(pt_race_packed_further(to), pt_race_packed_further(from), from->further * sizeof(struct pt_race_last));
    pt_race_packed_free(self, *cell, pt_race_packed_units_of(from));
    *cell = moved;
    return true;
}

uint32_t pt_race_packed_empty(struct pt_race_self *self, unsigned entries, unsigned further)
{
    unsigned keys_end = keys_end_for(entries);
    uint32_t made = pt_race_packed_new(self, pt_race_packed_units(keys_end, further));
    if (!made)
        return 0;
    struct pt_race_packed *packed = pt_race_packed_at(made);
    uint32_t stamp = packed->stamp;
    *packed = (struct pt_race_packed){
        .stamp = stamp + 1, .keys_end = (uint16_t)keys_end & 0xf, .spare = (uint16_t)further & 7};
    return made;
}

/* ---- there and back ---- */

static bool may_be_packed(const struct pt_cell *cell)
{
    if (cell->count > PT_RACE_PACKED_SEEN || cell->written_count > PT_RACE_FURTHER)
        return false;
    for (uint32_t i = 0; i < cell->count; i++)
        if (cell->seen[i].access.kind != PT_CELL_READS && cell->seen[i].access.kind != PT_CELL_WRITES)
            return false;
    for (unsigned i = 0; i < cell->written_count; i++)
        if (cell->written[i].atomic)
            return false;
    return true;
}

static void pack_entries(struct pt_race_packed *packed, const struct pt_cell *cell)
{
    packed->count = (uint16_t)cell->count & 0x1f;
    packed->fresh = 0;
    for (uint32_t i = 0; i < cell->count; i++) {
        const struct pt_cell_seen *seen = &cell->seen[i];
        const struct pt_cell_access *access = &seen->access;
        packed->fresh |= (uint16_t)((seen->fresh ? 1u : 0) << i);
        packed->keys[i] = pt_race_packed_key(access->place, access->bytes, access->kind & PT_CELL_WRITES) |
                          (uint32_t)access->op << PT_RACE_KEY_OP_AT | (seen->merged ? PT_RACE_KEY_MERGED : 0);
        pt_race_packed_seen(packed)[i] = (struct pt_race_packed_seen){seen->at, access->note.stack, access->note.locks};
    }
}

static void pack_writes(struct pt_race_packed *packed, const struct pt_cell *cell)
{
    packed->over = cell->over;
    packed->past = 0;
    packed->further = 0;
    for (unsigned i = 0; i < cell->written_count; i++) {
        const struct pt_cell_written *written = &cell->written[i];
        struct pt_race_last last = pt_race_last_make(written->stamp.at, written->stamp.past, written->bytes);
        if (last.at == cell->over && !packed->past)
            packed->past = last.past;
        else
            pt_race_packed_further(packed)[packed->further++] = last;
    }
}

uint64_t pt_race_pack(struct pt_race_self *self, struct pt_race_view *view, uint64_t old)
{
    const struct pt_cell *cell = &view->cell;
    uint32_t at = (uint32_t)old & ~PT_RACE_PACKED;
    bool apart = cell->written_count > 0; /* the first of these is mostly `over` */
    for (unsigned i = 0; i < cell->written_count; i++)
        apart &= cell->written[i].stamp.at != cell->over;
    unsigned further = cell->written_count - (cell->written_count > 0 && !apart);
    if (!may_be_packed(cell) || further > PT_RACE_FURTHER)
        return 0;
    if (!old ? (at = pt_race_packed_empty(self, cell->count, further)) == 0
             : !pt_race_packed_room(self, &at, cell->count, further))
        return 0;
    struct pt_race_packed *packed = pt_race_packed_at(at);
    pack_entries(packed, cell);
    pack_writes(packed, cell);
    pt_race_packed_touched(packed);
    packed->stamp++;
    return pt_race_word_made(at | PT_RACE_PACKED);
}

static void unpack_write(struct pt_cell *cell, struct pt_race_last last)
{
    if (pt_race_last_bytes(&last))
        cell->written[cell->written_count++] = (struct pt_cell_written){.stamp = {last.at, pt_race_last_past(&last)},
                                                                        .bytes = (uint8_t)pt_race_last_bytes(&last)};
}

void pt_race_unpack(struct pt_race_view *view, const struct pt_race_packed *packed)
{
    struct pt_cell *cell = &view->cell;
    *cell = (struct pt_cell){.over = packed->over,
                             .seen = view->seen,
                             .count = packed->count,
                             .cap = sizeof view->seen / sizeof *view->seen,
                             .written = view->written,
                             .written_cap = sizeof view->written / sizeof *view->written};
    for (uint32_t i = 0; i < cell->count; i++) {
        const struct pt_race_packed_seen *seen = &pt_race_packed_seen(packed)[i];
        uint32_t key = packed->keys[i];
        view->seen[i] =
            (struct pt_cell_seen){.at = seen->at,
                                  .access = {.place = key & PT_RACE_KEY_PLACE,
                                             .kind = key & PT_RACE_KEY_WRITES ? PT_CELL_WRITES : PT_CELL_READS,
                                             .bytes = (uint8_t)pt_race_key_bytes(key),
                                             .op = (key & PT_RACE_KEY_OP) >> PT_RACE_KEY_OP_AT,
                                             .note = {.stack = seen->stack, .locks = seen->locks}},
                                  .fresh = packed->fresh >> i & 1,
                                  .merged = key & PT_RACE_KEY_MERGED};
    }
    unpack_write(cell, pt_race_packed_last(packed));
    for (unsigned i = 0; i < packed->further; i++)
        unpack_write(cell, pt_race_packed_further(packed)[i]);
    pt_cell_arrange(cell);
}

void pt_race_packed_end(struct pt_race_self *self, uint64_t word)
{
    struct pt_race_packed *packed = pt_race_packed_of(word);
    struct pt_race_last last = pt_race_packed_last(packed);
    pt_vec_drop(&self->memory, pt_race_last_past(&last));
    for (unsigned i = 0; i < packed->further; i++)
        pt_vec_drop(&self->memory, pt_race_last_past(&pt_race_packed_further(packed)[i]));
    pt_race_packed_free(self, (uint32_t)word & ~PT_RACE_PACKED, pt_race_packed_units_of(packed));
}
