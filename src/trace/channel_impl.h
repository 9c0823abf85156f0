/* The inside of the channel's reader: channel.c makes it, channel_rings.c merges, channel_decode.c translates. */
#ifndef PT_TRACE_CHANNEL_IMPL_H
#define PT_TRACE_CHANNEL_IMPL_H

#include "trace/channel.h"
#include "trace/places.h"

/* What the reader knows of a ring. The header's own fields may be overwritten by the program: they are not trusted. */
struct ring {
    struct pt_ring *shared;
    bool open;          /* a thread uses it */
    uint64_t head;      /* bytes written, when last looked */
    uint64_t cursor;    /* bytes read */
    uint64_t published; /* bytes the thread knows to be read */
    uint64_t returned;  /* bytes whose pages have been given back */
    bool behind;        /* it is in the list of those where published < cursor */
    uint64_t front;     /* number of the event at the cursor, 0: none */
    uint32_t front_bytes;
    uint32_t thread; /* whose latest event came from here, by number; PT_NONE: none since it was opened */
};

struct watched {
    uint32_t name; /* id in PT_SPACE_VAR */
    uint32_t size, bit_offset, bit_size;
    enum pt_watch_type type;
};

/* A run of counts of a thread that never arrived. */
struct gap {
    uint64_t last;    /* the last count that is missing */
    uint64_t missing; /* in this gap and all before it */
};

struct thread {
    uint32_t number;
    uint32_t name; /* id in PT_SPACE_THREAD, PT_NONE: not yet needed */
    uint64_t start, module_base;
    char *own_name;   /* set with pthread_setname_np, or NULL */
    uint64_t count;   /* of its latest event, as the program counts */
    uint64_t yielded; /* its events that have been handed out, and are counted in clocks */
    uint64_t lines;   /* all its events that have been handed out */
    uint64_t before;  /* those before the latest record's */
    uint64_t owed;    /* its lines that records of others made after that: see channel_full.c */
    bool shifted;     /* such lines came before the state that is counted next */
    bool joined;
    bool over;         /* its end is told: nothing comes after it */
    uint32_t behind;   /* the thread, by its index, whose lane it has taken over; PT_NONE: none that has had events */
    bool follows;      /* its lane has been another's */
    uint64_t base;     /* of its counts in that lane */
    uint64_t in_clock; /* the latest record whose clock has named it, and where in that clock */
    uint32_t clock_at;
    uint64_t states; /* of a thread that evaluates properties, as it counts them: a record each */
    struct lines {
        uint64_t state, lines;
    } * uneven; /* states that are not one line each, and the lines there were after them */
    uint32_t uneven_count;
    size_t uneven_cap;
    uint32_t ordinal; /* as the program counts; 0: it does not */
    bool seen;        /* the trace knows of it: its fork, or an event */
    bool announced;   /* whoever holds the threads to an order knows its name */
    struct gap *gaps;
    uint32_t gap_count;
    size_t gap_cap;
};

/* A thread, by its number, that holds a lock, and how often each way. */
struct holder {
    uint32_t thread, exclusive, shared;
};

struct held_lock {
    struct holder *holders;
    uint32_t count;
    size_t cap;
};

/* Where a call or an access stands, for stacks. */
struct frame {
    uint32_t function, loc; /* ids in texts, and in PT_SPACE_LOC */
    uint32_t ring, caller;  /* the site that it was inlined into; 0: none */
};

/* Those who have taken over a lane (core/channel.h), by index, one after the other. */
struct lane {
    uint32_t *followers;
    uint32_t count;
    size_t cap;
};

struct pt_channel_reader {
    struct pt_source source; /* first */
    int fd;
    struct pt_channel *map;
    uint64_t map_bytes, rings_offset, ring_bytes;
    uint32_t ring_max;
    struct pt_names *names;
    pt_channel_function function;
    void *function_context;
    pt_channel_local_function local;
    void *local_context;
    pt_channel_found_function found;
    void *found_context;

    struct ring *rings;
    uint32_t ring_count; /* in use so far */
    uint32_t *heap;      /* rings with a front, the smallest number first */
    uint32_t heap_count;
    uint32_t *behind; /* rings that were read and whose threads do not know it yet */
    uint32_t behind_count;
    struct pt_ring_bits *bits;                       /* NULL: there are none */
    uint64_t all_looked_at;                          /* when all rings were, whatever their bits said */
    uint64_t expected;                               /* the next event's number */
    uint64_t numbered;                               /* the counter of numbers, when last looked */
    uint64_t asked_at, stalled_at, names_stalled_at; /* times; 0: never */
    bool settled; /* the first event has been handed out: all initial values are known */
    bool ended;
    bool held_back; /* a ring may have more than was read of it at the last look at all */
    uint32_t wake_seen;
    uint64_t events, missing, corrupt, unfinished;
    unsigned char *record; /* a private copy of one, which the program cannot change any more */

