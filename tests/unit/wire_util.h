/* Event streams written by hand, frame by frame. */
#ifndef PT_TEST_WIRE_UTIL_H
#define PT_TEST_WIRE_UTIL_H

#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "trace/wire.h"

enum { START = 5, T = 1000 }; /* number and time of the first event */

static inline void add_frame(struct pt_buf *out, enum pt_wire_type type, const void *body, size_t len, const char *text)
{
    static const char zeros[8] = "";
    size_t end = text ? strlen(text) + 1 : 0, bytes = sizeof(struct pt_wire_frame) + len + end;
    struct pt_wire_frame frame = {(uint32_t)((bytes + 7) & ~(size_t)7), (uint16_t)type, PT_WIRE_VERSION};
    pt_buf_add(out, (const char *)&frame, sizeof frame);
    pt_buf_add(out, body, len);
    if (text)
        pt_buf_add(out, text, end);
    pt_buf_add(out, zeros, frame.bytes - bytes);
}

#define BODY(object) (&(object).head + 1), sizeof(object) - sizeof(struct pt_wire_frame)

static inline void add_hello(struct pt_buf *out)
{
    struct pt_wire_hello hello = {.magic = PT_WIRE_MAGIC, .number = START, .time = T, .wall = 7, .pid = 42};
    add_frame(out, PT_WIRE_HELLO, BODY(hello), "/bin/prog");
}

static inline void add_name(struct pt_buf *out, enum pt_wire_space space, uint32_t id, const char *text)
{
    struct pt_wire_name name = {.space = space, .id = id};
    add_frame(out, PT_WIRE_NAME, BODY(name), text);
}

static inline void add_event(struct pt_buf *events, struct pt_wire_event event, const void *value)
{
    static const char zeros[4] = "";
    pt_buf_add(events, (const char *)&event, sizeof event);
    pt_buf_add(events, value, event.value_bytes);
    pt_buf_add(events, zeros, -event.value_bytes & 3);
}

static inline void add_events(struct pt_buf *out, enum pt_wire_type type, uint64_t number, uint32_t count,
                              struct pt_buf *events)
{
    struct pt_wire_events head = {.number = number, .time = T, .count = count};
    struct pt_buf body;
    pt_buf_init(&body);
    pt_buf_add(&body, (const char *)(&head.head + 1), sizeof head - sizeof head.head);
    if (events->len)
        pt_buf_add(&body, events->text, events->len);
    add_frame(out, type, body.text, body.len, NULL);
    pt_buf_release(&body);
    events->len = 0;
}

static inline void add_lost(struct pt_buf *out, uint64_t number, uint64_t count)
{
    struct pt_wire_lost lost = {.number = number, .count = count, .time = T, .thread = PT_WIRE_NONE};
    add_frame(out, PT_WIRE_LOST, BODY(lost), NULL);
}

static inline void add_clock(struct pt_buf *out, enum pt_wire_type type, uint64_t number, uint64_t time)
{
    struct pt_wire_clock clock = {.number = number, .time = time};
    add_frame(out, type, BODY(clock), NULL);
}

#endif
