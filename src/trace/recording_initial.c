/*
 * Initial values in a recording: what each granule of static memory had in it before it was first accessed, as values
 * of the variables that lie there. Where the recording is read while it is written, they come before what accesses
 * them, and not all of them before the first event.
 *
 * Guarantee: a variable gets a value only if all of its bytes are known. Cost: a sort of the granules, and a look-up of
 * names for each.
 */
#include <stdlib.h>
#include <string.h>

#include "trace/channel_impl.h"
#include "trace/recording_impl.h"

void rec_initial_take(struct rec_initials *initials, const struct pt_channel_reader *decoder)
{
    struct pt_rec_initial record;
    memcpy(&record.head, decoder->record, sizeof record.head);
    if (record.head.bytes != sizeof record)
        return;
    memcpy(&record, decoder->record, sizeof record);
    struct rec_initial initial = {record.address & ~UINT64_C(7), record.value, false};
    if (record.known)
        PT_PUSH(initials->items, initials->count, initials->cap, initial);
}

static int compare_initials(const void *a, const void *b)
{
    const struct rec_initial *x = a, *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

/* The bytes of a variable, as they were first; false: not all of them are known. They begin in granule `at`. */
static bool copy_initial(const struct rec_initials *r, uint32_t at, uint64_t address, uint32_t size, unsigned char *to)
{
    for (uint32_t done = 0; done < size; at++) {
        uint64_t from = address + done, granule = from & ~UINT64_C(7);
        if (at == r->count || r->items[at].address != granule)
            return false;
        uint32_t part = (uint32_t)(granule + 8 - from) < size - done ? (uint32_t)(granule + 8 - from) : size - done;
        memcpy(to + done, (const unsigned char *)&r->items[at].value + (from - granule), part);
        done += part;
    }
    return true;
}

/* Of the variable at the beginning of `cell`, in granule `at`. */
static void give_one(const struct rec_initials *r, struct pt_channel_reader *d, uint32_t at, const struct pt_cell *cell)
{
    unsigned char bytes[PT_REC_RAW_MOST];
    struct pt_event event = {.op = PT_OP_INIT, .thread = PT_NONE, .object = cell->name};
    if (!cell->size || cell->size > sizeof bytes || !copy_initial(r, at, cell->low, cell->size, bytes))
        return;
    event.loc = pt_names_intern_clean(d->names, PT_SPACE_LOC, "-", 1);
    event.value = chan_decode(d, cell->type, cell->size, bytes);
    if (event.value.kind != PT_VALUE_UNKNOWN)
        PT_PUSH(d->inits, d->init_count, d->init_cap, event);
}

static uint32_t find(const struct rec_initials *r, uint64_t granule)
{
    uint32_t low = 0, high = r->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (r->items[middle].address < granule)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->count && r->items[low].address == granule ? low : PT_NONE;
}

/* Of the variables that begin in a granule, and of one that ends in it. Memory that debug information knows nothing of
 * has no names in properties. */
static void give(const struct rec_initials *r, struct pt_channel_reader *d, uint32_t at)
{
    uint64_t end = r->items[at].address + 8;
    for (uint64_t address = end - 8; address < end;) {
        struct pt_cell cell;
        if (!pt_places_variable(d->places, address, &cell)) {
            address++;
            continue;
        }
        uint64_t next = cell.low + cell.size;
        uint32_t first = cell.low == address ? at : find(r, cell.low & ~UINT64_C(7));
        /* of one that begins before: as soon as the last of its granules is there */
        if (cell.low == address || (first != PT_NONE && !r->items[first].fresh))
            give_one(r, d, first, &cell);
        address = next > address ? next : address + 1;
    }
}

/* The new ones are sorted into the others; where the oldest chunks were given back they stand twice. */
static void merge(struct rec_initials *r)
{
    uint32_t new = r->count - r->given, kept = 0, a = 0, b = r->given;
    struct rec_initial *items = pt_xmalloc(r->count * sizeof *items);
    qsort(r->items + r->given, new, sizeof *r->items, compare_initials);
    while (a < r->given || b < r->count) {
        bool old = a < r->given && (b == r->count || r->items[a].address <= r->items[b].address);
        struct rec_initial item = r->items[old ? a++ : b++];
        item.fresh = !old;
        if (!kept || items[kept - 1].address != item.address)
            items[kept++] = item;
    }
    free(r->items);
    r->items = items;
    r->cap = r->count;
    r->count = r->given = kept;
}

void rec_initials_give(struct rec_initials *r, struct pt_channel_reader *decoder)
{
    if (r->count == r->given)
        return;
    merge(r);
    for (uint32_t i = 0; i < r->count; i++)
        if (r->items[i].fresh)
            give(r, decoder, i);
}
