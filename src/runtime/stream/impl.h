/* Between the files of the transport: the buffers of a thread, and what the sender works with. */
#ifndef PT_RUNTIME_STREAM_IMPL_H
#define PT_RUNTIME_STREAM_IMPL_H

#include "runtime/stream/stream.h"
#include "runtime/sys/sys.h"

enum {
    PT_HALF_BYTES = 1 << 20, /* of each of a thread's two buffers */
    PT_HELD_MAX = 64,        /* locks of a thread that are followed */
    PT_STREAM_TEXT = 1000,   /* bytes of a string value */
};
#define PT_STREAM_IDLE   UINT64_MAX
#define PT_STREAM_RENAME 0 /* in place of an op: no event, but a thread's new name */

/* An event as its thread writes it; its value follows, padded to 8 bytes. */
struct pt_raw {
    uint64_t number, time;
    uint64_t object; /* an address, or a number: by op */
    const struct pt_site *site;
    uint64_t extra;
    uint32_t thread;
    uint8_t op, kind;
    uint16_t bytes; /* of the value */
};

enum pt_stream_owner { PT_STREAM_FREE, PT_STREAM_TAKEN, PT_STREAM_ENDED };

/*
 * The two buffers of a thread. It fills them in turn, `turn` counting; a buffer is used again once the sender has
 * drained it, and until then events are dropped. A dropped event has taken its number, so the sender sees by the number
 * alone that it is missing: when no thread is between taking a smaller number and publishing it (`inflight`).
 */
struct pt_stream {
    struct pt_stream *next;
    _Atomic uint32_t owner; /* FREE -> TAKEN by a thread (CAS), -> ENDED by it, -> FREE by the sender */
    uint32_t generation;    /* the thread's: of the locks it follows */
    uint32_t held_count;
    const void *held[PT_HELD_MAX];
    _Alignas(64) uint64_t turn; /* the thread's */
    uint32_t used;
    _Atomic uint64_t skipped;              /* events that were only counted; written by the thread */
    _Atomic uint64_t inflight;             /* no number that the thread has taken and not published is below this */
    _Atomic uint64_t closed;               /* buffers that the thread is through with */
    _Atomic uint32_t written[2];           /* bytes; release by the thread, acquire by the sender */
    _Alignas(64) _Atomic uint64_t drained; /* buffers that the sender is through with */
    uint64_t at_turn;                      /* the sender's */
    uint32_t at;
    uint64_t skipped_seen;
    _Alignas(64) unsigned char data[2][PT_HALF_BYTES];
};

extern struct pt_stream *_Atomic pt_streams;  /* a list that only grows */
extern _Atomic uint64_t pt_stream_number;     /* of the next event, from 1 */
extern _Atomic uint32_t pt_stream_generation; /* bumped when events begin after a pause: locks are followed anew */
extern _Atomic uint64_t pt_stream_homeless;   /* events of threads for which there were no buffers */

/* Ends the sender's pause; from any thread. A system call, unless somebody has called it since the sender last woke. */
extern _Atomic uint32_t pt_stream_hurried;
void pt_stream_hurry(void);

/* --- listening --- */

extern int pt_stream_listener; /* -1: none */
extern int pt_stream_watcher;  /* that has greeted us and is not welcomed yet; -1: none */
/* Calls the watcher again that was there at the start. A connection, or a negative error. */
int pt_stream_call(void);
bool pt_stream_calls(void); /* there was one */
void pt_stream_unlisten(void);
void pt_stream_remove(void); /* the socket's file, if it is still ours */

/* --- names --- */

struct pt_blob {
    unsigned char *bytes;
    size_t len, cap;
};

/* The text for an address of the program: its symbol, with an offset, or the number itself. */
void pt_symbol_text(uint64_t address, char *out, size_t room);
/* The symbol of a function that begins there; false: none is known. */
bool pt_symbol_function(uint64_t address, char *out, size_t room);
void pt_symbol_modules(void);

/* What the sender knows of a thread. */
enum { PT_KNOWN_LOCKS = 16, PT_KNOWN_NAME = 80 };
struct pt_stream_peer {
    uint32_t number, tid, parent;
    uint32_t next; /* in its bucket */
    uint32_t state, state_object;
    uint32_t lock_count;
    struct {
        uint32_t lock;
        bool shared;
    } locks[PT_KNOWN_LOCKS];
    bool introduced; /* false: only its number was mentioned so far, its name is a stopgap */
    bool ended;
    char name[PT_KNOWN_NAME];
};

