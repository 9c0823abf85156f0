/*
 * Decoding a running program's event stream, frame by frame. A frame is taken when it is complete and is checked as a
 * whole before anything of it is believed; its events are then handed out one by one from the buffer. Ids of the stream
 * are mapped to interned names through an array for each space, since programs number their objects from 0; an id out
 * of proportion goes into a hash table, so that a damaged stream cannot ask for much memory. The cost of an event is a
 * few look-ups, and memory grows with the names and string values of the stream only (one frame of at most
 * PT_WIRE_FRAME_MAX, and what was fed, beside them).
 *
 * Numbers are checked: every event that the program counted is there, or a LOST frame stands in its place.
 */
#include "trace/wire.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "trace/oprule.h"

enum {
    DENSE_MAX = 1 << 18, /* ids below it are indices; a program names 65536 objects at most */
    TABLE_SITE = PT_WIRE_SPACES,
    TABLE_RAW, /* states as the program calls them */
    TABLES
};

struct id_table {
    uint32_t *dense;
    size_t count, cap;
    struct pt_map64 rest;
};

struct pt_wire {
    char *label;
    struct pt_names *names;
    unsigned char *bytes;
    size_t len, cap, at; /* [at, len) is not decoded yet */
    uint64_t offset;     /* of bytes[at] in the stream */
    uint64_t expected;   /* number of the next event */
    uint64_t time;       /* of the last event or clock */
    bool greeted, ended, broken;

    /* the frame whose events are being handed out */
    size_t frame_end; /* 0: none */
    size_t cursor;
    uint32_t left;
    bool snapshot;

    /* id of the stream: id in names; TABLE_SITE: in PT_SPACE_LOC; TABLE_RAW: in raw */
    struct id_table ids[TABLES];
    struct pt_strtab raw; /* states as the program calls them, with what they wait for */
    uint32_t no_loc;
    struct pt_buf program, detail;
    struct pt_wire_counts counts;
};

struct pt_wire *pt_wire_new(const char *label, struct pt_names *names)
{
    struct pt_wire *wire = pt_xcalloc(1, sizeof *wire);
    wire->label = pt_xstrdup(label);
    wire->names = names;
    for (int i = 0; i < TABLES; i++)
        pt_map64_init(&wire->ids[i].rest);
    pt_strtab_init(&wire->raw);
    pt_buf_init(&wire->program);
    pt_buf_init(&wire->detail);
    wire->no_loc = pt_strtab_intern(&names->space[PT_SPACE_LOC], "-", 1);
    return wire;
}

void pt_wire_free(struct pt_wire *wire)
{
    if (!wire)
        return;
    for (int i = 0; i < TABLES; i++) {
        pt_map64_release(&wire->ids[i].rest);
        free(wire->ids[i].dense);
    }
    pt_strtab_release(&wire->raw);
    pt_buf_release(&wire->program);
    pt_buf_release(&wire->detail);
    free(wire->bytes);
    free(wire->label);
    free(wire);
}

struct pt_wire_counts pt_wire_counts(const struct pt_wire *wire)
{
    return wire->counts;
}

void pt_wire_feed(struct pt_wire *wire, const void *bytes, size_t len)
{
    wire->counts.bytes += len;
    if (wire->broken || wire->ended || !len)
        return;
    if (wire->at) { /* what is before the cursor is done with */
        size_t done = wire->at;
        memmove(wire->bytes, wire->bytes + done, wire->len - done);
        wire->len -= done;
        wire->at = 0;
        if (wire->frame_end) {
            wire->frame_end -= done;
            wire->cursor -= done;
        }
    }
    PT_GROW(wire->bytes, wire->cap, wire->len + len);
    memcpy(wire->bytes + wire->len, bytes, len);
    wire->len += len;
}

static enum pt_wire_read broken(struct pt_wire *wire, struct pt_err *err, const char *what)
{
    wire->broken = true;
    (void)pt_err_at(err, PT_EINPUT, wire->label, 0, 0, "the event stream is damaged at byte %" PRIu64 ": %s",
                    wire->offset, what);
    return PT_WIRE_READ_ERROR;
}

