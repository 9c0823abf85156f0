/*
 * The sender: a thread of the runtime that merges the threads' buffers by number and gives each reader its frames. When
 * it looks at the buffers is serve.c's matter.
 *
 * A number that is nowhere: its event was dropped (its thread's buffers were full), or its thread is still writing it.
 * Numbers up to `limit` have all been taken; if no thread is in flight below a number, and it still is in no buffer, it
 * never will be (stream/impl.h). So losses are exact and stand where the events are missing. Events that were only
 * counted (PT_STREAM_COUNT) have no number of their own: `shift` moves the numbers of the stream past them.
 *
 * Guarantee: events leave in the order of their numbers, each once, and what is missing is counted. Cost: linear in the
 * events, and in the number of threads for each round.
 */
#include <string.h>

#include "runtime/stream/impl.h"

enum { FRAME_BYTES = 1 << 16 };

uint64_t pt_last_sent;
static struct {
    uint64_t expected; /* as the threads count */
    uint64_t shift;    /* added to that: as the stream counts */
    uint64_t homeless_seen;
    uint64_t time; /* of the last event: those of the stream never go back */
    struct pt_blob frame;
    struct pt_wire_events head; /* of the frame, while it is written */

} out;

bool pt_send_start(void)
{
    out.expected = 1;
    return pt_blob_reserve(&out.frame, 2 * FRAME_BYTES);
}

uint64_t pt_send_number(void)
{
    return out.expected + out.shift;
}

uint64_t pt_send_time(void)
{
    uint64_t now = pt_sys_now();
    out.time = now > out.time ? now : out.time;
    return out.time;
}

/* --- one event --- */

uint32_t pt_send_state_object(uint64_t state, uint64_t object)
{
    if (state == PT_STATE_RUNNING || state == PT_STATE_READY || state == PT_STATE_SLEEP || object == UINT64_MAX)
        return PT_WIRE_NONE;
    if (state == PT_STATE_JOIN)
        return pt_names_thread((uint32_t)object)->number;
    return pt_names_object(state == PT_STATE_LOCK ? PT_WIRE_LOCK : PT_WIRE_OTHER, object);
}

/* What a later reader's snapshot will say. */
static void follow(struct pt_stream_peer *self, const struct pt_wire_event *event)
{
    switch (event->op) {
    case PT_WIRE_OP_STATE:
        self->state = event->object;
        self->state_object = event->extra;
        break;
    case PT_WIRE_OP_END:
        self->ended = true;
        break;
    case PT_WIRE_OP_ACQ:
    case PT_WIRE_OP_RACQ:
        if (self->lock_count < PT_KNOWN_LOCKS) {
            self->locks[self->lock_count].lock = event->object;
            self->locks[self->lock_count++].shared = event->op == PT_WIRE_OP_RACQ;
        }
        break;
    case PT_WIRE_OP_REL:
    case PT_WIRE_OP_RREL:
        for (uint32_t i = self->lock_count; i-- > 0;)
            if (self->locks[i].lock == event->object) {
                self->locks[i] = self->locks[--self->lock_count];
                break;
            }
        break;
    default:
        break;
    }
}

/* Threads that are heard of for the first time get their names. */
static uint32_t other_thread(const struct pt_raw *raw, const unsigned char *value)
{
    uint64_t runs;
    memcpy(&runs, value, sizeof runs);
    if (raw->op == PT_WIRE_OP_START)
        pt_names_introduce(raw->thread, (uint32_t)raw->object, (uint32_t)raw->extra, runs, "");
    else if (raw->op == PT_WIRE_OP_FORK)
        pt_names_introduce((uint32_t)raw->object, raw->thread, 0, runs, "");
    return raw->op == PT_WIRE_OP_END ? 0 : pt_names_thread((uint32_t)raw->object)->number;
}

static uint32_t object_of(const struct pt_raw *raw, const unsigned char *value)
{
    enum pt_space space = pt_op_space(pt_wire_op(raw->op));
    if (pt_wire_state(raw->op))
        return other_thread(raw, value);
    switch (space) {
    case PT_SPACE_THREAD:
        return other_thread(raw, value);
    case PT_SPACE_VAR:
        return pt_names_var((uint32_t)raw->object);
    case PT_SPACE_STATE:
        return (uint32_t)raw->object;
    case PT_SPACE_LOCK:
    case PT_SPACE_OTHER:
        return pt_names_object((enum pt_wire_space)space, raw->object);
    default: /* what the program names: blocks, user events, variables of a thread */
        return pt_names_text((enum pt_wire_space)space, (uint32_t)raw->object);
    }
}

