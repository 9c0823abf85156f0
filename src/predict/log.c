/*
 * Events packed into chunks of bytes: the operation with what it has in common with the event before it, then numbers
 * of seven bits per byte; of long runs a chunk that is full is compressed. Guarantee: what is read is what was added,
 * in its order. Cost: constant time for each event, and where names are few thousands four to six bytes, two to three
 * once they are compressed.
 */
#include "predict/log.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum {
    LEVEL = 1,                /* of compression: beyond it little is gained */
    COMPRESS_FROM = 64 << 20, /* bytes: short runs are read back more often, for each finding */
    EVENT_MAX = 80,           /* bytes: the first one and seven numbers */
    OP = 0x1f,
    SAME_THREAD = 0x20,
    NEXT = 0x40, /* its number is the next */
    EXTRA = 0x80 /* it has a stack, is atomic, or of some bytes only */
};
_Static_assert((int)PT_OP_COUNT <= (int)OP, "an operation has five bits");

struct pt_log_chunk {
    struct pt_log_chunk *next;
    size_t used, raw; /* bytes that are here, and that they stand for; the same: they are not compressed */
    uint8_t bytes[];
};

void pt_log_release(struct pt_log *log)
{
    for (struct pt_log_chunk *chunk = log->first, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    ZSTD_freeCCtx(log->compressor);
    *log = (struct pt_log){0};
}

static uint8_t *put(uint8_t *at, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        *at++ = (uint8_t)(number | 0x80);
    *at++ = (uint8_t)number;
    return at;
}

/* Most are of one byte or two. */
static inline const uint8_t *get(const uint8_t *at, uint64_t *number)
{
    uint64_t value = *at & 0x7f;
    if (*at++ & 0x80) {
        value |= (uint64_t)(*at & 0x7f) << 7;
        for (unsigned shift = 14; *at++ & 0x80; shift += 7)
            value |= (uint64_t)(*at & 0x7f) << shift;
    }
    *number = value;
    return at;
}

static inline const uint8_t *get_id(const uint8_t *at, uint32_t *id)
{
    uint64_t number;
    at = get(at, &number);
    *id = (uint32_t)number;
    return at;
}

/* What a full chunk has, in as little memory as that takes; where compressing gains nothing it stays as it is. */
static struct pt_log_chunk *compress(struct pt_log *log, const struct pt_log_chunk *full)
{
    uint8_t packed[ZSTD_COMPRESSBOUND(PT_LOG_CHUNK)];
    if (!log->compressor)
        log->compressor = ZSTD_createCCtx();
    assert(log->compressor); /* else out of memory */
    size_t used = ZSTD_compressCCtx(log->compressor, packed, sizeof packed, full->bytes, full->raw, LEVEL);
    bool smaller = !ZSTD_isError(used) && used < full->raw;
    used = smaller ? used : full->raw;
    struct pt_log_chunk *chunk = pt_xmalloc(sizeof *chunk + used);
    *chunk = (struct pt_log_chunk){.used = used, .raw = full->raw};
    memcpy(chunk->bytes, smaller ? packed : full->bytes, used);
    log->bytes += sizeof *chunk + used;
    return chunk;
}

static void add_chunk(struct pt_log *log)
{
    struct pt_log_chunk *chunk = pt_xmalloc(sizeof *chunk + PT_LOG_CHUNK);
    *chunk = (struct pt_log_chunk){0};
    if (log->last)
        log->last->next = chunk;
    else
        log->first = chunk;
    log->before_last = log->last;
    log->last = chunk;
    log->bytes += sizeof *chunk + PT_LOG_CHUNK;
}

/* What the last chunk has goes to one of its own, compressed, and it is used again. */
static void empty_last(struct pt_log *log)
{
    struct pt_log_chunk *chunk = compress(log, log->last);
    chunk->next = log->last;
    if (log->before_last)
        log->before_last->next = chunk;
    else
        log->first = chunk;
    log->before_last = chunk;
    log->last->used = log->last->raw = 0;
}

static uint8_t *room(struct pt_log *log)
{
    bool full = log->last && log->last->used > PT_LOG_CHUNK - EVENT_MAX;
    if (full && log->bytes >= COMPRESS_FROM)
        empty_last(log);
    else if (full || !log->last)
        add_chunk(log);
    return log->last->bytes + log->last->used;
}

void pt_log_add(struct pt_log *log, const struct pt_event *event, uint64_t number)
{
    uint8_t *start = room(log), *at = start + 1;
    unsigned head = event->op;
    if (log->count && event->thread == log->before.thread)
        head |= SAME_THREAD;
    else
        at = put(at, event->thread);
    if (number == log->before.event + 1)
        head |= NEXT;
    else
        at = put(at, number - log->before.event);
    at = put(at, event->object);
    at = put(at, event->loc);
    if (event->stack || event->to || event->order) {
        head |= EXTRA;
        at = put(at, (uint64_t)event->stack << 2 | (event->order ? 2u : 0) | (event->to ? 1u : 0));
        if (event->to)
            at = put(put(at, event->from), event->to);
    }
    *start = (uint8_t)head;
    log->last->used += (size_t)(at - start);
    log->last->raw = log->last->used;
    log->before.thread = event->thread;
    log->before.event = number;
    log->count++;
}

void pt_log_start(struct pt_log_reader *reader, const struct pt_log *log)
{
    reader->next = log->first;
    reader->at = reader->end = NULL;
    reader->event = (struct pt_log_event){0};
}

static bool open_chunk(struct pt_log_reader *reader)
{
    const struct pt_log_chunk *chunk = reader->next;
    if (!chunk)
        return false;
    reader->next = chunk->next;
    reader->at = chunk->bytes;
    if (chunk->used != chunk->raw) {
        size_t raw = ZSTD_decompress(reader->bytes, sizeof reader->bytes, chunk->bytes, chunk->used);
        assert(raw == chunk->raw); /* else out of memory */
        (void)raw;
        reader->at = reader->bytes;
    }
    reader->end = reader->at + chunk->raw;
    return true;
}

/* What few events have. */
static const uint8_t *get_extra(const uint8_t *at, struct pt_log_event *event)
{
    uint64_t extra, from = 0, to = 0;
    at = get(at, &extra);
    if (extra & 1)
        at = get(get(at, &from), &to);
    event->stack = (uint32_t)(extra >> 2);
    event->from = (uint16_t)from;
    event->to = (uint16_t)to;
    event->atomic = extra & 2;
    return at;
}

bool pt_log_next(struct pt_log_reader *reader)
{
    if (reader->at == reader->end && !open_chunk(reader))
        return false;
    struct pt_log_event *event = &reader->event;
    const uint8_t *at = reader->at;
    unsigned head = *at++;
    uint32_t thread = event->thread, object, loc;
    uint64_t gap = 1;
    if (!(head & SAME_THREAD))
        at = get_id(at, &thread);
    if (!(head & NEXT))
        at = get(at, &gap);
    event->event += gap;
    at = get_id(get_id(at, &object), &loc);
    event->thread = thread;
    event->object = object;
    event->loc = loc;
    event->stack = 0;
    event->from = event->to = 0;
    event->op = head & OP;
    event->atomic = false;
    if (head & EXTRA)
        at = get_extra(at, event);
    reader->at = at;
    return true;
}
