/*
 * The events of a trace from those of the logs of a recording. Each goes through what decodes the events of threads in
 * full (channel_decode.c, channel_full.c); of most accesses, locks and memory all that it would find out is
 * known from an earlier one, and they are made here.
 *
 * Guarantee: they are the events that the decoder would make. Cost: a look for the memory's cell (cells.h); where a
 * thread, a place or a stack is new, what the decoder costs.
 */
#include <stdlib.h>

#include "core/hash.h"
#include "trace/channel_impl.h"
#include "trace/recording_impl.h"

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

static struct rec_known_place *place_slot(struct rec_maker *r, const struct rec_event *event)
{
    return &r->places[pt_mix64((uint64_t)event->site << 32 | event->stack) % REC_PLACES];
}

/* Where the events of this shape stood last. */
static struct rec_shape_place *shape_place(struct rec_maker *r, const struct rec_merged *item)
{
    struct rec_made *made = &r->logs[item->log];
    if (item->event.shape >= made->shape_cap)
        PT_ROOM(made->shapes, made->shape_cap, item->event.shape);
    return &made->shapes[item->event.shape];
}

static void note_place(struct rec_maker *r, const struct rec_merged *item, uint32_t loc, uint32_t stack)
{
    *shape_place(r, item) = (struct rec_shape_place){item->shaped + 1, item->event.stack, loc, stack};
}

/* The place and the stack: of most events, their shape knows it. NULL: the decoder is to be asked. */
static const struct rec_shape_place *find_place(struct rec_maker *r, const struct rec_merged *item)
{
    const struct rec_event *from = &item->event;
    const struct rec_shape_place *shape = shape_place(r, item);
    if (shape->shaped == item->shaped + 1 && shape->calls == from->stack)
        return shape;
    const struct rec_known_place *place = place_slot(r, from);
    if (!place->known || place->site != from->site || place->calls != from->stack)
        return NULL;
    note_place(r, item, place->loc, place->stack);
    return shape;
}

static struct pt_value value_of(struct rec_maker *r, const struct pt_cell *cell, uint64_t bits)
{
    if (__builtin_expect(chan_is_number(cell->type, cell->size), 1))
        return chan_number(cell->type, cell->size, bits);
    return chan_decode(r->decoder, cell->type, cell->size, (const unsigned char *)&bits);
}

/* An access: most are of one variable, of all of it. Others go into the decoder's queue. False: the decoder is to be
 * asked. */
static bool take_access(struct rec_maker *r, const struct rec_merged *item, const struct rec_shape_place *place,
                        struct pt_event *ret_event)
{
    const struct rec_event *from = &item->event;
    struct pt_channel_reader *d = r->decoder;
    uint64_t end = from->address + from->size;
    unsigned order = (unsigned)from->marks >> PT_MARK_ORDER;
    bool stores = from->kind == PT_KIND_UPDATE_AT && from->marks & PT_MARK_STORE;
    if (order >= PT_MEMORY_COUNT || !from->size || from->size > CHAN_LARGEST_ACCESS || end < from->address)
        return false;
    *ret_event = (struct pt_event){.op = (uint8_t)(stores ? PT_OP_WRITE : pt_kind_op(from->kind)),
                                   .thread = r->logs[item->log].name - 1,
                                   .object = PT_NONE,
                                   .loc = place->loc,
                                   .stack = place->stack,
                                   .order = (uint8_t)order};
    struct pt_cell cell;
    if (pt_cells_var(r->cells, from->address, &cell) && cell.low == from->address && cell.size == from->size &&
        from->size <= sizeof from->value) {
        ret_event->object = cell.name;
        ret_event->value = value_of(r, &cell, from->value);
        return true;
    }
    bool small = from->size <= sizeof from->value;
    const unsigned char *bytes = from->raw ? from->raw : (const unsigned char *)&from->value;
    chan_take_memory(d, *ret_event, (struct pt_access){from->address, from->size}, bytes,
                     from->raw || small ? from->size : 0);
    return true;
}

/* An operation on a lock that was met before, or memory that begins or ends: their events, which may be several, go
 * into the decoder's queue, or *ret_event is the only one. */