/* --- names --- */

static void set_name(struct pt_wire *wire, uint32_t table, uint32_t id, uint32_t name)
{
    struct id_table *ids = &wire->ids[table];
    if (id >= DENSE_MAX) {
        *pt_map64_at(&ids->rest, id) = name;
        return;
    }
    PT_GROW(ids->dense, ids->cap, (size_t)id + 1);
    while (ids->count <= id)
        ids->dense[ids->count++] = PT_NONE;
    ids->dense[id] = name;
}

/* PT_NONE: the stream has not explained it. */
static inline uint32_t named(const struct pt_wire *wire, uint32_t table, uint32_t id)
{
    const struct id_table *ids = &wire->ids[table];
    if (id < ids->count)
        return ids->dense[id];
    return id < DENSE_MAX ? PT_NONE : pt_map64_get(&ids->rest, id);
}

/* A NUL-terminated text that begins at `from` and ends within the frame; NULL when there is none. */
static const char *text_of(const struct pt_wire *wire, size_t from, size_t bytes)
{
    const char *text = (const char *)wire->bytes + wire->at + from;
    return from < bytes && memchr(text, '\0', bytes - from) ? text : NULL;
}

/* "blocked: lock" is the state "blocked"; what follows is the event's detail. */
static const char *take_name(struct pt_wire *wire, size_t bytes)
{
    struct pt_wire_name name;
    const char *text = text_of(wire, sizeof name, bytes);
    if (!text)
        return "a name does not end";
    memcpy(&name, wire->bytes + wire->at, sizeof name);
    if (name.space >= PT_WIRE_SPACES)
        return "a name has no meaning";
    size_t len = strlen(text), all = len;
    if (name.space == PT_WIRE_STATE) {
        const char *colon = strstr(text, ": ");
        set_name(wire, TABLE_RAW, name.id, pt_strtab_intern(&wire->raw, text, all));
        len = colon ? (size_t)(colon - text) : len;
    }
    set_name(wire, name.space, name.id, pt_names_intern_clean(wire->names, (enum pt_space)name.space, text, len));
    return NULL;
}

static const char *take_site(struct pt_wire *wire, size_t bytes)
{
    struct pt_wire_site site;
    const char *file = text_of(wire, sizeof site, bytes);
    if (!file)
        return "a place does not end";
    memcpy(&site, wire->bytes + wire->at, sizeof site);
    uint32_t id = wire->no_loc;
    if (*file || site.line) {
        struct pt_buf buf;
        pt_buf_init(&buf);
        pt_buf_printf(&buf, "%s:%" PRIu32, file, site.line);
        id = pt_names_intern_clean(wire->names, PT_SPACE_LOC, buf.text, buf.len);
        pt_buf_release(&buf);
    }
    set_name(wire, TABLE_SITE, site.id, id);
    return NULL;
}

/* --- events --- */

static struct pt_wire_event event_at(const struct pt_wire *wire, size_t at)
{
    struct pt_wire_event event;
    memcpy(&event, wire->bytes + at, sizeof event);
    return event;
}

static size_t event_bytes(const struct pt_wire_event *event)
{
    return sizeof *event + (((size_t)event->value_bytes + 3) & ~(size_t)3);
}

/* Where the object of an event is explained. */
static enum pt_space space_of(uint8_t number)
{
    return pt_op_space(pt_wire_op(number));
}

static const char *value_problem(const struct pt_wire_event *event, bool snapshot)
{
    enum pt_op op = pt_wire_op(event->op);
    enum pt_value_rule rule = snapshot && op == PT_OP_WRITE ? PT_VALUE_MUST : pt_op_value_rule(op);
    bool given = event->value_kind != PT_VALUE_UNKNOWN;
    if (event->value_kind > PT_VALUE_STRING || (given ? rule == PT_VALUE_NEVER : rule == PT_VALUE_MUST))
        return "an event's value makes no sense";
    if (event->value_kind != PT_VALUE_STRING && event->value_bytes != (given ? 8 : 0))
        return "an event's value has a wrong length";
    return NULL;
}

