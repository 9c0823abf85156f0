/*
 * The observer's side of the memory file between it and a monitored program (core/channel.h): makes it, and reads the
 * program's events out of it in their actual order. The program is not trusted: whatever stands in the file, reading it
 * neither crashes nor blocks.
 */
#ifndef PT_TRACE_CHANNEL_H
#define PT_TRACE_CHANNEL_H

#include "base/buf.h"
#include "base/err.h"
#include "core/channel.h"
#include "core/mttl.h"
#include "core/gate.h"
#include "core/local_report.h"
#include "trace/event.h"
#include "trace/places.h"
#include "trace/source.h"

/* A variable to watch. */
struct pt_channel_var {
    const char *name;
    const char *module; /* NULL: the program itself */
    uint64_t offset;
    uint32_t size;
    enum pt_watch_type type;
    uint32_t bit_offset, bit_size;
    bool quiet;                               /* its writes are no relevant events */
    uint32_t local;                           /* 1 + its number in the block of decentralised properties; 0: none */
    uint32_t link_count, after[PT_LINKS_MAX]; /* as in struct pt_watch */
    uint32_t in_atomic;                       /* as in struct pt_variable */
};

/* A race_free property; and a variable that one names. */
struct pt_channel_race {
    const char *name;
    const char *thread; /* NULL: any */
    bool everywhere;
};
struct pt_channel_race_place {
    const char *name;
    const char *module; /* NULL: the program itself */
    uint64_t offset;
    uint32_t size; /* 0: the program will name it */
    uint32_t property;
};

/* A function that threads may be named after. */
struct pt_channel_name {
    const char *module; /* NULL: the program itself; functions of one module stand together, by offset */
    uint64_t offset;
    const char *name;
};

/* A library that they lie in, and what tells its builds apart (struct pt_library). */
struct pt_channel_library {
    const char *module;
    bool needed;
    uint32_t id_bytes;
    unsigned char id[PT_ID_MAX];
};

/* A function that threads start with. */
struct pt_channel_start {
    const char *module; /* NULL: the program itself */
    uint64_t offset;    /* PT_START_MAIN: the first thread */
};

/* An order to hold the program's threads to (core/gate.h). */
struct pt_channel_gate {
    const struct pt_gate_entry *entries;
    uint32_t count;
    uint32_t from;          /* events of the run before the first entry */
    const uint32_t *before; /* how many of them are each role's */
    uint32_t role_count;
    bool whole;     /* it has locks and reads, too */
    uint32_t meets; /* so many entries at the end are events before which all their threads are to stand at one time */
    bool bare;      /* it has no others, and ... */
    uint64_t stand_ns;                  /* ... a thread stands so long before one of them, 0: as long as it takes */
    const struct pt_gate_place *places; /* PT_GATE_MEET of them, for those; NULL: none */
};

struct pt_channel_setup {
    const struct pt_channel_var *vars;
    uint32_t var_count;
    const char *const *events; /* relevant user events */
    uint32_t event_count;
    const char *options;                   /* PORTENT_OPTIONS; NULL: none */
    const char *suppressions;              /* lines; NULL: none but those that the options name */
    uint32_t keep;                         /* enum pt_keep, or-ed: what to record beside the relevant events */
    const struct pt_channel_start *starts; /* PT_KEEP_THREADS: which threads */
    uint32_t start_count;
    const struct pt_mttl *block; /* decentralised properties; NULL: none */
    const struct pt_channel_name *functions;
    uint32_t function_count;
    const struct pt_channel_library *libraries; /* of a configuration that is kept */
    uint32_t library_count;
    const struct pt_channel_gate *gate; /* NULL: none */
    uint32_t checks;                    /* of struct pt_config */
    const struct pt_channel_race *races;
    uint32_t race_count;
    const struct pt_channel_race_place *race_places;
    uint32_t race_place_count;
    enum pt_on_full on_full;
    uint64_t ring_bytes;     /* of each thread, a power of two of at least 4096 */
    uint32_t ring_max;       /* threads at a time */
    uint64_t counted_before; /* where each thread's count begins, in the program and here; 0, but in tests */
};