static struct pt_wire_event translate(const struct pt_raw *raw, const unsigned char *value)
{
    struct pt_wire_event event = {.op = raw->op, .extra = PT_WIRE_NONE};
    event.object = object_of(raw, value);
    event.site = pt_names_site(raw->site);
    if (raw->op == PT_WIRE_OP_STATE) {
        event.extra = pt_send_state_object(raw->object, raw->extra);
    } else if (raw->op == PT_WIRE_OP_CONTENDED) {
        const struct pt_stream_peer *owner = pt_names_by_tid((uint32_t)raw->extra);
        event.extra = owner ? owner->number : PT_WIRE_NONE;
    }
    struct pt_stream_peer *self = pt_names_thread(raw->thread);
    event.thread = self->number;
    follow(self, &event);
    return event;
}

/* --- frames --- */

static void to_all(uint64_t number, uint64_t next, uint64_t time)
{
    for (unsigned i = 0; i < PT_READERS_MAX; i++)
        if (pt_readers[i].fd >= 0)
            pt_reader_put(&pt_readers[i], &out.frame, number, next, time);
    pt_last_sent = pt_sys_now();
}

static void finish_frame(void)
{
    if (!out.head.count)
        return;
    while (out.frame.len % 8)
        out.frame.bytes[out.frame.len++] = 0;
    out.head.head = (struct pt_wire_frame){(uint32_t)out.frame.len, PT_WIRE_EVENTS, PT_WIRE_VERSION};
    memcpy(out.frame.bytes, &out.head, sizeof out.head);
    to_all(out.head.number, out.head.number + out.head.count, out.time);
    out.head.count = 0;
}

void pt_send_event(struct pt_blob *frame, struct pt_wire_event event, const void *value)
{
    size_t padded = (event.value_bytes + 3u) & ~3u;
    memcpy(frame->bytes + frame->len, &event, sizeof event);
    frame->len += sizeof event;
    memset(frame->bytes + frame->len, 0, padded);
    memcpy(frame->bytes + frame->len, value, event.value_bytes);
    frame->len += padded;
}

static void add_event(const struct pt_raw *raw, const unsigned char *value)
{
    uint64_t number = raw->number + out.shift, time = raw->time > out.time ? raw->time : out.time;
    struct pt_wire_event event = translate(raw, value);
    if (raw->kind) {
        event.value_kind = raw->kind;
        event.value_bytes = raw->bytes;
    }
    size_t bytes = sizeof event + ((event.value_bytes + 3u) & ~3u);
    if (out.head.count && (out.head.number + out.head.count != number || out.frame.len + bytes > FRAME_BYTES ||
                           time - out.time > UINT32_MAX))
        finish_frame();
    if (!out.head.count) {
        out.head = (struct pt_wire_events){.number = number, .time = time};
        out.frame.len = sizeof out.head;
        out.time = time;
    }
    event.delta = (uint32_t)(time - out.time);
    pt_send_event(&out.frame, event, value);
    out.head.count++;
    out.time = time;
}

/* CLOCK or BYE, into a frame of its own. */
static struct pt_wire_clock clock_frame(enum pt_wire_type type)
{
    (void)pt_send_time();
    struct pt_wire_clock clock = {.number = out.expected + out.shift, .time = out.time};
    out.frame.len = 0;
    (void)pt_blob_frame(&out.frame, type, &clock.head + 1, sizeof clock - sizeof clock.head, NULL);
    return clock;
}

void pt_send_clock(void)
{
    struct pt_wire_clock clock = clock_frame(PT_WIRE_CLOCK);
    to_all(clock.number, clock.number, clock.time);
}

bool pt_send_farewell(void)
{
    bool done = true;
    struct pt_wire_clock clock = clock_frame(PT_WIRE_BYE);
    for (unsigned i = 0; i < PT_READERS_MAX; i++) {
        struct pt_stream_reader *reader = &pt_readers[i];
        if (reader->fd >= 0 && !reader->dismissed) {
            pt_reader_put(reader, &out.frame, clock.number, clock.number, clock.time);
            reader->dismissed = !reader->full;
        }
        if (reader->fd >= 0)
            pt_reader_flush(reader);
        done &= reader->fd < 0 || (reader->dismissed && reader->head == reader->tail);
    }
    return done;
}

/* --- merging --- */

