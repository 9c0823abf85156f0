/*
 * The log of one thread in a recording (core/recording.h): pieces are put together from their chunks, as these come,
 * and read event by event.
 *
 * Guarantee: whatever the bytes are, reading stays within them; a log that makes no sense ends there, and says so.
 * Cost: linear; memory for one piece and the shapes.
 */
#include <stdlib.h>

#include "core/lz.h"
#include "trace/channel_impl.h"
#include "trace/recording_impl.h"

enum {
    ROOM = PT_REC_NUMBER, /* behind what is read */
    NEAR = 64,            /* bytes of memory */
    ADDRESS_BITS = 57,
    LARGEST_ACCESS = CHAN_LARGEST_ACCESS,
};

void rec_log_release(struct rec_log *log)
{
    free(log->bytes);
    free(log->shapes);
    free(log->events);
    log->bytes = NULL;
    log->shapes = NULL;
    log->events = NULL;
    log->next = log->decoded = 0;
    log->cap = log->shape_cap = 0;
    log->len = log->pos = 0;
    log->begun = false;
}

void rec_log_split(struct rec_log *log)
{
    uint8_t *bytes = log->bytes ? pt_xmalloc(log->cap) : NULL;
    struct rec_known *shapes = log->shapes ? pt_xmalloc(log->shape_cap * sizeof *shapes) : NULL;
    if (bytes)
        memcpy(bytes, log->bytes, log->len);
    if (shapes)
        memcpy(shapes, log->shapes, log->shape_count * sizeof *shapes);
    if (log->events) {
        struct rec_stamped *events = pt_xmalloc(REC_DECODED * sizeof *events);
        memcpy(events, log->events, log->decoded * sizeof *events);
        for (uint32_t i = 0; i < log->decoded; i++)
            if (events[i].event.raw)
                events[i].event.raw = bytes + (events[i].event.raw - log->bytes);
        log->events = events;
    }
    log->bytes = bytes;
    log->shapes = shapes;
}

/* One chunk behind the others of its piece. */
static bool unpack(struct rec_log *log, const struct rec_part *part)
{
    if (part->from != log->len || part->raw > PT_REC_PIECE - log->len)
        return false;
    PT_GROW(log->bytes, log->cap, (size_t)log->len + part->raw + ROOM);
    uint8_t *to = log->bytes + log->len;
    if (part->stored == part->raw)
        memcpy(to, part->at, part->raw);
    else if (!pt_lz_unpack(part->at, part->stored, to, part->raw))
        return false;
    log->len += part->raw;
    return true;
}

/* Without the one before it, a piece that goes on with its shapes makes no sense. */
static void begin_piece(struct rec_log *log, const struct rec_part *part)
{
    log->damaged = part->stamp < log->stamp || (part->goes_on && (!log->begun || part->piece != log->piece + 1));
    if (!part->goes_on) {
        log->shape_count = log->last = log->last_stack = 0;
        log->address = 0;
        log->shaped = part->piece;
    }
    log->len = log->pos = 0;
    log->raw = 0;
    log->stamp = part->stamp;
    log->piece = part->piece;
    log->begun = true;
}

/* The next part, behind what there is of its piece, or as the beginning of another. Parts end where events do. */
static bool open_part(struct rec_log *log)
{
    if (log->next_part == log->part_count)
        return false;
    const struct rec_part *part = &log->parts[log->next_part++];
    if (!log->begun || part->piece != log->piece)
        begin_piece(log, part);
    log->damaged = log->damaged || !unpack(log, part);
    return !log->damaged;
}

/* What is left of the piece; `bad` is set where it ends too early. */
struct bytes {
    const uint8_t *at, *end;
    bool bad;
};

/* Behind the end there are ROOM bytes, whatever they are. */
static uint64_t take_number(struct bytes *in)
{
    unsigned bytes;
    uint64_t number = pt_rec_get(in->at, &bytes);
    if (__builtin_expect(bytes > (size_t)(in->end - in->at), 0)) {
        in->bad = true;
        return 0;
    }
    in->at += bytes;
    return number;
}

static uint8_t take_byte(struct bytes *in)
{
    if (in->at < in->end)
        return *in->at++;
    in->bad = true;
    return 0;
}

static void take_new_shape(struct rec_log *log, struct bytes *in)
{
    struct rec_known known = {.shape = {.address = log->address}};
    known.site = (uint32_t)take_number(in);
    known.kind = take_byte(in);
    known.marks = take_byte(in);
    known.marks |= (uint16_t)(take_byte(in) << 8);
    known.size = (uint32_t)take_number(in);
    in->bad |= known.kind >= PT_KIND_COUNT || log->shape_count == PT_REC_SHAPES;
    known.raw = (uint16_t)pt_rec_raw_bytes(known.kind, known.size);
    known.valued = pt_rec_has_value(known.kind, known.size);
    if (!in->bad)
        PT_PUSH(log->shapes, log->shape_count, log->shape_cap, known);
}