struct pt_channel_reader;

/* The configuration that a setup comes to, in the bytes of core/channel.h. */
void pt_channel_configure(const struct pt_channel_setup *setup, struct pt_buf *ret_config);
/* Makes the file and maps it. Its descriptor is inherited by programs that are started. */
enum pt_status pt_channel_create(const struct pt_channel_setup *setup, struct pt_names *names,
                                 struct pt_channel_reader **ret_reader, struct pt_err *err) PT_WARN_UNUSED;
void pt_channel_free(struct pt_channel_reader *reader);
int pt_channel_fd(const struct pt_channel_reader *reader);
/* The mapped file itself. */
struct pt_channel *pt_channel_map(struct pt_channel_reader *reader);

/* Names a thread by its start function; NULL: nobody knows. */
typedef const char *(*pt_channel_function)(void *context, uint64_t start, uint64_t module_base);
void pt_channel_set_function(struct pt_channel_reader *reader, pt_channel_function function, void *context);

/* The file of the module that was loaded there ("" for the program), NULL when the program did not say: it does so
 * where threads are recorded in full. */
const char *pt_channel_module(const struct pt_channel_reader *reader, uint64_t base);

/* Names the memory of threads that are recorded in full. */
void pt_channel_set_place(struct pt_channel_reader *reader, pt_place_function function, void *context);

/* What a thread found out about a decentralised property (core/channel.h); texts are valid during the call. */
struct pt_channel_local {
    uint32_t property; /* of the block */
    enum pt_local_result result;
    const char *thread;
    uint64_t from, to;   /* states, as the trace counts them where the thread is recorded in full */
    const char *report;  /* core/local_report.h */
    size_t report_bytes; /* 0: not the first one */
};
typedef void (*pt_channel_local_function)(void *context, const struct pt_channel_local *local);
void pt_channel_set_local(struct pt_channel_reader *reader, pt_channel_local_function function, void *context);
/* What a step of it is about (core/local_report.h), by the name that a recording has for it, and the value there. They
 * live as long as the reader's names. */
const char *pt_channel_report_object(struct pt_channel_reader *reader, const struct pt_local_report_step *step,
                                     struct pt_value *ret_value);
/* The number of a thread's state as the trace counts: that of the line that the step is about. */
uint64_t pt_channel_report_state(struct pt_channel_reader *reader, const char *thread, uint64_t state,
                                 const struct pt_local_report_step *step);

/* What a built-in check found in the program, or how often by now (core/channel.h); valid during the call. */
struct pt_channel_found {
    uint64_t key, count;
    const char *report; /* core/found.h, whole */
    size_t report_bytes;
};
typedef void (*pt_channel_found_function)(void *context, const struct pt_channel_found *found);
void pt_channel_set_found(struct pt_channel_reader *reader, pt_channel_found_function function, void *context);
/* The name that a recording has for the variable, lock or other object there. */
const char *pt_channel_name_at(struct pt_channel_reader *reader, uint64_t address, enum pt_space space);
/* The name of a thread by its number; NULL: not known, or, unless `settle`, it may depend on what is still to be read.
 */
const char *pt_channel_thread_name(struct pt_channel_reader *reader, uint32_t number, bool settle);

/*
 * The events, in actual order, for pt_source_next and pt_source_wait: PT_OP_INIT, then PT_OP_WRITE, PT_OP_UPDATE and
 * PT_OP_EVENT with clocks, and, with PT_KEEP_MARKS, PT_OP_INTERNAL, PT_OP_BEGIN and PT_OP_END, which have clocks but
 * are not counted in them. Threads that are recorded in full have every other operation too; with PT_KEEP_ALL and
 * without PT_KEEP_CLOCKS no event has a clock, and the events themselves are the order. A record that does not come,
 * because its thread was stopped for good while it wrote, is waited for: 10 ms if the program says that it drops
 * records, 5 s otherwise; then it counts as lost. The source lives as long as the reader, and ends after
 * pt_channel_set_ended.
 */