/* The record at the front of a thread's buffers; NULL: none. */
static const struct pt_raw *front_of(struct pt_stream *stream)
{
    for (;;) {
        uint32_t half = stream->at_turn & 1;
        /* acquire, before looking how much was written: a closed buffer is not written any more */
        bool closed = atomic_load_explicit(&stream->closed, memory_order_acquire) > stream->at_turn;
        if (stream->at < atomic_load_explicit(&stream->written[half], memory_order_acquire))
            return (const void *)(stream->data[half] + stream->at);
        if (!closed)
            return NULL;
        stream->at = 0;
        /* release: partner of the thread's acquire */
        atomic_store_explicit(&stream->drained, ++stream->at_turn, memory_order_release);
    }
}

static void pass(struct pt_stream *stream, const struct pt_raw *raw)
{
    stream->at += (uint32_t)(sizeof *raw + ((raw->bytes + 7u) & ~7u));
}

/* Names are not events and have no number: they are taken as soon as they are at the front. */
static const struct pt_raw *next_event(struct pt_stream *stream)
{
    const struct pt_raw *raw;
    while ((raw = front_of(stream)) && raw->op == PT_STREAM_RENAME) {
        finish_frame(); /* what came before came under the old name */
        pt_names_rename((uint32_t)raw->object, (const char *)(raw + 1));
        pass(stream, raw);
    }
    return raw;
}

/* Sends this thread's events as long as they are the next ones. */
static uint32_t take_run(struct pt_stream *stream, uint32_t most)
{
    uint32_t count = 0;
    const struct pt_raw *raw;
    while (count < most && (raw = next_event(stream)) && raw->number <= out.expected) {
        if (raw->number == out.expected) {
            add_event(raw, (const unsigned char *)(raw + 1));
            out.expected++;
        }
        pass(stream, raw);
        count++;
    }
    return count;
}

/* Events that were only counted: they stand where the stream is now. */
static void shift_past_counted(void)
{
    uint64_t sum = 0;
    for (struct pt_stream *stream = atomic_load_explicit(&pt_streams, memory_order_acquire); stream;
         stream = stream->next) {
        uint64_t skipped = atomic_load_explicit(&stream->skipped, memory_order_relaxed);
        sum += skipped - stream->skipped_seen;
        stream->skipped_seen = skipped;
    }
    uint64_t homeless = atomic_load_explicit(&pt_stream_homeless, memory_order_relaxed);
    sum += homeless - out.homeless_seen;
    out.homeless_seen = homeless;
    if (sum) {
        finish_frame();
        out.shift += sum;
    }
}

/* The smallest number in a buffer, at most `limit`; and whether a thread may still bring a smaller one. */
static uint64_t smallest(uint64_t limit, bool *ret_open)
{
    uint64_t least = limit, inflight = PT_STREAM_IDLE;
    struct pt_stream *first = atomic_load_explicit(&pt_streams, memory_order_acquire);
    for (struct pt_stream *stream = first; stream; stream = stream->next) {
        /* acquire: partner of the release by which the thread says that it is through; then the event is in the buffer,
         * which is looked at afterwards */
        uint64_t at = atomic_load_explicit(&stream->inflight, memory_order_acquire);
        inflight = at < inflight ? at : inflight;
    }
    for (struct pt_stream *stream = first; stream; stream = stream->next) {
        const struct pt_raw *raw = next_event(stream);
        if (raw && raw->number < least)
            least = raw->number;
    }
    *ret_open = inflight < least;
    return least;
}

static void free_ended(void)
{
    for (struct pt_stream *stream = atomic_load_explicit(&pt_streams, memory_order_acquire); stream;
         stream = stream->next) {
        /* acquire: partner of the thread's release; everything it wrote is there to be seen */
        if (atomic_load_explicit(&stream->owner, memory_order_acquire) == PT_STREAM_ENDED && !front_of(stream))
            atomic_store_explicit(&stream->owner, PT_STREAM_FREE, memory_order_release);
    }
}

uint32_t pt_send_merge(void)
{
    uint32_t count = 0, before;
    do {
        before = count;
        for (struct pt_stream *stream = atomic_load_explicit(&pt_streams, memory_order_acquire);
             stream && count < PT_ROUND_MOST; stream = stream->next)
            count += take_run(stream, PT_ROUND_MOST - count);
        if (count != before)
            continue;
        bool open;
        /* nothing is next: is something missing? acquire: whoever took a smaller number is seen in flight, or has
         * published */
        uint64_t limit = atomic_load_explicit(&pt_stream_number, memory_order_acquire);
        uint64_t least = smallest(limit, &open);
        if (!open && least > out.expected) {
            out.expected = least; /* what was in between is lost */
            before = least < limit ? UINT32_MAX : count;
        }
    } while (count != before && count < PT_ROUND_MOST);
    shift_past_counted();
    finish_frame();
    free_ended();
    return count;
}
