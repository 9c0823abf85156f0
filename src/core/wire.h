/*
 * The event stream of a running program, byte by byte (contract section 7).
 *
 * A program started with PORTENT_OPTIONS=events=ADDRESS listens at that address; whoever connects gets the stream from
 * that moment on. The program sends and never reads. Several readers may be connected; each has a stream of its own.
 *
 * HELLO comes first, once. A NAME or SITE comes before the first use of its id in this stream; a NAME may come again
 * when a thread is renamed. SNAPSHOT says what is so at this moment: no events, no letters. Then EVENTS, CLOCK and
 * LOST in the order of the run. BYE is last, when the program ends in order; a stream without it was cut off.
 *
 * Everything is little-endian. A frame is a header and a body, padded with zeros to a multiple of 8 bytes. Types that a
 * reader does not know are skipped; a version that it does not know is an error.
 *
 * Events are in the actual order of the run over all threads: the sender merges the threads' buffers by number. Numbers
 * count every event that the program produced since its start, the lost ones too, so a reader can check the sum:
 *
 *     number of this frame == number of the last one + its events + the events reported LOST in between
 *
 * What is lost: an event that did not fit into its thread's buffers (the sender was too slow; lost for every reader),
 * or a frame that did not fit into a reader's queue (that reader was too slow). Either is marked by a LOST frame where
 * the events are missing.
 */
#ifndef PT_CORE_WIRE_H
#define PT_CORE_WIRE_H

#include <stdint.h>

#include "core/ops.h"

#define PT_WIRE_MAGIC "PTWIRE1"
/* What a watcher at which programs call (portent watch listen:) says first, with its NUL. */
#define PT_WIRE_WATCHER "PTWATCH"
enum {
    PT_WIRE_VERSION = 1,
    PT_WIRE_FRAME_MAX = 1 << 20,         /* bytes of a frame; a larger one is an error */
    PT_WIRE_CLOCK_NS = 10 * 1000 * 1000, /* a silent program sends a CLOCK about so often */
};
#define PT_WIRE_NONE UINT32_MAX

enum pt_wire_type {
    PT_WIRE_HELLO = 1, /* struct pt_wire_hello */
    PT_WIRE_NAME,      /* struct pt_wire_name */
    PT_WIRE_SITE,      /* struct pt_wire_site */
    PT_WIRE_SNAPSHOT,  /* struct pt_wire_events */
    PT_WIRE_EVENTS,    /* struct pt_wire_events */
    PT_WIRE_LOST,      /* struct pt_wire_lost */
    PT_WIRE_CLOCK,     /* struct pt_wire_clock */
    PT_WIRE_BYE,       /* struct pt_wire_clock */
};

struct pt_wire_frame {
    uint32_t bytes; /* of the whole frame */
    uint16_t type;
    uint16_t version; /* PT_WIRE_VERSION */
};

struct pt_wire_hello {
    struct pt_wire_frame head;
    char magic[8];   /* PT_WIRE_MAGIC */
    uint64_t number; /* of the first event that this stream can hold */
    uint64_t time;   /* now, in the stream's clock (CLOCK_MONOTONIC) */
    uint64_t wall;   /* now, nanoseconds since 1970 */
    uint32_t pid;
    uint32_t pad;
    char program[]; /* its file name, NUL-terminated */
};

/* Name spaces of ids; each counts for itself. They are those of traces that events have, by the same numbers. */
enum pt_wire_space {
    PT_WIRE_THREAD = PT_SPACE_THREAD,
    PT_WIRE_VAR = PT_SPACE_VAR,
    PT_WIRE_LOCK = PT_SPACE_LOCK,
    PT_WIRE_OTHER = PT_SPACE_OTHER,
    PT_WIRE_BLOCK = PT_SPACE_BLOCK,
    PT_WIRE_USER = PT_SPACE_EVENT,
    PT_WIRE_LOCAL = PT_SPACE_LOCAL,
    PT_WIRE_STATE = PT_SPACE_STATE,
    PT_WIRE_SPACES
};

struct pt_wire_name {
    struct pt_wire_frame head;
    uint32_t space; /* enum pt_wire_space */
    uint32_t id;
    char text[]; /* NUL-terminated */
};

struct pt_wire_site {
    struct pt_wire_frame head;
    uint32_t id; /* from 1; 0 in an event: unknown */
    uint32_t line;
    char file[]; /* NUL-terminated; "" with line 0: the place is not known better */
};

/*
 * Objects are ids of the operation's space (enum pt_wire_op, core/ops.def). Beside that: START is about the thread's
 * parent, END about nothing. WRITE, UPDATE and INTERNAL have a value. In a snapshot WRITE is the value that a variable
 * has, and ACQ or RACQ a lock that the thread holds. `extra` of CONTENDED is the thread that holds the lock, of STATE
 * what the thread waits for.
 *
 * Values as enum pt_value_kind has them: integers and floating point in 8 bytes, bool in 8, strings as they are.
 */
struct pt_wire_event {
    uint32_t delta; /* nanoseconds since the event before it in the frame */
    uint8_t op;     /* enum pt_wire_op */
    uint8_t value_kind;
    uint16_t value_bytes; /* padded to 4 behind the event; 0: no value */
    uint32_t thread;
    uint32_t object;
    uint32_t site;
    uint32_t extra; /* PT_WIRE_NONE where the op has none */
};

/* `delta` is exact: a sender begins a new frame rather than let it overflow. */
struct pt_wire_events {
    struct pt_wire_frame head;
    uint64_t number; /* of the first event; in a snapshot, of the event that comes next */
    uint64_t time;   /* of the first event's `delta` */
    uint32_t count;
    uint32_t pad;
    /* count times struct pt_wire_event with its value */
};

/* `count` events are missing here; thread: PT_WIRE_NONE where they are of several. */
struct pt_wire_lost {
    struct pt_wire_frame head;
    uint64_t number; /* of the first missing event */
    uint64_t count;
    uint64_t time; /* of the first missing event, or a little before it */
    uint32_t thread;
    uint32_t pad;
};

/* Nothing happened that this stream has not sent, up to this time. */
struct pt_wire_clock {
    struct pt_wire_frame head;
    uint64_t number; /* of the event that comes next */
    uint64_t time;
};

#endif
