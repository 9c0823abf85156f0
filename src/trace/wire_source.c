/*
 * The event stream of a running program as a source of events: reads the socket, decodes what came (wire.c), and hands
 * it out in the form that traces have. A gap is a PT_OP_LOST event, the clock a PT_OP_CLOCK event; a stream that stops
 * without a goodbye is torn. One read of at most READ_BYTES per pt_source_wait, so that whoever shows what it knows
 * gets a turn however fast the program is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "trace/format.h"
#include "trace/wire.h"

enum { READ_BYTES = 1 << 18 };

struct wire_source {
    struct pt_source source;
    struct pt_wire *wire;
    int fd;
    bool said_goodbye, cut_off; /* how it ended */
    char *bytes;
    struct pt_wire_item item; /* the last one */
    uint32_t lost_name;       /* what a PT_OP_LOST event is about */
    pt_wire_hello_function hello;
    void *hello_context;
};

struct pt_source *pt_wire_source_new(int fd, const char *label, struct pt_names *names)
{
    struct wire_source *w = pt_xcalloc(1, sizeof *w);
    pt_source_init(&w->source, &pt_format_wire, label, names);
    w->wire = pt_wire_new(label, names);
    w->fd = fd;
    w->bytes = pt_xmalloc(READ_BYTES);
    w->lost_name = pt_strtab_intern(&names->space[PT_SPACE_OTHER], "events", strlen("events"));
    return &w->source;
}

void pt_wire_source_set_hello(struct pt_source *source, pt_wire_hello_function function, void *context)
{
    struct wire_source *w = (struct wire_source *)source;
    w->hello = function;
    w->hello_context = context;
}

const struct pt_wire_item *pt_wire_source_item(const struct pt_source *source)
{
    return &((const struct wire_source *)source)->item;
}

struct pt_wire_counts pt_wire_source_counts(const struct pt_source *source)
{
    return pt_wire_counts(((const struct wire_source *)source)->wire);
}

static struct pt_event lost_event(const struct wire_source *w)
{
    struct pt_event event = w->item.event;
    event.op = PT_OP_LOST;
    event.object = w->lost_name;
    event.value = pt_value_int(w->item.lost < INT64_MAX ? (int64_t)w->item.lost : INT64_MAX);
    return event;
}

/* Everything that was read is decoded. */
static enum pt_read run_dry(const struct wire_source *w, struct pt_err *err)
{
    if (w->said_goodbye)
        return PT_READ_END;
    if (!w->cut_off)
        return PT_READ_WAIT;
    (void)pt_err_set(err, PT_EINPUT, "the stream broke off: the program was killed, or the connection was lost");
    return PT_READ_TORN;
}

static enum pt_read next(struct pt_source *source, struct pt_event *ret_event, struct pt_err *err)
{
    struct wire_source *w = (struct wire_source *)source;
    for (;;) {
        w->item.what = pt_wire_next(w->wire, &w->item, err);
        switch (w->item.what) {
        case PT_WIRE_READ_HELLO:
            if (w->hello)
                w->hello(w->hello_context, &w->item);
            continue;
        case PT_WIRE_READ_LOST:
            *ret_event = lost_event(w);
            return PT_READ_EVENT;
        case PT_WIRE_READ_BYE:
            w->said_goodbye = true;
            break;
        case PT_WIRE_READ_MORE:
            return run_dry(w, err);
        case PT_WIRE_READ_ERROR:
            return PT_READ_ERROR;
        case PT_WIRE_READ_EVENT:
        case PT_WIRE_READ_SNAPSHOT:
        case PT_WIRE_READ_CLOCK:
            break;
        }
        *ret_event = w->item.event;
        return PT_READ_EVENT;
    }
}

static void receive(struct pt_source *source, uint64_t nanoseconds)
{
    struct wire_source *w = (struct wire_source *)source;
    if (!pt_source_poll(w->fd, nanoseconds))
        return;
    ssize_t n = read(w->fd, w->bytes, READ_BYTES);
    if (n > 0)
        pt_wire_feed(w->wire, w->bytes, (size_t)n);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        w->cut_off = true;
}

static int fd_of(const struct pt_source *source)
{
    return ((const struct wire_source *)source)->fd;
}

static struct pt_loss loss(const struct pt_source *source)
{
    return (struct pt_loss){.events = pt_wire_source_counts(source).lost};
}

static void free_wire(struct pt_source *source)
{
    struct wire_source *w = (struct wire_source *)source;
    pt_wire_free(w->wire);
    free(w->bytes);
    free(w);
}

const struct pt_format pt_format_wire = {
    .name = "wire",
    .unit = PT_UNIT_EVENT,
    .next = next,
    .wait = receive,
    .fd = fd_of,
    .loss = loss,
    .free = free_wire,
};