/* What is wrong with an event of the frame that ends at `end`; NULL: nothing. */
static const char *event_problem(const struct pt_wire *wire, size_t at, size_t end, bool snapshot)
{
    if (end - at < sizeof(struct pt_wire_event))
        return "an event is cut off";
    struct pt_wire_event event = event_at(wire, at);
    if (event_bytes(&event) > end - at)
        return "an event's value is cut off";
    if (pt_wire_op(event.op) == PT_OP_COUNT)
        return "an event has no meaning";
    if (named(wire, PT_WIRE_THREAD, event.thread) == PT_NONE)
        return "an event is of a thread that has no name";
    if (!pt_wire_state(event.op) && named(wire, space_of(event.op), event.object) == PT_NONE)
        return "an event is about something that has no name";
    if (event.site && named(wire, TABLE_SITE, event.site) == PT_NONE)
        return "an event is at a place that was not defined";
    return value_problem(&event, snapshot);
}

static const char *take_events(struct pt_wire *wire, size_t bytes, bool snapshot)
{
    struct pt_wire_events head;
    if (bytes < sizeof head)
        return "a frame is too short";
    memcpy(&head, wire->bytes + wire->at, sizeof head);
    if (head.number != wire->expected)
        return "events are missing, and nobody says so";
    size_t at = wire->at + sizeof head, end = wire->at + bytes;
    for (uint32_t i = 0; i < head.count; i++) {
        const char *problem = event_problem(wire, at, end, snapshot);
        if (problem)
            return problem;
        struct pt_wire_event event = event_at(wire, at);
        at += event_bytes(&event);
    }
    wire->frame_end = end;
    wire->cursor = wire->at + sizeof head;
    wire->left = head.count;
    wire->snapshot = snapshot;
    if (head.time > wire->time)
        wire->time = head.time;
    return NULL;
}

static struct pt_value value_of(struct pt_wire *wire, const struct pt_wire_event *event)
{
    const char *at = (const char *)wire->bytes + wire->cursor + sizeof *event;
    union {
        int64_t i;
        uint64_t u;
        double d;
    } number = {0};
    if (event->value_kind != PT_VALUE_STRING)
        memcpy(&number, at, event->value_bytes);
    switch (event->value_kind) {
    case PT_VALUE_INT:
        return pt_value_int(number.i);
    case PT_VALUE_UINT:
        return pt_value_uint(number.u);
    case PT_VALUE_FLOAT:
        return pt_value_float(number.d);
    case PT_VALUE_BOOL:
        return pt_value_bool(number.u != 0);
    case PT_VALUE_STRING: {
        struct pt_strtab *strings = &wire->names->space[PT_SPACE_STRING];
        uint32_t id = pt_strtab_intern(strings, at, event->value_bytes);
        return pt_value_string(pt_strtab_text(strings, id), event->value_bytes);
    }
    default:
        return (struct pt_value){.kind = PT_VALUE_UNKNOWN};
    }
}

/* What a thread in this state waits for: "lock m", or "sleep" alone; NULL: the state does not say. */
static const char *detail_of(struct pt_wire *wire, const struct pt_wire_event *event)
{
    uint32_t raw = named(wire, TABLE_RAW, event->object);
    const char *text = raw == PT_NONE ? NULL : strstr(pt_strtab_text(&wire->raw, raw), ": ");
    if (!text)
        return NULL;
    text += 2;
    enum pt_wire_space space = strcmp(text, "lock") == 0   ? PT_WIRE_LOCK
                               : strcmp(text, "join") == 0 ? PT_WIRE_THREAD
                                                           : PT_WIRE_OTHER;
    uint32_t object = event->extra == PT_WIRE_NONE ? PT_NONE : named(wire, space, event->extra);
    wire->detail.len = 0;
    pt_buf_puts(&wire->detail, text);
    if (object != PT_NONE)
        pt_buf_printf(&wire->detail, " %s", pt_name(wire->names, (enum pt_space)space, object));
    return wire->detail.text;
}

