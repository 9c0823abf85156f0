/*
 * The events of a trace from those of the logs of a recording. Each goes through what decodes the events of threads in
 * full (channel_decode.c, channel_full.c); of most accesses and locks all that it would find out is known from an
 * earlier one, and they are made here.
 *
 * Guarantee: they are the events that the decoder would make. Cost: a look into a table by address; of what is not in
 * it, what the decoder costs.
 */
#include <stdlib.h>

#include "core/hash.h"
#include "trace/channel_impl.h"
#include "trace/recording_impl.h"

enum { A_LOCK = 0xff }; /* as the size of what is there */

/* As the record of a channel, in decoder->record. */
static void put_record(struct rec_maker *r, uint32_t thread, const struct rec_event *from)
{
    struct pt_record_event *record = (void *)r->decoder->record;
    struct pt_access access = {from->address, from->size};
    uint8_t *value = (uint8_t *)record->clock, *end = value;
    enum pt_object_by by = pt_kind_by(from->kind);
    *record = (struct pt_record_event){.thread = thread, .kind = from->kind, .site = from->site};
    record->marks = (uint16_t)(from->marks | (from->stack ? PT_MARK_STACK : 0));
    if (by == PT_BY_MEMORY || by == PT_BY_ADDRESS || by == PT_BY_EXTENT) {
        access.size = by == PT_BY_EXTENT ? from->value : by == PT_BY_ADDRESS ? 4 : from->size;
        memcpy(value, &access, sizeof access);
        end = value + sizeof access;
    } else {
        record->object = (uint32_t)from->address;
    }
    if (by == PT_BY_MEMORY && from->raw) {
        memcpy(end, from->raw, from->size);
        end += from->size;
    } else if ((by == PT_BY_MEMORY || by == PT_BY_WATCH) && from->size <= sizeof from->value) {
        memcpy(end, &from->value, from->size);
        end += from->size;
    } else if (from->kind == PT_KIND_INTERNAL) {
        memcpy(end, &from->value, sizeof from->value);
        end += sizeof from->value;
    }
    if (from->stack) {
        uint64_t hash = from->stack;
        memcpy(end, &hash, sizeof hash);
        end += sizeof hash;
    }
    record->value_bytes = (uint32_t)(end - value);
    record->head.type = PT_RECORD_EVENT;
    record->head.bytes = (uint32_t)(end - r->decoder->record);
}

static bool is_small_access(const struct rec_event *event)
{
    return pt_kind_by(event->kind) == PT_BY_MEMORY && event->size <= sizeof event->value;
}

static bool is_lock(const struct rec_event *event)
{
    return pt_kind_by(event->kind) == PT_BY_ADDRESS && pt_op_space(pt_kind_op(event->kind)) == PT_SPACE_LOCK &&
           !event->marks;
}

static uint32_t generation_of(const struct rec_maker *r, uint64_t address)
{
    return r->generation + r->generations[(address >> REC_PAGE_BITS) % REC_PAGES];
}

/* It begins or ends. */
static void forget(struct rec_maker *r, uint64_t address, uint64_t size)
{
    uint64_t last = address + size - (size != 0);
    if ((last >> REC_PAGE_BITS) - (address >> REC_PAGE_BITS) >= REC_PAGES) {
        r->generation++;
        return;
    }
    for (uint64_t page = address >> REC_PAGE_BITS; page <= last >> REC_PAGE_BITS; page++)
        r->generations[page % REC_PAGES]++;
}

/* Neighbours lie next to each other; bytes of one granule far apart. */
static struct rec_known_cell *cell_slot(struct rec_maker *r, const struct rec_event *event)
{
    uint64_t granule = event->address >> 3;
    return &r->cells[(granule + (granule >> 16) * 0x9e37 + (event->address & 7) * (REC_CELLS / 8)) % REC_CELLS];
}

static struct rec_known_place *place_slot(struct rec_maker *r, const struct rec_event *event)
{
    return &r->places[pt_mix64((uint64_t)event->site << 32 | event->stack) % REC_PLACES];
}

static void note_place(const struct rec_log *log, const struct rec_event *from, uint32_t loc, uint32_t stack)
{
    struct rec_known *shape = &log->shapes[log->last];
    shape->placed = true;
    shape->calls = from->stack;
    shape->loc = loc;
    shape->stack = stack;
}

