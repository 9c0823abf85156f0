/*
 * Where events come from. A trace in a file, a program that runs under us, a program that is watched over a socket:
 * each is a source, and whoever wants events asks for the next one without knowing which. What only one kind of source
 * can do (the gate of a channel, the snapshot of a stream) has a header of its own: trace/channel.h, trace/wire.h.
 */
#ifndef PT_TRACE_SOURCE_H
#define PT_TRACE_SOURCE_H

#include "base/err.h"
#include "trace/event.h"

struct pt_format;

enum pt_read {
    PT_READ_EVENT, /* *ret_event is filled */
    PT_READ_WAIT,  /* nothing at present: a live source only, see pt_source_wait */
    PT_READ_END,   /* everything was read, and the source says that this is all */
    PT_READ_TORN,  /* it was cut off or is damaged here, or says that events are missing; *err says where. Everything
                      before it was intact. */
    PT_READ_ERROR, /* *err is filled; the source can only be freed */
};

/* What did not arrive, of what was read so far. */
struct pt_loss {
    uint64_t events; /* known to be missing, those of PT_OP_LOST events included; 0: none, or nobody knows how many */
    char why[512];   /* a line for people; "": nothing is missing that an event has not said already */
};

/* A source begins with this; the rest is its format's (trace/format.h). Members are for trace/ alone. */
struct pt_source {
    /* The format's, but before the first bytes were seen and after the end. */
    enum pt_read (*next)(struct pt_source *source, struct pt_event *ret_event, struct pt_err *err);
    const struct pt_format *format; /* NULL: a file whose first bytes have not been seen */
    struct pt_names *names;
    char *label;
    enum pt_read ended; /* PT_READ_EVENT as long as it goes on */
    bool leaves_out, follows, holds;
    struct pt_err err; /* of the end, where it has one */
};

/* --- files --- */

/* A trace in any format that files have, recognised by its first bytes. `path` "-" is standard input. Names are
 * interned into `names`, which the caller keeps alive. */
enum pt_status pt_source_open(const char *path, struct pt_names *names, struct pt_source **ret_source,
                              struct pt_err *err) PT_WARN_UNUSED;
/* From memory (tests, fuzzers); the bytes are not copied. `label` stands for the file name in errors. */
struct pt_source *pt_source_from_memory(const char *label, const void *bytes, size_t len, struct pt_names *names);

/* --- any source --- */

/* Before the first event: who reads looks for races, deadlocks, and violations of properties that are no thread's own
 * and have no time in them, and for nothing else. A recording need not give what cannot change any of these
 * (recording_private.c). */
void pt_source_leave_out(struct pt_source *source);

/* Before the first event: the file, a recording, is still being written. Where it does not go on yet, the answer is
 * PT_READ_WAIT; until its end was read, or this is taken back: then all is there. */
void pt_source_follow(struct pt_source *source, bool follows);

/* Of a file that is followed: of what is there by now only the initial values are given, and all that has happened
 * waits, until this is taken back. */
void pt_source_hold(struct pt_source *source, bool holds);

/* Before the first event of a file: what is read of it is written to this descriptor, too, which stays the caller's.
 * And how that went: 0, or the errno of the write after which nothing more was written. Readers that go to and fro in a
 * file (pt_source_seek, an index) do not come here. */
void pt_source_copy(struct pt_source *source, int fd);
int pt_source_copy_failed(const struct pt_source *source);

/* Before the first event of a file: the next event is this one, counted from 1, as if all before it had been read (but
 * nobody saw them). PT_READ_END: it has fewer. Of a binary trace with an index this costs a block or two. */
enum pt_read pt_source_seek(struct pt_source *source, uint64_t event, struct pt_err *err);

/* Remembers an end, which stays the answer. */
enum pt_read pt_source_settle(struct pt_source *source, enum pt_read got, const struct pt_err *err);

/* The next event. A file is waited for, a live source is not. An event's clock is valid until the next call. */
PT_WARN_UNUSED static inline enum pt_read pt_source_next(struct pt_source *source, struct pt_event *ret_event,
                                                         struct pt_err *err)
{
    enum pt_read got = source->next(source, ret_event, err);
    return __builtin_expect(got == PT_READ_EVENT, 1) ? got : pt_source_settle(source, got, err);
}

/* The next events, without clocks, as many as are at hand and at most so many. 0: pt_source_next is to be asked. */
uint32_t pt_source_some(struct pt_source *source, struct pt_event *events, uint32_t most);

/* False when the next pt_source_next would have to wait for input (a pipe): a good moment to show results. */
bool pt_source_ready(struct pt_source *source);
/* Waits until a live source may have something new, at most so long, and takes in what has come; a signal ends it.
 * Files are waited for by pt_source_next. */
void pt_source_wait(struct pt_source *source, uint64_t nanoseconds);
/* What poll() can wait for, together with other descriptors, before a pt_source_wait that takes no time; -1: none. */
int pt_source_fd(const struct pt_source *source);

/* The names that the events' ids stand for. */
struct pt_names *pt_source_names(const struct pt_source *source);
/* The file's name as given, the program's or its address, for messages. */
const char *pt_source_label(const struct pt_source *source);
/* Its format; NULL as long as a file's first bytes have not been seen. */
const struct pt_format *pt_source_format(const struct pt_source *source);
struct pt_loss pt_source_loss(const struct pt_source *source);

void pt_source_free(struct pt_source *source);

#endif
