/*
 * The memory file between a monitored program and its observer (`portent run`), byte by byte.
 *
 * The observer makes the file, writes the configuration, and starts the program with PORTENT_CHANNEL=FD in its
 * environment; both map it shared. Each thread of the program writes records into a ring of its own, so writing takes
 * no lock; every relevant event takes a number from one counter while the variable it touches is held, so counting
 * gives the observer the exact actual order over all rings. What was written before a crash is still in the file after
 * it.
 *
 *   struct pt_channel                       header
 *   configuration                           at config_offset: struct pt_config, then its tables and strings
 *   struct pt_gate, its tables              at gate_offset, if not 0: an order to hold the threads to (core/gate.h)
 *   struct pt_ring_bits                     at bits_offset, if not 0: (ring_max + 63) / 64 times, for 64 rings each
 *   struct pt_ring, ring_bytes of data      ring_max times, at rings_offset; sparse, so unused ones cost nothing
 *
 * Offsets inside the configuration count from its own start. Strings are NUL-terminated. Everything is little-endian
 * and of this machine: the file does not outlive it.
 */
#ifndef PT_CORE_CHANNEL_H
#define PT_CORE_CHANNEL_H

#include <stdatomic.h>
#include <stdint.h>

#include "core/ops.h"

#define PT_CHANNEL_MAGIC "PTCHAN1"
#define PT_CHANNEL_ENV   "PORTENT_CHANNEL"
enum { PT_CHANNEL_VERSION = 23 };

/*
 * A process that the program starts or forks, at whatever remove, has no such descriptor. PORTENT_RENDEZVOUS=NAME in
 * its environment is the name of an abstract Unix socket of the observer: the process connects, says who it is, and
 * gets the descriptor of a channel of its own (SCM_RIGHTS), or the end of the connection if it is not to be observed.
 */
#define PT_RENDEZVOUS_ENV "PORTENT_RENDEZVOUS"
struct pt_hello {
    char magic[8]; /* PT_CHANNEL_MAGIC */
    uint32_t version;
    uint32_t unused;
};

enum pt_on_full { PT_ON_FULL_BLOCK, PT_ON_FULL_DROP };
enum { PT_WHY_BYTES = 128 };
enum pt_program_state { PT_PROGRAM_STARTING, PT_PROGRAM_RUNNING, PT_PROGRAM_ENDED };

struct pt_channel {
    char magic[8]; /* PT_CHANNEL_MAGIC */
    uint32_t version;
    uint32_t on_full; /* enum pt_on_full */
    uint64_t total_bytes;
    uint64_t config_offset, config_bytes;
    uint64_t rings_offset, ring_bytes; /* of data per ring, a power of two */
    uint32_t ring_max;
    uint64_t gate_offset, gate_bytes;          /* 0: there is none */
    uint64_t bits_offset;                      /* 0: there are none */
    _Alignas(64) _Atomic uint64_t next_number; /* the next relevant event's number; starts at 1 */
    _Alignas(64) _Atomic uint32_t rings_used;  /* rings [0, rings_used) have been in use */
    _Atomic uint32_t program_state;            /* enum pt_program_state */
    _Atomic uint32_t observer_gone;            /* nobody reads any more: never wait for room, just drop */
    _Atomic uint64_t dropped;                  /* records that did not fit (PT_ON_FULL_DROP, or observer_gone) */
    _Atomic uint64_t foreign_writes;           /* loads that saw something else than the last recorded store */
    _Atomic uint64_t bad_ends;                 /* portent_end calls that matched no portent_begin */
    _Atomic uint32_t wake;       /* futex: the program bumps it when the observer may sleep and there is work */
    _Atomic uint32_t process;    /* the child that is observed in its parent's place, 0: none, or PT_PROCESS_FORKING */
    _Atomic uint32_t strangers;  /* threads that nobody was seen to start, so that what they do is not judged; each is
                                    counted in `dropped`, too */
    _Atomic uint32_t stopped;    /* the runtime records nothing more, and `why` is written */
    _Atomic uint32_t unobserved; /* forked processes that went on without exec, and could not be observed */
    _Atomic uint32_t built;      /* there are objects that 'portent cc' has compiled, or a library may have some */
    char why[PT_WHY_BYTES];      /* of `stopped`, NUL-terminated */
};

#define PT_PROCESS_FORKING UINT32_MAX /* a fork has begun that is to be followed, and its child is not yet there */