/* The number of the event's shape; of none, where the bytes are bad. */
static uint32_t take_shape(struct rec_log *log, unsigned tag, struct bytes *in)
{
    uint32_t number = 0;
    if ((tag & PT_REC_SHAPE) == PT_REC_SHAPE_NEW) {
        number = log->shape_count;
        take_new_shape(log, in);
    } else if ((tag & PT_REC_SHAPE) == PT_REC_SHAPE_KNOWN) {
        number = (uint32_t)take_number(in);
    } else if (log->shape_count) {
        number = log->shapes[log->last].shape.next;
    }
    in->bad |= number >= log->shape_count;
    return number;
}

static void take_values(struct rec_log *log, unsigned tag, struct rec_known *known, struct bytes *in)
{
    struct pt_rec_shape *shape = &known->shape;
    unsigned stack = tag >> PT_REC_STACK_AT & 3;
    if (!(tag & PT_REC_ADDRESS)) {
        uint64_t number = take_number(in), difference = pt_rec_unfold(number >> 1);
        shape->stride = number & 1 ? log->address + difference - shape->address : difference;
    }
    shape->address += shape->stride;
    const unsigned both = PT_REC_VALUE | PT_REC_MEMORY;
    if (known->valued && (!(tag & both) || (tag & both) == both))
        shape->value += pt_rec_unfold(take_number(in));
    if (stack == PT_REC_STACK_OTHER)
        shape->stack = (uint32_t)take_number(in);
    else if (stack == PT_REC_STACK_LAST)
        shape->stack = log->last_stack;
    if (tag & PT_REC_STAMP)
        log->stamp += take_number(in);
}

/* What the event has to do with what is remembered of its granule. */
static uint8_t memory_of(unsigned tag, const struct rec_known *known)
{
    if (tag & PT_REC_MEMORY)
        return tag & PT_REC_VALUE ? REC_NOTHING : REC_TAKES;
    bool kept =
        !(tag & PT_REC_VALUE) && pt_rec_is_kept(known->kind, known->shape.address, known->size, known->shape.value);
    return kept ? REC_GIVES : REC_NOTHING;
}

/* Whether a program can have done that: memory lies below 2^ADDRESS_BITS, and what is accessed at once is not large. */
static bool is_possible(const struct rec_known *known)
{
    const uint64_t most = UINT64_C(1) << ADDRESS_BITS;
    enum pt_object_by by = pt_kind_by(known->kind);
    if (by == PT_BY_EXTENT && (known->shape.value > most || known->shape.address > most))
        return false;
    if (known->kind == PT_KIND_NAMED && known->shape.address > most)
        return false;
    return by != PT_BY_MEMORY || (known->size <= LARGEST_ACCESS && known->shape.address <= most);
}

/* False: the bytes make no sense. */
static bool take_event(struct rec_log *log, struct rec_event *ret_event)
{
    struct bytes in = {log->bytes + log->pos, log->bytes + log->len, false};
    unsigned tag = take_byte(&in);
    uint32_t number = take_shape(log, tag, &in);
    if (in.bad)
        return false;
    struct rec_known *known = &log->shapes[number];
    take_values(log, tag, known, &in);
    bool repeats = known->raw && tag & PT_REC_VALUE;
    uint32_t raw = repeats ? 0 : known->raw;
    if (in.bad || raw > (size_t)(in.end - in.at) || (repeats && known->raw != log->raw) || !is_possible(known))
        return false;
    if (raw) {
        log->raw_at = (uint32_t)(in.at - log->bytes);
        log->raw = raw;
    }
    log->shapes[log->last].shape.next = number;
    log->last = number;
    log->last_stack = known->shape.stack;
    log->address = known->shape.address;
    log->pos = (uint32_t)(in.at + raw - log->bytes);
    *ret_event = (struct rec_event){.address = known->shape.address,
                                    .value = known->shape.value,
                                    .site = known->site,
                                    .size = known->size,
                                    .stack = known->shape.stack,
                                    .shape = number,
                                    .kind = known->kind,
                                    .marks = known->marks,
                                    .memory = memory_of(tag, known),
                                    .far = known->shape.stride + NEAR > 2 * NEAR,
                                    .raw = known->raw ? log->bytes + log->raw_at : NULL};
    return true;
}

/* Some of what is left of the part; whose bytes stay where they are until all of these are taken. */
static bool decode_some(struct rec_log *log, const struct rec_unseen *unseen)
{
    uint32_t count = 0;
    if (!log->events)
        log->events = pt_xmalloc(REC_DECODED * sizeof *log->events);
    for (; count < REC_DECODED && log->pos < log->len; count++) {
        struct rec_stamped *to = &log->events[count];
        log->broken = !take_event(log, &to->event);
        if (log->broken)
            break;
        to->stamp = log->stamp;
        if (to->event.far)
            rec_unseen_expect(unseen, to->event.address);
    }
    if (!count)
        return false;
    log->next = 0;
    log->decoded = count;
    log->head = log->events[0].stamp;
    return true;
}

bool rec_log_decode(struct rec_log *log, const struct rec_unseen *unseen)
{
    bool ended = log->decoded && rec_log_event(log)->kind == PT_KIND_ENDED;
    log->damaged |= log->broken;
    while (!log->damaged && log->pos == log->len)
        if (!open_part(log))
            break;
    if (!log->damaged && log->pos < log->len) {
        log->damaged = !decode_some(log, unseen);
        if (!log->damaged)
            return true;
    }
    if (log->damaged || !log->grows || ended)
        rec_log_release(log);
    return false;
}
