/* The inside of the reader of recordings: recording.c is the source, recording_file.c takes the file to pieces,
 * recording_log.c decodes the logs of threads, recording_event.c makes events of a trace of them, recording_private.c
 * finds those that can be left out, recording_unseen.c what nobody recorded has written, recording_ties.c says so in
 * the trace, recording_initial.c has the initial values of variables, recording_named.c memory that the program has
 * named. */
#ifndef PT_TRACE_RECORDING_IMPL_H
#define PT_TRACE_RECORDING_IMPL_H

#include "base/mem.h"
#include "base/table.h"
#include "core/recording.h"
#include "trace/ahead.h"
#include "trace/cells.h"
#include "trace/event.h"
#include "trace/format.h"
#include "trace/pages.h"

struct pt_channel_reader;
struct pt_debuginfo;

/* Where a chunk of events stands in the file. */
struct rec_part {
    uint32_t thread, piece, from, raw, stored;
    bool goes_on; /* the piece has the shapes of the one before it */
    uint64_t stamp, until;
    const uint8_t *at; /* what is stored */
};

struct rec_known {
    struct pt_rec_shape shape;
    uint32_t site, size;
    uint16_t kind, marks;
    uint16_t raw; /* bytes behind it */
    bool valued;  /* it gives a value */
};

/* What is remembered of granules (pt_rec_is_kept): the event says it, or its value is that. */
enum rec_memory_use { REC_NOTHING, REC_GIVES, REC_TAKES };

/* An event of a log. */
struct rec_event {
    uint64_t address, value;
    uint32_t site, size, stack;
    uint32_t shape; /* its number in the log's pieces */
    uint16_t kind, marks;
    uint8_t memory;     /* enum rec_memory_use */
    bool far;           /* its memory is not near that of the event before it of its shape */
    const uint8_t *raw; /* NULL: it has none */
};
struct rec_stamped {
    uint64_t stamp;
    struct rec_event event;
};

/* Whether ties come before an event (recording_unseen.c): none, one of its thread, or of all threads. */
enum rec_tie { REC_TIE_NONE, REC_TIE_SELF, REC_TIE_ALL };

/* Events in the order of the run, some at a time. */
enum { REC_BATCH = 1 << 9, REC_PIECES = 8 };
struct rec_batch {
    _Alignas(64) struct rec_merged { /* a line of the processors' caches: it goes from one to another */
        struct rec_event event;
        uint32_t log, shaped, thread; /* `shaped`: the piece in which the shapes of its log begin */
        enum rec_tie tie;
    } items[REC_BATCH];
    _Alignas(64) uint32_t count, next;
    uint32_t raw_used;
    bool passes;                                   /* it is filled in one thread and taken in another */
    uint8_t raw[REC_BATCH * 16 + PT_REC_RAW_MOST]; /* what `raw` of the events points to */
};

/* The log of a thread. */
enum { REC_DECODED = 32 };
struct rec_log {
    uint32_t thread;
    struct rec_part *parts; /* in order */
    uint32_t part_count, next_part;
    size_t part_cap;
    bool damaged; /* something is missing or makes no sense from here on */
    uint8_t *bytes;
    size_t cap;
    uint32_t piece, len, pos; /* of the piece that is being read, as far as it is there */
    uint32_t shaped;          /* the piece that its shapes begin with */
    uint32_t raw_at, raw;     /* in it: the bytes of memory that were given last */
    bool begun;               /* there is one */
    bool grows;               /* more may come */
    struct rec_known *shapes;
    size_t shape_cap;
    uint32_t shape_count, last, last_stack;
    uint64_t address, stamp;
    bool waits;                 /* it is among those that are merged */
    bool open;                  /* events[next] is its next one */
    bool broken;                /* what follows those that are decoded makes no sense */
    uint64_t head;              /* the stamp of the next event; before that is known, it is no lower */
    struct rec_stamped *events; /* decoded ahead, REC_DECODED of them at most; NULL: none so far */
    uint32_t next, decoded;
};

/* The event that the log stands at. */
static inline struct rec_event *rec_log_event(const struct rec_log *log)
{
    return &log->events[log->next].event;
}

struct rec_unseen;

/* As rec_log_next, where none are decoded. */
bool rec_log_decode(struct rec_log *log, const struct rec_unseen *unseen);
/* Goes on to the next event; false: there is none, and what the log needs is freed unless it grows. `unseen` hears what
 * memory will be asked for. */
static inline bool rec_log_next(struct rec_log *log, const struct rec_unseen *unseen)
{
    if (log->next + 1 >= log->decoded)
        return rec_log_decode(log, unseen);
    log->head = log->events[++log->next].stamp;
    return true;
}
/* Makes the log another one, with its own memory, where it stands; what it was a copy of stays as it is. */
void rec_log_split(struct rec_log *log);
/* What it needs to read on, but not its parts. */
void rec_log_release(struct rec_log *log);