/*
 * What makes many threads cheap. The observer looks at the first rings whenever it looks, and at others when their bit
 * is set: ten thousand threads would otherwise cost ten thousand looks for each event. A thread past the first
 * PT_RING_ROOMY uses little of its ring at a time, and the observer gives back the pages that it has read, so memory
 * does not grow with the threads times the rings. All bits are hints.
 */
enum { PT_RING_NEAR = 64, PT_RING_ROOMY = 1024, PT_RING_FRUGAL_BYTES = 1 << 15 };
struct pt_ring_bits {
    _Atomic uint64_t fresh; /* its thread has written since the observer looked */
    _Atomic uint64_t free;  /* the observer has freed it */
};

enum pt_ring_state { PT_RING_FREE, PT_RING_ACTIVE, PT_RING_ENDED }; /* ended: freed by the observer when drained */

struct pt_ring {
    _Atomic uint32_t state; /* FREE -> ACTIVE by a new thread (CAS), -> ENDED by it, -> FREE by the observer */
    uint32_t thread;
    _Alignas(64) _Atomic uint64_t head; /* bytes written; release by the thread, acquire by the observer */
    _Alignas(64) _Atomic uint64_t tail; /* bytes read; release by the observer, acquire by the thread */
    _Atomic uint32_t room;              /* futex: the observer bumps it after it has read, for a thread that waits */
    _Alignas(64) unsigned char data[];  /* a record never wraps: a PT_RECORD_PAD fills the end */
};

enum pt_record_type {
    PT_RECORD_PAD,
    PT_RECORD_THREAD,  /* struct pt_record_thread: by its parent, and by itself before its first event */
    PT_RECORD_SITE,    /* struct pt_record_site: before its first use in this ring */
    PT_RECORD_NAME,    /* struct pt_record_name: likewise */
    PT_RECORD_WATCH,   /* struct pt_record_watch: portent_watch named an object */
    PT_RECORD_MODULE,  /* struct pt_record_module: where the program or a library lies */
    PT_RECORD_INIT,    /* struct pt_record_event without clock: an initial value, before any event */
    PT_RECORD_EVENT,   /* struct pt_record_event */
    PT_RECORD_FOREIGN, /* struct pt_record_event: a load saw something else than the last recorded store */
    PT_RECORD_LOCAL,   /* struct pt_record_local: what a thread found out about a decentralised property */
    PT_RECORD_FOUND,   /* struct pt_record_found: what a built-in check found */
    PT_RECORD_STACK,   /* struct pt_record_stack: calls, before an event names them in this ring */
    PT_RECORD_OBJECT,  /* struct pt_record_object: what a synchronisation object of the kernel's is called */
};

/* Every record begins like this and is padded to 8 bytes. */
struct pt_record {
    uint32_t bytes; /* of the whole record */
    uint32_t type;
};

struct pt_record_thread {
    struct pt_record head;
    uint32_t thread, parent; /* numbers in order of creation, main is 0; main's parent is 0 */
    uint64_t start;          /* address of its start function, 0 for main */
    uint64_t module_base;    /* load address of the module the function lies in */
    uint32_t ordinal;        /* it is the so many-th thread of its start function; 0: nobody has counted */
    uint32_t unused;
    char name[]; /* set with pthread_setname_np before, or "" */
};

struct pt_record_site {
    struct pt_record head;
    uint32_t site; /* number, from 1 */
    uint32_t line, column;
    uint32_t caller; /* the site where its function was inlined, 0: nowhere */
    char texts[];    /* file, function, variable, each NUL-terminated */
};

/* The calls that a thread is in, innermost first; the outermost may be missing. */
enum { PT_STACK_CALLS = 64 };
struct pt_record_stack {
    struct pt_record head;
    uint64_t hash; /* of the sites: what events call it by */
    uint32_t count;
    uint32_t sites[]; /* that this ring knows */
};

/* A text the program gave: what a block, a thread's own variable, or a user event is called. */
struct pt_record_name {
    struct pt_record head;
    uint32_t number; /* from 1 */
    char text[];
};

struct pt_record_module {
    struct pt_record head;
    uint64_t base, low, high; /* its load address, and the addresses it covers */
    char file[];              /* "" for the program itself */
};

struct pt_record_object {
    struct pt_record head;
    uint64_t address; /* that stands for it in events */
    char name[];
};