    struct watched *vars;
    uint32_t var_count;
    uint32_t *user_events; /* ids in PT_SPACE_EVENT */
    uint32_t user_event_count;
    struct pt_map64 objects; /* numbers of PT_RECORD_WATCH: index into dynamic */
    struct watched *dynamic;
    uint32_t dynamic_count;
    size_t dynamic_cap;
    struct pt_map64 text_of; /* numbers of PT_RECORD_NAME: id in texts */
    struct pt_strtab texts;
    struct pt_map64 sites;    /* ring << 32 | site: id in PT_SPACE_LOC */
    struct pt_map64 frame_of; /* the same: index into frames */
    struct frame *frames;
    uint32_t frame_count;
    size_t frame_cap;
    struct pt_map64 calls_of; /* hashes of stacks: where in calls they begin, with their length and their ring */
    uint32_t *calls;          /* sites: they may be described later than the calls are */
    uint32_t call_count;
    size_t call_cap;
    struct pt_map64 stack_of;      /* hash of calls and a site: id in PT_SPACE_STACK plus 1 */
    struct pt_map64 stack_of_text; /* ids in PT_SPACE_STRING: the same */
    uint32_t stack_count;
    uint32_t *thread_of; /* by number: index into threads, PT_NONE: it is not known */
    size_t thread_of_cap;
    struct thread *threads;
    uint32_t thread_count;
    size_t thread_cap;
    uint32_t unnamed;  /* of all threads below this number that are known the name is */
    uint32_t *lane_of; /* by number: index into lanes, PT_NONE: nobody has taken it over */
    size_t lane_of_cap;
    struct lane *lanes;
    uint32_t lane_count;
    size_t lane_cap;
    uint32_t announced; /* all threads below this number have given their start function, or are past waiting for */
    struct pt_strtab thread_functions;
    uint32_t *function_uses; /* by id in thread_functions */
    size_t function_use_cap;

    bool in_full;   /* every thread is recorded in full */
    bool clockless; /* every thread is recorded in full, and the events are the order */
    struct pt_places *places;
    struct pt_event *queue; /* events of the last record that are not handed out yet; the clock is theirs too */
    uint32_t queue_count, queue_next;
    size_t queue_cap;
    uint32_t *ends;               /* threads that have ended, by number, of which that is to be told */
    uint32_t end_count, counting; /* ...; and how many threads have events that clocks count */
    size_t end_cap;
    struct held_lock *locks; /* of threads in full, by id in PT_SPACE_LOCK: see channel_full.c */
    size_t lock_cap;

    struct pt_event *inits; /* initial values to hand out */
    uint32_t init_count, init_next;
    size_t init_cap;
    uint64_t counted_before;
    struct pt_clock_entry *clock;
    size_t clock_cap;
    uint32_t *clock_threads; /* of the same entries: indexes of their threads */
    size_t clock_thread_cap;
    uint64_t clocks;      /* records with clocks so far */
    struct pt_gate *gate; /* NULL: none */
    struct pt_gate_thread *gate_threads;
    uint32_t reported_count; /* threads whose name was announced */
    uint64_t unnamed_since;  /* a time; 0: no thread waits for its name */
    struct pt_channel_foreign *foreign;
    uint32_t foreign_count;
    size_t foreign_cap;
};

/* A reader without a channel, for whoever brings the records of threads in full itself (recording.c), in
 * reader->record, which holds so many bytes. Freed by pt_channel_free. */
struct pt_channel_reader *chan_new_decoder(struct pt_names *names, uint32_t record_bytes);
struct pt_ring *chan_ring(const struct pt_channel_reader *r, uint32_t index);
/* The next event that stands ready, found without asking for the time; false: ask chan_next. */
bool chan_ready(struct pt_channel_reader *r, struct pt_event *ret_event);
/* The next event; false: nothing at present. `now` is a monotonic time in nanoseconds. */
bool chan_next(struct pt_channel_reader *r, uint64_t now, struct pt_event *ret_event);
/* Everything but the source's label. */
void chan_free(struct pt_channel_reader *r);
/* Takes a record that is not an event, from reader->record. False when it makes no sense. */
bool chan_take_record(struct pt_channel_reader *r, uint32_t ring);
/* An event from reader->record. Several, or none, where the thread is recorded in full: they are in the queue then, and
 * ret_event->op is PT_OP_COUNT. */
bool chan_take_event(struct pt_channel_reader *r, uint32_t ring, struct pt_event *ret_event);
/* The thread of this number has ended, and all its events have been handed out. */
void chan_note_end(struct pt_channel_reader *r, uint32_t number);
/* PT_TIE_ENDED for one of which that is to be told; false: for none. */
bool chan_take_end(struct pt_channel_reader *r, struct pt_event *ret_event);
/* What such a thread does; `event` has everything but object and value. */
bool chan_take_full(struct pt_channel_reader *r, struct thread *self, const struct pt_record_event *record,
                    const unsigned char *value, struct pt_event event);