struct pt_event;
/* Memory that the program has named (recording_named.c). */
struct rec_names {
    struct rec_named {
        uint64_t address;
        uint32_t size, type, name;
        unsigned char *memory; /* as the latest access left it; NULL: it is too large */
        bool known;            /* all of that */
        bool live;
    } * items;
    uint32_t count, given, live; /* definitions; of those initial values were given; that are names now */
    size_t cap;
    struct pt_map64 by_number;
    struct pt_map64 at; /* granules: the first node */
    struct rec_name_node {
        uint32_t item, next;
    } * nodes;
    uint32_t node_count, free;
    size_t node_cap;
};
void rec_names_begin(struct rec_names *names);
void rec_names_release(struct rec_names *names);
/* The definition in decoder->record; false: it makes no sense. */
bool rec_names_define(struct rec_names *names, struct pt_channel_reader *decoder);
void rec_names_give_initials(struct rec_names *names, struct pt_channel_reader *decoder);
/* In the order of the run: memory gets its name, and memory begins or ends. */
void rec_names_take(struct rec_names *names, const struct rec_event *event);
void rec_names_end(struct rec_names *names, uint64_t from, uint64_t to);
/* Puts the accesses of the names of that memory into the decoder's queue, in all else like `event`; how many. */
uint32_t rec_names_access(struct rec_names *names, struct pt_channel_reader *decoder, const struct rec_event *access,
                          struct pt_event event);

/* What the decoder has found lately: the place and the stack of a site in calls, and of the shapes of each log. */
enum { REC_PLACES = 1 << 12 };
struct rec_known_place {
    uint32_t site, calls, loc, stack;
    bool known;
};
struct rec_maker {
    struct pt_channel_reader *decoder;
    struct pt_cells *cells; /* the decoder's */
    struct rec_names names;
    struct rec_made {
        uint32_t name; /* of the thread, plus 1; 0: not known yet */
        struct rec_shape_place {
            uint32_t shaped, calls, loc, stack; /* shaped: plus 1; of another one it says nothing */
        } * shapes;
        size_t shape_cap;
    } * logs;
    size_t log_cap;
    struct rec_known_place places[REC_PLACES];
};
void rec_maker_release(struct rec_maker *maker);

/* Makes what follows from an event of the thread `thread`: true: *ret_event, otherwise what is in the decoder's queue,
 * if anything. *ret_bad is set where the event makes no sense. */
bool rec_make(struct rec_maker *maker, const struct rec_merged *from, uint32_t thread, struct pt_event *ret_event,
              bool *ret_bad);

