/* The inside of the reader of recordings: recording.c is the source, recording_log.c decodes the logs of threads,
 * recording_event.c makes events of a trace of them, recording_private.c finds those that can be left out,
 * recording_initial.c has the initial values of variables. */
#ifndef PT_TRACE_RECORDING_IMPL_H
#define PT_TRACE_RECORDING_IMPL_H

#include "base/mem.h"
#include "base/table.h"
#include "core/recording.h"

struct pt_channel_reader;

/* Where a chunk of events stands in the file. */
struct rec_part {
    uint32_t thread, piece, from, raw, stored;
    uint64_t stamp, until;
    const uint8_t *at; /* what is stored */
};

struct rec_known {
    struct pt_rec_shape shape;
    uint32_t site, size;
    uint16_t kind, marks;
    bool placed;                /* where it stood last is known: ... */
    uint32_t calls, loc, stack; /* ... in these calls, the place and the stack of the event that was made of it */
};

/* An event of a log. */
struct rec_event {
    uint64_t stamp, address, value;
    uint32_t site, size, stack;
    uint16_t kind, marks;
    const uint8_t *raw; /* NULL: it has none */
};

/* The log of a thread. */
struct rec_log {
    uint32_t thread;
    uint32_t name;                /* of the thread; PT_NONE: not known yet */
    const struct rec_part *parts; /* in order */
    uint32_t part_count, next_part;
    bool damaged; /* something is missing or makes no sense from here on */
    uint8_t *bytes;
    size_t cap;
    uint32_t len, pos; /* of the piece that is being read */
    struct rec_known *shapes;
    size_t shape_cap;
    uint32_t shape_count, last, last_stack;
    uint64_t address, stamp;
    bool open;              /* `event` is its next one */
    struct rec_event event; /* before that, only its stamp is known: it is no lower */
};

/* Reads the next event into log->event; false: there is none, and what the log needs is freed. */
bool rec_log_next(struct rec_log *log);
void rec_log_release(struct rec_log *log);

/* What the decoder has found lately, so that most accesses need not ask it again: the variable that an access of this
 * memory is about, as long as no memory has begun or ended in its page; and the place and the stack of a site in calls.
 */
enum { REC_CELLS = 1 << 17, REC_PLACES = 1 << 12, REC_PAGE_BITS = 12, REC_PAGES = 1 << 14 };
struct rec_maker {
    struct pt_channel_reader *decoder;
    uint32_t generation, generations[REC_PAGES]; /* count memory that begins or ends; by pages, modulo their number */
    struct rec_known_cell {
        uint64_t address;
        uint32_t generation, object; /* 0: free */
        uint8_t size, type;
    } cells[REC_CELLS];
    struct rec_known_place {
        uint32_t site, calls, loc, stack;
        bool known;
    } places[REC_PLACES];
};

struct pt_event;
/* Makes what follows from the log's event: true: *ret_event, otherwise what is in the decoder's queue, if anything.
 * *ret_bad is set where the event makes no sense. */
bool rec_make(struct rec_maker *maker, struct rec_log *log, struct pt_event *ret_event, bool *ret_bad);

/* Memory that one thread after the other has for itself (recording_private.c). */
enum { REC_NEAR = 1 << 10 };
struct rec_private {
    bool begun, found;
    bool alone;            /* so far there is one thread, and no other was started */
    bool foreign;          /* there is one that nobody has started: then the first was never known to be alone */
    uint32_t first;        /* log of the first event */
    uint64_t noted;        /* events so far: stamps may be equal */
    struct pt_map64 index; /* of pages, by number */
    struct rec_private_near {
        uint64_t page;
        uint16_t *owners;      /* of its granules: the number of the log plus 1, of none or of several */
    } * pages, near[REC_NEAR]; /* `near`: those looked at lately */
    uint32_t page_count;
    size_t page_cap;
    struct pt_map64 log_of; /* by the thread's number */
    struct rec_private_thread {
        bool forked;
        uint16_t joined_by; /* 0: nobody yet */
        uint64_t joined_at;
    } * threads; /* by log */
    struct rec_private_stretch {
        uint64_t from, to;
        uint16_t owner;
        uint64_t when;
    } * accesses, *frees; /* accesses of several granules; what was freed, by whom and when */
    uint32_t access_count, free_count;
    size_t access_cap, free_cap;
    struct {
        uint64_t low, high;
    } * modules; /* where static memory is */
    uint32_t module_count;
    size_t module_cap;
};
/* All events are noted in the order of the run, between the next two. `alone`: what the first thread does before all
 * others is not counted. False: there are too many threads. */
bool rec_private_begin(struct rec_private *found, const struct rec_log *logs, uint32_t log_count, bool alone);
void rec_private_end(struct rec_private *found);
void rec_private_note(struct rec_private *found, const struct rec_event *event, uint32_t log);
/* Whether nobody needs the event for that. */
bool rec_private_is(struct rec_private *found, const struct rec_event *event);
void rec_private_clear(struct rec_private *found);
void rec_private_release(struct rec_private *found);

/* What granules of static memory had in them before they were first accessed. */
struct rec_initials {
    struct rec_initial {
        uint64_t address, value;
    } * items;
    uint32_t count;
    size_t cap;
};

/* Takes the definition in decoder->record. */
void rec_initial_take(struct rec_initials *initials, const struct pt_channel_reader *decoder);
/* All are there: gives the decoder those of variables that have names, to hand out before the first event. */
void rec_initials_give(struct rec_initials *initials, struct pt_channel_reader *decoder);

#endif