/* Of the log's event: of most, its shape knows it. */
static bool is_placed(struct rec_maker *r, const struct rec_log *log)
{
    const struct rec_event *from = &log->event;
    const struct rec_known *shape = &log->shapes[log->last];
    if (shape->placed && shape->calls == from->stack)
        return true;
    const struct rec_known_place *place = place_slot(r, from);
    if (!place->known || place->site != from->site || place->calls != from->stack)
        return false;
    note_place(log, from, place->loc, place->stack);
    return true;
}

static struct pt_value value_of(struct rec_maker *r, const struct rec_known_cell *cell, uint64_t bits)
{
    unsigned unused = 64 - 8u * cell->size;
    if (cell->type == PT_WATCH_INT)
        return pt_value_int((int64_t)(bits << unused) >> unused);
    if (cell->type == PT_WATCH_UINT)
        return pt_value_uint(bits << unused >> unused);
    return chan_decode(r->decoder, cell->type, cell->size, (const unsigned char *)&bits);
}

/* The decoder has made this event of an access: remembers what it found, if that is all there is to it. */
static void remember(struct rec_maker *r, struct rec_log *log, const struct rec_event *from,
                     const struct pt_event *made)
{
    bool lock = is_lock(from);
    struct pt_cell cell = {0};
    log->name = made->thread;
    note_place(log, from, made->loc, made->stack);
    *place_slot(r, from) = (struct rec_known_place){from->site, from->stack, made->loc, made->stack, true};
    if (!lock)
        cell = pt_places_look(r->decoder->places, from->address, PT_SPACE_VAR);
    if (lock || (cell.low == from->address && cell.size == from->size && cell.name == made->object))
        *cell_slot(r, from) = (struct rec_known_cell){from->address, generation_of(r, from->address), made->object,
                                                      (uint8_t)(lock ? A_LOCK : from->size), cell.type};
}

static bool is_known(struct rec_maker *r, const struct rec_log *log, const struct rec_known_cell *cell, uint32_t size)
{
    const struct rec_event *from = &log->event;
    return log->name != PT_NONE && cell->address == from->address && cell->size == size &&
           cell->generation == generation_of(r, from->address) && is_placed(r, log);
}

/* An access of which everything is known; false: the decoder is to be asked. */
static bool take_known(struct rec_maker *r, const struct rec_log *log, struct pt_event *ret_event)
{
    const struct rec_event *from = &log->event;
    const struct rec_known_cell *cell = cell_slot(r, from);
    const struct rec_known *shape = &log->shapes[log->last];
    unsigned order = (unsigned)from->marks >> PT_MARK_ORDER;
    if (order >= PT_MEMORY_COUNT || !is_known(r, log, cell, from->size))
        return false;
    bool stores = from->kind == PT_KIND_UPDATE_AT && from->marks & PT_MARK_STORE;
    *ret_event = (struct pt_event){.op = (uint8_t)(stores ? PT_OP_WRITE : pt_kind_op(from->kind)),
                                   .thread = log->name,
                                   .object = cell->object,
                                   .loc = shape->loc,
                                   .stack = shape->stack,
                                   .order = (uint8_t)order,
                                   .value = value_of(r, cell, from->value)};
    return true;
}

/* The same of a lock: its events, which may be several, go into the decoder's queue. */
static bool take_known_lock(struct rec_maker *r, const struct rec_log *log)
{
    const struct rec_event *from = &log->event;
    const struct rec_known_cell *cell = cell_slot(r, from);
    const struct rec_known *shape = &log->shapes[log->last];
    if (!is_known(r, log, cell, A_LOCK))
        return false;
    struct pt_event event = {.op = (uint8_t)pt_kind_op(from->kind),
                             .thread = log->name,
                             .object = cell->object,
                             .loc = shape->loc,
                             .stack = shape->stack};
    chan_take_lock(r->decoder, event, log->thread, false);
    return true;
}

bool rec_make(struct rec_maker *r, struct rec_log *log, struct pt_event *ret_event, bool *ret_bad)
{
    const struct rec_event *from = &log->event;
    struct pt_channel_reader *d = r->decoder;
    bool small = is_small_access(from), lock = !small && is_lock(from);
    if (small && take_known(r, log, ret_event))
        return true;
    if (lock && take_known_lock(r, log))
        return false;
    put_record(r, log->thread, from);
    bool taken = chan_take_event(d, 0, ret_event);
    *ret_bad |= !taken;
    if (pt_kind_by(from->kind) == PT_BY_EXTENT)
        forget(r, from->address, from->value);
    if (taken && (small || lock) && d->queue_count == 1)
        remember(r, log, from, &d->queue[0]);
    return taken && ret_event->op != PT_OP_COUNT;
}