struct pt_record_watch {
    struct pt_record head;
    uint32_t var;  /* number for later events */
    uint32_t type; /* enum pt_watch_type */
    uint32_t size;
    char name[]; /* with #2, #3, ... for further objects of the same name */
};

/* States of a thread in which a decentralised property is violated; in a ring of a thread that is recorded in full it
 * comes right after the event that made the last one. */
enum pt_local_result {
    PT_LOCAL_VIOLATED,
    PT_LOCAL_MORE, /* a state that was reported before shows another finding */
    PT_LOCAL_FAILED,
    PT_LOCAL_BEGUN, /* the thread runs, and has more to report until it says ... */
    PT_LOCAL_STATES /* ... how many states it has had: that was all */
};
struct pt_record_local {
    struct pt_record head;
    uint32_t property; /* of the block */
    uint32_t thread;
    uint32_t result; /* enum pt_local_result */
    uint32_t report; /* bytes of it */
    uint64_t from, to;
    char texts[]; /* the thread's name, NUL-terminated; in the first record of a property all about it
                     (core/local_report.h) */
};

struct pt_access {
    uint64_t address, size;
};

/* Once for each key, by the thread that found it first; later how often it was found by now, without a report. */
struct pt_record_found {
    struct pt_record head;
    uint64_t key; /* 0: those for which there was no room, all together */
    uint64_t count;
    uint32_t thread; /* that found it */
    uint32_t bytes;  /* of the report */
    char report[];   /* core/found.h */
};

/* Of an event: it is relevant, and the thread's count in its clock includes it; it is an atomic store, which comes as
 * an update but reads nothing; it touches a part of a watched variable, and a struct pt_part follows the value; the
 * thread is in calls, and their hash (struct pt_record_stack) follows last; a lock was taken by a call that does not
 * wait for it, or not for ever; the thread's events are in the lane of the clock's first pair, which is none of the
 * clock, and its n-th is that count + n there. From bit PT_MARK_ORDER on: enum pt_memory_order of an atomic access or a
 * fence.
 *
 * Clocks count by lanes. A thread that has no such record has a lane of its own, which is called by its number. Else it
 * comes behind all events of the threads that were there before it; its first record with a clock that counts it says
 * so, and no record with a smaller number counts an event of it. */
enum {
    PT_COUNTED = 1,
    PT_MARK_STORE = 2,
    PT_MARK_PART = 4,
    PT_MARK_STACK = 16,
    PT_MARK_TRIES = 32,
    PT_MARK_LANE = 64,
    PT_MARK_ORDER = 8 /* the bit */
};

struct pt_part {
    uint32_t from, to; /* bytes of the variable, without `to` */
};

struct pt_record_event {
    struct pt_record head;
    uint64_t number;
    uint32_t thread;
    uint16_t kind;        /* enum pt_event_kind */
    uint16_t marks;       /* PT_COUNTED, ... */
    uint32_t object;      /* by kind, see enum pt_object_by; a variable: index into the configuration's table, or number
                             of PT_RECORD_WATCH */
    uint32_t site;        /* 0: unknown */
    uint32_t value_bytes; /* of the value that follows the clock */
    uint32_t clock_count;
    struct pt_clock_pair {
        uint32_t lane;
        uint64_t count;
    } __attribute__((packed, aligned(4))) clock[]; /* without padding: clocks are most of what is written. Then
                                                      value_bytes bytes: the variable's memory after the write */
};

enum pt_watch_type {
    PT_WATCH_INT,
    PT_WATCH_UINT,
    PT_WATCH_FLOAT,
    PT_WATCH_BOOL,
    PT_WATCH_CHARS, /* a string */
    /* Two pointers, and how many elements lie between them: the size of a vector. With the bytes of an element in the
     * bits from PT_WATCH_ELEMENT on. The second is written after the first, and a change of it is the event: as if it
     * were a bit-field of the two. */
    PT_WATCH_SPAN,
    PT_WATCH_ELEMENT = 8, /* the bit */
    PT_WATCH_ELEMENT_MAX = 1 << 20
};