/* Memory that one thread after the other has for itself (recording_private.c). */
struct rec_private {
    bool begun, found;
    bool alone;             /* so far there is one thread, and no other was started */
    bool foreign;           /* there is one that nobody has started: then the first was never known to be alone */
    uint32_t first;         /* log of the first event */
    uint64_t noted;         /* events so far: stamps may be equal */
    struct pt_pages owners; /* uint16_t: the number of the log plus 1, of none or of several */
    struct pt_map64 log_of; /* by the thread's number */
    struct pt_map64 forked; /* numbers of threads */
    struct rec_private_thread {
        bool forked;
        uint16_t joined_by; /* 0: nobody yet */
        uint64_t joined_at;
    } * threads; /* by log */
    size_t thread_cap;
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
/* All events are noted in the order of the run, between this and rec_private_end. `alone`: what the first thread does
 * before all others is not counted. */
void rec_private_begin(struct rec_private *found, bool alone);
/* There is a log, of this thread; before its first event is noted. False: there are too many threads. */
bool rec_private_log(struct rec_private *found, uint32_t log, uint32_t thread);
void rec_private_end(struct rec_private *found);
void rec_private_note(struct rec_private *found, const struct rec_event *event, uint32_t log);
bool rec_private_is_static(const struct rec_private *found, uint64_t address);
/* Whether nobody needs the event for that. */
bool rec_private_is(struct rec_private *found, const struct rec_event *event);
void rec_private_clear(struct rec_private *found);
void rec_private_release(struct rec_private *found);

/* Writes that are not in the recording (recording_unseen.c). */
struct rec_unseen {
    const struct rec_private *statics; /* who knows where static memory is */
    struct pt_pages images;
    struct pt_map64 named; /* granules that the program has named */
    uint32_t count;        /* reads so far that have seen one */
    uint32_t *tied;        /* by log: the latest of them that its events need */
    size_t tied_cap;
    bool damaged; /* an event takes a value that none has given */
};
void rec_unseen_begin(struct rec_unseen *unseen);
void rec_unseen_release(struct rec_unseen *unseen);
/* There will be an event of this memory. */
void rec_unseen_expect(const struct rec_unseen *unseen, uint64_t address);
/* The next event in the order of the run, of a log. It gets its value, where it is one that another event gave. */
enum rec_tie rec_unseen_event(struct rec_unseen *unseen, struct rec_event *event, uint32_t log);

/* The ties in the trace, and the event that they come before (recording_ties.c). */
struct rec_ties {
    struct rec_tie_thread {
        bool acts; /* since its last tie */
        bool joined;
    } * threads; /* by name */
    size_t thread_cap;
    struct pt_event *queue, held;
    uint32_t next, count;
    size_t cap;
    bool holds; /* there is an event that comes after those of the queue */
};
void rec_ties_release(struct rec_ties *ties);
/* An event is given. */
static inline void rec_ties_note(struct rec_ties *ties, const struct pt_event *event)
{
    if (event->thread == PT_NONE)
        return;
    PT_ROOM(ties->threads, ties->thread_cap, event->thread);
    ties->threads[event->thread].acts = true;
    if (event->op == PT_OP_JOIN) {
        PT_ROOM(ties->threads, ties->thread_cap, event->object);
        ties->threads[event->object].joined = true;
    }
}
/* Makes the ties for an event of that thread. `held`: the event, which is given after them; NULL: somebody else does.
 */
void rec_ties_make(struct rec_ties *ties, struct pt_names *names, uint32_t thread, enum rec_tie tie,
                   const struct pt_event *held);
/* The next of these; false: there is none. */
bool rec_ties_take(struct rec_ties *ties, struct pt_event *ret_event);

/* What granules of static memory had in them before they were first accessed. */
struct rec_initials {
    struct rec_initial {
        uint64_t address, value;
        bool fresh; /* of those that are being given */
    } * items;
    uint32_t count, given; /* the first ones were given, and are sorted */
    size_t cap;
};

/* Takes the definition in decoder->record. */
void rec_initial_take(struct rec_initials *initials, const struct pt_channel_reader *decoder);
/* Gives the decoder those of variables that have names, to hand out before the next event; not what it has got. */
void rec_initials_give(struct rec_initials *initials, struct pt_channel_reader *decoder);

/* The reader of one. */
enum { REC_MADE = 32 };
struct recording {
    struct pt_channel_reader *decoder;
    struct pt_debuginfo *info; /* NULL: there is none, or it is of another build */
    bool loaded, ended;        /* `ended`: the file says so */
    bool whole;                /* all that there will ever be is taken */
    char *why;                 /* that events are missing; NULL: the file does not say so */
    uint64_t limit;            /* the highest stamp up to which everything is there */
    uint64_t damaged_from;     /* a stamp; UINT64_MAX: nothing is damaged */
    uint64_t until, lost;      /* those up to this one are not; so many events, at least, are missing before them */
    bool lost_said;
    bool torn;    /* the file makes no sense from somewhere on */
    bool dropped; /* events above the limit, or of damaged logs; whoever works ahead has it */
    struct rec_initials initials;
    struct rec_private private;
    struct rec_unseen unseen;
    bool notes;          /* private is told of each event that is given */
    const uint8_t *file; /* its bytes */
    size_t len, taken;   /* how many there are; chunks up to here were taken */
    void *mapped;
    size_t mapped_len;
    void *live; /* the buffers of a program that was killed */
    size_t live_len;
    struct rec_part *parts; /* that are in no log yet */
    uint32_t part_count;
    size_t part_cap;
    struct rec_log *logs;
    uint32_t log_count;
    size_t log_cap;
    struct pt_map64 log_of; /* by the thread's number */
    uint32_t *heap;         /* logs with events, the lowest stamp first */
    uint32_t heap_count;
    size_t heap_cap;
    uint64_t others; /* the lowest stamp behind the first; 0: it is to be looked for */
    char apart[128]; /* what follows is changed by who takes events, and all that is before it by who works ahead */
    uint64_t records;
    bool bad; /* events that make no sense */
    struct rec_ties ties;
    struct rec_maker maker;
    struct rec_batch *batch, *own;  /* that events are taken from; and the one of who does it alone */
    struct pt_event made[REC_MADE]; /* those that are made, and not given yet */
    uint32_t made_next, made_count;
    struct pt_ahead *ahead; /* NULL: nobody works ahead */
    struct rec_batch *pieces[REC_PIECES];
    uint8_t raw[PT_REC_PIECE];
};

/* Begins with the file, which may still grow; if it cannot be mapped then, it is not loaded, and no error. */
enum pt_status rec_file_load(struct recording *r, struct pt_file_source *file, struct pt_err *err);
/* Takes the chunks that are there by now and were not taken; true: the limit has risen, or the end was found. */
bool rec_file_take(struct recording *r, const struct pt_file_source *file);
/* The program is gone, and has left a file without an end: what its buffers had. */
void rec_file_take_live(struct recording *r, const struct pt_file_source *file);
void rec_file_release(struct recording *r);

#endif