static uint32_t state_named(struct pt_wire *wire, const char *text)
{
    return pt_strtab_intern(&wire->names->space[PT_SPACE_STATE], text, strlen(text));
}

static void fill_object(struct pt_wire *wire, const struct pt_wire_event *event, struct pt_wire_item *item)
{
    const char *state = pt_wire_state(event->op);
    item->event.object = state ? state_named(wire, state) : named(wire, space_of(event->op), event->object);
    if (event->op == PT_WIRE_OP_STATE)
        item->detail = detail_of(wire, event);
    else if (event->op == PT_WIRE_OP_CONTENDED && event->extra != PT_WIRE_NONE)
        item->other = named(wire, PT_WIRE_THREAD, event->extra);
}

static enum pt_wire_read next_event(struct pt_wire *wire, struct pt_wire_item *item)
{
    struct pt_wire_event event = event_at(wire, wire->cursor);
    wire->time += event.delta;
    item->event.op = (uint8_t)pt_wire_op(event.op);
    item->event.thread = named(wire, PT_WIRE_THREAD, event.thread);
    item->event.loc = event.site ? named(wire, TABLE_SITE, event.site) : wire->no_loc;
    item->event.has_time = true;
    item->event.time = wire->time;
    item->event.value = value_of(wire, &event);
    fill_object(wire, &event, item);
    wire->cursor += event_bytes(&event);
    wire->left--;
    if (wire->snapshot) {
        if (item->event.op == PT_OP_WRITE) {
            item->event.op = PT_OP_INIT;
            item->event.thread = PT_NONE;
        }
        return PT_WIRE_READ_SNAPSHOT;
    }
    item->event.line = wire->expected++;
    wire->counts.events++;
    return PT_WIRE_READ_EVENT;
}

/* --- the other frames --- */

static const char *take_hello(struct pt_wire *wire, size_t bytes, struct pt_wire_item *item)
{
    struct pt_wire_hello hello;
    const char *program = text_of(wire, sizeof hello, bytes);
    if (!program)
        return "it does not begin as one";
    memcpy(&hello, wire->bytes + wire->at, sizeof hello);
    if (memcmp(hello.magic, PT_WIRE_MAGIC, sizeof hello.magic) != 0)
        return "it does not begin as one";
    wire->greeted = true;
    wire->expected = hello.number;
    wire->time = hello.time;
    pt_buf_puts(&wire->program, program);
    item->program = wire->program.text ? wire->program.text : "";
    item->pid = hello.pid;
    item->wall = hello.wall;
    item->event.time = hello.time;
    item->event.has_time = true;
    return NULL;
}

static const char *take_lost(struct pt_wire *wire, size_t bytes, struct pt_wire_item *item)
{
    struct pt_wire_lost lost;
    if (bytes < sizeof lost)
        return "a frame is too short";
    memcpy(&lost, wire->bytes + wire->at, sizeof lost);
    if (lost.number != wire->expected)
        return "events are missing, and nobody says so";
    if (!lost.count || lost.count > UINT64_MAX - wire->expected)
        return "the number of lost events makes no sense";
    wire->expected += lost.count;
    wire->counts.lost += lost.count;
    if (lost.time > wire->time)
        wire->time = lost.time;
    item->lost = lost.count;
    item->lost_thread = lost.thread == PT_WIRE_NONE ? PT_NONE : named(wire, PT_WIRE_THREAD, lost.thread);
    item->event.time = wire->time;
    item->event.has_time = true;
    item->event.line = lost.number;
    return NULL;
}

static const char *take_clock(struct pt_wire *wire, size_t bytes, struct pt_wire_item *item)
{
    struct pt_wire_clock clock;
    if (bytes < sizeof clock)
        return "a frame is too short";
    memcpy(&clock, wire->bytes + wire->at, sizeof clock);
    if (clock.number != wire->expected)
        return "events are missing, and nobody says so";
    if (clock.time > wire->time)
        wire->time = clock.time;
    item->event.op = PT_OP_CLOCK;
    item->event.time = wire->time;
    item->event.has_time = true;
    return NULL;
}