/* NAME and SITE frames of everything that has an id, in the order in which ids were given. */
extern struct pt_blob pt_static_names, pt_thread_names;
extern uint32_t pt_thread_names_made; /* how often pt_thread_names was begun anew, without threads that are gone */

bool pt_names_start(void);
/* Ids for the stream; each makes a name where it must. */
uint32_t pt_names_object(enum pt_wire_space space, uint64_t address);
uint32_t pt_names_text(enum pt_wire_space space, uint32_t name); /* a number of name.h */
uint32_t pt_names_var(uint32_t object);
uint32_t pt_names_site(const struct pt_site *site);
struct pt_stream_peer *pt_names_thread(uint32_t number);
void pt_names_introduce(uint32_t number, uint32_t parent, uint32_t tid, uint64_t runs, const char *label);
void pt_names_rename(uint32_t number, const char *label);
struct pt_stream_peer *pt_names_by_tid(uint32_t tid);
/* Every thread that is there now. */
void pt_names_survey(void);
void pt_names_each(void (*visit)(void *context, struct pt_stream_peer *known), void *context);
void pt_names_tidy(void);

/* --- readers --- */

enum { PT_READERS_MAX = 32, PT_QUEUE_BYTES = 4 << 20 };

struct pt_stream_reader {
    int fd;          /* -1: a free place */
    bool deaf, full; /* it sends no more; the last frame did not fit */
    bool dismissed;  /* it has got its BYE */
    unsigned char *queue;
    uint64_t head, tail; /* bytes put in and sent */
    uint64_t expected;   /* number of the next event it has to get */
    uint64_t time;       /* of the last thing it got */
    size_t static_names, thread_names;
    uint32_t thread_names_made;
};

extern struct pt_stream_reader pt_readers[PT_READERS_MAX];
extern uint32_t pt_reader_count;

/* Somebody who has connected, *ret_fd -1: nobody. False: it cannot be done now (no descriptor is free), or ever (the
 * program has closed the socket). */
bool pt_reader_accept(int *ret_fd);
/* Takes the connection over; one for which there is no room is closed. */
void pt_reader_add(int fd, uint64_t number, uint64_t now);
/* A frame about events from `number` to `next` (both the same: none), with the names it needs and the loss before it.
 */
void pt_reader_put(struct pt_stream_reader *reader, const struct pt_blob *frame, uint64_t number, uint64_t next,
                   uint64_t time);
void pt_reader_flush(struct pt_stream_reader *reader);
void pt_reader_hear(struct pt_stream_reader *reader);

/* Room for so many bytes altogether. False when there is no memory. */
bool pt_blob_reserve(struct pt_blob *blob, size_t need);
/* Appends a frame with this body, and text (NULL: none). False when there is no memory. */
bool pt_blob_frame(struct pt_blob *blob, enum pt_wire_type type, const void *body, size_t len, const char *text);
/* The snapshot at this moment, for a reader that begins with event `number`. */
void pt_stream_snapshot(struct pt_blob *frame, uint64_t number, uint64_t now);

/* --- sending --- */

enum { PT_ROUND_MOST = 1 << 16 }; /* events between two looks at the sockets */
extern uint64_t pt_last_sent;     /* when anything was last put into the queues */

bool pt_send_start(void);
/* Everything that is complete goes to the readers. Returns how many events it was. */
uint32_t pt_send_merge(void);
void pt_send_clock(void);
/* BYE to those that have not got it; one whose queue is full gets it when there is room. False: somebody still waits
 * for something. */
bool pt_send_farewell(void);
uint64_t pt_send_number(void); /* of the next event of the stream */
uint64_t pt_send_time(void);   /* now, in the stream's time, which never goes back */
/* The id of what a thread in this state waits for. */
uint32_t pt_send_state_object(uint64_t state, uint64_t object);
/* Appends an event to a frame that has room for it. */
void pt_send_event(struct pt_blob *frame, struct pt_wire_event event, const void *value);

/* The value of a watched variable as the stream has it: its kind and the bytes of it, at most PT_STREAM_TEXT. */
uint32_t pt_stream_value(const struct pt_watched *watched, unsigned char *out, uint16_t *ret_bytes);

#endif