/* An operation on a lock by the thread of this number: its events go into the queue. `tries`: it would not have waited
 * for the lock, or not for ever. */
void chan_take_lock(struct pt_channel_reader *r, struct pt_event event, uint32_t thread, bool tries);
/* The same, of a lock that nobody else has: true: the event is all there is, and nothing is in the queue. */
bool chan_take_free_lock(struct pt_channel_reader *r, const struct pt_event *event, uint32_t thread);
/* An access of at most CHAN_LARGEST_ACCESS bytes, of which the first ones are known; and memory that begins or ends, or
 * of which it is to be forgotten what it was. */
enum { CHAN_LARGEST_ACCESS = 1 << 16 };
void chan_take_memory(struct pt_channel_reader *r, struct pt_event event, struct pt_access access,
                      const unsigned char *memory, uint64_t bytes);
void chan_take_extent(struct pt_channel_reader *r, unsigned kind, struct pt_access access, struct pt_event event);
void chan_release_locks(struct pt_channel_reader *r);
/* Stacks of events (channel_stack.c): a site and calls become known, from reader->record. False when they make no
 * sense. */
void chan_take_frame(struct pt_channel_reader *r, uint32_t ring, const struct pt_record_site *site,
                     const char *function, uint32_t loc);
bool chan_take_stack(struct pt_channel_reader *r, uint32_t ring);
/* The stack of an event at a site, in calls of this hash (0: in none), as its field `stack`; 0: it has none. A new one
 * puts the line that defines it into the queue. */
uint32_t chan_stack_of(struct pt_channel_reader *r, uint32_t ring, uint32_t site, uint64_t hash);
void chan_init_stacks(struct pt_channel_reader *r);
void chan_release_stacks(struct pt_channel_reader *r);
/* The thread of this number, made known if it is not; NULL when there are too many. Numbers are dense: the runtime
 * counts threads. */
enum { CHAN_MAX_THREADS = 1 << 22 };
struct thread *chan_thread_at(struct pt_channel_reader *r, uint32_t number);
static inline uint32_t chan_index_of(const struct pt_channel_reader *r, uint32_t number)
{
    return number < r->thread_of_cap ? r->thread_of[number] : PT_NONE;
}
/* Fills reader->clock with the clock of the event in reader->record, in our counts and by threads, and counts the event
 * itself (channel_clock.c). False when it makes no sense. */
struct chan_clock {
    uint32_t count;  /* entries */
    uint32_t behind; /* as in struct pt_event */
};
bool chan_take_clock(struct pt_channel_reader *r, const struct pt_record_event *record, struct chan_clock *ret_clock);
void chan_release_clocks(struct pt_channel_reader *r);
/* A thread that an event was about. */
struct thread *chan_thread(struct pt_channel_reader *r, uint32_t number);
/* The name of a thread that is forked or joined; false when it cannot be. */
bool chan_other_thread(struct pt_channel_reader *r, uint32_t number, bool forked, uint32_t *ret_name);
/* A whole number of at most 8 bytes: its value, of which `bits` has those bytes first. */
static inline bool chan_is_number(uint32_t type, uint32_t size)
{
    return (type == PT_WATCH_INT || type == PT_WATCH_UINT) && size - 1 < sizeof(uint64_t);
}
static inline struct pt_value chan_number(uint32_t type, uint32_t size, uint64_t bits)
{
    unsigned unused = 64 - 8 * size;
    return type == PT_WATCH_INT ? pt_value_int((int64_t)(bits << unused) >> unused)
                                : pt_value_uint(bits << unused >> unused);
}
struct pt_value chan_decode(struct pt_channel_reader *r, uint32_t type, uint32_t size, const unsigned char *bytes);
/* The thread's name, made if need be; threads created before it that are known are named first. */
uint32_t chan_name_of(struct pt_channel_reader *r, struct thread *thread);
/* Takes a PT_RECORD_FOUND from reader->record. False when it makes no sense. */
bool chan_take_found(struct pt_channel_reader *r);
/* The thread counts its states from here on; and: its latest record has made one. */
void chan_count_from(struct thread *thread);
void chan_count_state(const struct pt_channel_reader *r, struct thread *thread);
/* The gate's memory: how much, and its first content. */
uint64_t chan_gate_bytes(const struct pt_channel_gate *gate);
void chan_gate_write(struct pt_channel_reader *r, const struct pt_channel_gate *gate, struct pt_gate *memory);
/* Is the event in reader->record the first of a thread whose name depends on threads that have not given theirs? */
bool chan_name_is_open(const struct pt_channel_reader *r);
/* Stops waiting for those. */
void chan_settle_names(struct pt_channel_reader *r);

#endif