/* A complete frame. PT_WIRE_READ_MORE: there is nothing in it to hand out. */
static enum pt_wire_read take_frame(struct pt_wire *wire, const struct pt_wire_frame *frame, struct pt_wire_item *item,
                                    const char **ret_problem)
{
    if ((frame->type == PT_WIRE_HELLO) == wire->greeted) {
        *ret_problem = wire->greeted ? "it begins a second time" : "it does not begin as one";
        return PT_WIRE_READ_ERROR;
    }
    switch (frame->type) {
    case PT_WIRE_HELLO:
        *ret_problem = take_hello(wire, frame->bytes, item);
        return PT_WIRE_READ_HELLO;
    case PT_WIRE_NAME:
        *ret_problem = take_name(wire, frame->bytes);
        return PT_WIRE_READ_MORE;
    case PT_WIRE_SITE:
        *ret_problem = take_site(wire, frame->bytes);
        return PT_WIRE_READ_MORE;
    case PT_WIRE_SNAPSHOT:
    case PT_WIRE_EVENTS:
        *ret_problem = take_events(wire, frame->bytes, frame->type == PT_WIRE_SNAPSHOT);
        return PT_WIRE_READ_MORE;
    case PT_WIRE_LOST:
        *ret_problem = take_lost(wire, frame->bytes, item);
        return PT_WIRE_READ_LOST;
    case PT_WIRE_CLOCK:
        *ret_problem = take_clock(wire, frame->bytes, item);
        return PT_WIRE_READ_CLOCK;
    case PT_WIRE_BYE:
        *ret_problem = take_clock(wire, frame->bytes, item);
        wire->ended = true;
        return PT_WIRE_READ_BYE;
    default:
        return PT_WIRE_READ_MORE;
    }
}

static void skip(struct pt_wire *wire, size_t bytes)
{
    wire->at += bytes;
    wire->offset += bytes;
}

static bool frame_is_done(struct pt_wire *wire)
{
    if (!wire->frame_end || wire->left)
        return !wire->frame_end;
    skip(wire, wire->frame_end - wire->at);
    wire->frame_end = 0;
    return true;
}

static const char *frame_problem(const struct pt_wire *wire, const struct pt_wire_frame *frame)
{
    if (!wire->greeted && (frame->type != PT_WIRE_HELLO || frame->bytes > PT_WIRE_FRAME_MAX))
        return "it does not begin as one";
    if (frame->version != PT_WIRE_VERSION)
        return "it is of a version that this portent does not know";
    if (frame->bytes < sizeof *frame || frame->bytes % 8 || frame->bytes > PT_WIRE_FRAME_MAX)
        return "a frame has an impossible length";
    return NULL;
}

enum pt_wire_read pt_wire_next(struct pt_wire *wire, struct pt_wire_item *ret_item, struct pt_err *err)
{
    static const struct pt_wire_item nothing = {
        .event = {.thread = PT_NONE, .object = PT_NONE}, .other = PT_NONE, .lost_thread = PT_NONE};
    if (wire->broken)
        return broken(wire, err, "nothing after the damage can be read");
    for (;;) {
        *ret_item = nothing;
        ret_item->event.loc = wire->no_loc;
        if (!frame_is_done(wire))
            return next_event(wire, ret_item);
        struct pt_wire_frame frame;
        if (wire->ended || wire->len - wire->at < sizeof frame)
            return PT_WIRE_READ_MORE;
        memcpy(&frame, wire->bytes + wire->at, sizeof frame);
        const char *problem = frame_problem(wire, &frame);
        if (problem)
            return broken(wire, err, problem);
        if (wire->len - wire->at < frame.bytes)
            return PT_WIRE_READ_MORE;
        enum pt_wire_read what = take_frame(wire, &frame, ret_item, &problem);
        if (problem)
            return broken(wire, err, problem);
        wire->counts.frames++;
        if (!wire->frame_end)
            skip(wire, frame.bytes);
        if (what != PT_WIRE_READ_MORE)
            return what;
    }
}