struct pt_source *pt_channel_source(struct pt_channel_reader *reader);
/* The program is gone: what has not been written by now never will be. */
void pt_channel_set_ended(struct pt_channel_reader *reader);
/* Nobody reads any more: threads that wait for room go on, and drop what they have. */
void pt_channel_abandon(struct pt_channel_reader *reader);

/* --- the gate --- */

/* Of channels that have one. The program can write to its memory: numbers there may be anything. */
uint32_t pt_channel_turn(const struct pt_channel_reader *reader);
/* What a thread does; NULL: its number is too high to be known. */
const struct pt_gate_thread *pt_channel_gate_thread(const struct pt_channel_reader *reader, uint32_t number);
/* Gives every thread that has given its start function its name, as events would later, and calls once for each. `now`
 * is a monotonic time in nanoseconds: threads that were made later are named when their elder ones are, or a second has
 * passed. */
typedef void (*pt_channel_named)(void *context, uint32_t number, const char *name);
void pt_channel_name_threads(struct pt_channel_reader *reader, uint64_t now, pt_channel_named named, void *context);
/* The name of a lock of the program, by its address. */
const char *pt_channel_lock_name(struct pt_channel_reader *reader, uint64_t address);
/* Nobody is held any more. */
void pt_channel_open_gate(struct pt_channel_reader *reader);
/* After the schedule: the number of the thread that has the floor, plus 1; 0: none. Who has it next. */
uint32_t pt_channel_floor(const struct pt_channel_reader *reader);
void pt_channel_give_floor(struct pt_channel_reader *reader, uint32_t number);
/* Of a schedule that meets: have all threads stood before their events? What these were about to touch, if two. */
struct pt_channel_meeting {
    uint64_t address[2], size[2]; /* of the first and the second */
};
bool pt_channel_met(const struct pt_channel_reader *reader, struct pt_channel_meeting *ret_meeting);
/* How many reads of the schedule came before their turn. */
uint32_t pt_channel_strays(const struct pt_channel_reader *reader);
/* The assertion that failed in the program; false: none did. */
bool pt_channel_said(const struct pt_channel_reader *reader, char ret_text[PT_GATE_SAID]);
/* Gives a thread its role in the schedule (enum pt_gate_role). */
void pt_channel_set_role(struct pt_channel_reader *reader, uint32_t number, uint32_t role);

/* What did not arrive. */
struct pt_channel_losses {
    uint64_t missing;   /* numbers that were taken but never came, while the program ran on */
    uint64_t dropped;   /* as the program counts them: buffers were full; at least some of the missing ones */
    uint64_t strangers; /* of these, threads that nobody was seen to start: what they do is not judged */
    uint64_t corrupt;   /* records that make no sense */
    /* Why the program recorded nothing more from some moment on; NULL: it did. Counted in `dropped` as one, too. */
    const char *stopped;
    /* Numbers taken by events that were under way when the program ended. No other event can know of one, since its
     * thread still held what it touches: the run without them is one that happened, and nothing is lost. */
    uint64_t unfinished;
};
struct pt_channel_losses pt_channel_losses(const struct pt_channel_reader *reader);
/* The process that is observed in the place of the one that was started; 0: none, PT_PROCESS_FORKING: it is coming. */
uint32_t pt_channel_process(const struct pt_channel_reader *reader);
/* Processes that it forked, and that went on without exec and without being observed. */
uint32_t pt_channel_unobserved(const struct pt_channel_reader *reader);
/* Calls of portent_end that matched no portent_begin, and were ignored. */
uint64_t pt_channel_bad_ends(const struct pt_channel_reader *reader);
bool pt_channel_started(const struct pt_channel_reader *reader); /* the runtime has answered */
bool pt_channel_built(const struct pt_channel_reader *reader);   /* and some of the program is instrumented */

/* A place where a load saw something else than the last recorded store. */
struct pt_channel_foreign {
    uint32_t var; /* id in PT_SPACE_VAR */
    uint32_t loc; /* id in PT_SPACE_LOC */
};
/* Different places; those that did not fit in the list are in the total, which counts loads. */
const struct pt_channel_foreign *pt_channel_foreign(const struct pt_channel_reader *reader, uint32_t *ret_count,
                                                    uint64_t *ret_total);

#endif