/* A program variable that properties name, found through debug information before the program starts. */
enum { PT_LINKS_MAX = 8 };
struct pt_watch {
    uint64_t offset;     /* its address as the module's file has it; the load address is added */
    uint32_t module;     /* offset of the module's file name in the configuration; 0: the program itself */
    uint32_t name;       /* offset of its name */
    uint32_t size;       /* bytes */
    uint32_t type;       /* enum pt_watch_type */
    uint32_t bit_offset; /* of a bit-field, from the least significant bit of the first byte */
    uint32_t bit_size;   /* 0: not a bit-field */
    uint32_t quiet;      /* its writes are no relevant events: only decentralised properties name it */
    uint32_t local;      /* 1 + its number in the decentralised properties; 0: they do not name it */
    /* Of a variable that pointers lead to: how many, and how many bytes behind what each points to lies the next, or at
     * last the variable. `offset` is the first pointer's. */
    uint32_t link_count, after[PT_LINKS_MAX];
};

/* What is recorded beside the relevant events. */
enum pt_keep {
    PT_KEEP_MARKS = 1,   /* portent_internal, portent_begin, portent_end */
    PT_KEEP_ALL = 2,     /* every thread in full: all its accesses and synchronisation */
    PT_KEEP_THREADS = 4, /* in full: the threads that the table below names */
    PT_KEEP_CLOCKS = 8, /* every event of a thread that is recorded in full is counted in clocks. Without it nothing is,
                           which will do where all threads are in full: then the events themselves are the order */
    PT_KEEP_CHAINS = 16, /* nothing, and less of the order: each property is about the writes of one variable of the
                            configuration, which are in one order whatever else threads do (runtime/shadow/silence.h) */
};

/* Threads that start with this function. */
struct pt_start {
    uint64_t offset; /* its address as the module's file has it; PT_START_MAIN: the first thread */
    uint32_t module; /* as in struct pt_watch */
    uint32_t unused;
};
#define PT_START_MAIN UINT64_MAX

/* A function by which threads may be named. */
struct pt_function {
    uint64_t offset;
    uint32_t module; /* as in struct pt_watch */
    uint32_t name;   /* offset of the name it gives to threads */
};

/*
 * A library in which something of the tables above lies, of configurations that outlive the build they were made for
 * (core/ptc.h): its build-id or, where the linker made none, a hash of what is loaded from its file read-only, program
 * headers first.
 */
enum { PT_ID_MAX = 64 };
struct pt_library {
    uint32_t module;   /* as in struct pt_watch */
    uint32_t needed;   /* a variable lies there, or the function of a thread that properties name */
    uint32_t id_bytes; /* at most PT_ID_MAX */
    uint32_t unused;
    unsigned char id[PT_ID_MAX];
};

/* A race_free property, and what it names: the program reports the races on that memory under the property's number. */
enum { PT_RACE_PROPERTIES = 62 };
struct pt_race_property {
    uint32_t name;       /* offsets of texts: what it is called, ... */
    uint32_t thread;     /* ... and the thread of which one side of a race must be; 0: any */
    uint32_t everywhere; /* on all memory */
    uint32_t unused;
};
struct pt_race_place {
    uint64_t offset; /* as in struct pt_watch */
    uint32_t module;
    uint32_t name;
    uint32_t size;     /* bytes; 0: portent_watch will name it */
    uint32_t property; /* that names it */
};

struct pt_config {
    uint32_t watch_count, watches; /* struct pt_watch[watch_count] at offset watches */
    uint32_t event_count, events;  /* uint32_t[event_count]: offsets of the names of relevant user events */
    uint32_t options;              /* PORTENT_OPTIONS as given, a string */
    uint32_t keep;                 /* enum pt_keep, or-ed */
    uint32_t start_count, starts;  /* struct pt_start[start_count] */
    /* Decentralised properties (core/mttl.h), 8-aligned; 0 bytes: there are none. */
    uint32_t mttl_bytes, mttl;
    uint32_t function_count, functions; /* struct pt_function[function_count], 8-aligned */
    uint32_t suppressions;              /* the lines of all suppression files, a string; "": of the options' file */
    uint32_t library_count, libraries;  /* struct pt_library[library_count] */
    uint32_t checks; /* 1 << enum pt_found_check (core/found.h), or-ed: what the program is to look for itself; and
                        PT_CHECKS_HAPPENING */
    uint32_t race_property_count, race_properties; /* struct pt_race_property[], at most PT_RACE_PROPERTIES */
    uint32_t race_place_count, race_places;        /* struct pt_race_place[], 8-aligned */
};

#endif