static bool take_other(struct rec_maker *r, const struct rec_merged *item, const struct rec_shape_place *place,
                       uint32_t thread, struct pt_event *ret_event)
{
    const struct rec_event *from = &item->event;
    enum pt_object_by by = pt_kind_by(from->kind);
    struct pt_event event = {.op = (uint8_t)pt_kind_op(from->kind),
                             .thread = r->logs[item->log].name - 1,
                             .object = PT_NONE,
                             .loc = place->loc,
                             .stack = place->stack};
    ret_event->object = PT_NONE;
    if (from->marks)
        return false;
    if (by == PT_BY_EXTENT && from->value && from->address + from->value > from->address) {
        chan_take_extent(r->decoder, from->kind, (struct pt_access){from->address, from->value}, event);
        return true;
    }
    if (by != PT_BY_ADDRESS || pt_op_space(event.op) != PT_SPACE_LOCK)
        return false;
    struct pt_cell lock;
    if (!pt_cells_object(r->cells, from->address, PT_SPACE_LOCK, &lock))
        return false;
    event.object = lock.name;
    if (__builtin_expect(chan_take_free_lock(r->decoder, &event, thread), 1))
        *ret_event = event;
    else
        chan_take_lock(r->decoder, event, thread, false);
    return true;
}

/* The decoder has made this of the event. */
static void remember(struct rec_maker *r, const struct rec_merged *item, const struct pt_event *made)
{
    const struct rec_event *from = &item->event;
    r->logs[item->log].name = made->thread + 1;
    note_place(r, item, made->loc, made->stack);
    *place_slot(r, from) = (struct rec_known_place){from->site, from->stack, made->loc, made->stack, true};
}

/* Whatever names its memory has. */
static bool make(struct rec_maker *r, const struct rec_merged *item, uint32_t thread, struct pt_event *ret_event,
                 bool *ret_bad)
{
    const struct rec_event *from = &item->event;
    struct pt_channel_reader *d = r->decoder;
    enum pt_object_by by = pt_kind_by(from->kind);
    bool full = by == PT_BY_MEMORY || by == PT_BY_EXTENT || by == PT_BY_ADDRESS;
    const struct rec_shape_place *place = full && r->logs[item->log].name ? find_place(r, item) : NULL;
    if (place && by == PT_BY_MEMORY && take_access(r, item, place, ret_event))
        return ret_event->object != PT_NONE;
    if (place && by != PT_BY_MEMORY && take_other(r, item, place, thread, ret_event))
        return ret_event->object != PT_NONE;
    put_record(r, thread, from);
    bool taken = chan_take_event(d, 0, ret_event);
    *ret_bad |= !taken;
    if (taken && full && d->queue_count)
        remember(r, item, &d->queue[d->queue_count - 1]);
    else if (taken && from->kind == PT_KIND_FREED) /* of no event: where it stands does not matter */
        note_place(r, item, 0, 0);
    return taken && ret_event->op != PT_OP_COUNT;
}

/* Of an access that has been made, what it is of names: it is in the queue, with these behind it. */
static bool make_named(struct rec_maker *r, const struct rec_event *from, struct pt_event *event, bool made)
{
    struct pt_channel_reader *d = r->decoder;
    uint32_t before = d->queue_count;
    if (!made && !before)
        return false;
    if (made)
        PT_PUSH(d->queue, d->queue_count, d->queue_cap, *event);
    if (rec_names_access(&r->names, d, from, d->queue[d->queue_count - 1]))
        return false;
    d->queue_count = before;
    return made;
}

bool rec_make(struct rec_maker *r, const struct rec_merged *item, uint32_t thread, struct pt_event *ret_event,
              bool *ret_bad)
{
    const struct rec_event *from = &item->event;
    enum pt_object_by by = pt_kind_by(from->kind);
    if (__builtin_expect(item->log >= r->log_cap, 0))
        PT_ROOM(r->logs, r->log_cap, item->log);
    if (__builtin_expect(from->kind == PT_KIND_NAMED, 0)) {
        rec_names_take(&r->names, from);
        return false;
    }
    bool made = make(r, item, thread, ret_event, ret_bad);
    if (__builtin_expect(!r->names.live, 1))
        return made;
    if (by == PT_BY_EXTENT && from->address + from->value > from->address)
        rec_names_end(&r->names, from->address, from->address + from->value);
    if (by == PT_BY_MEMORY && from->address + from->size > from->address)
        return make_named(r, from, ret_event, made);
    return made;
}

void rec_maker_release(struct rec_maker *r)
{
    rec_names_release(&r->names);
    for (size_t i = 0; i < r->log_cap; i++)
        free(r->logs[i].shapes);
    free(r->logs);
}
