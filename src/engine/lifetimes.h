/* The built-in check `lifetimes` from the inside, split between its files: lifetimes.c reads the run and notes what is
 * a pointer, lifetimes_scan.c goes through it for uses and frees, lifetimes_pointers.c for reads and stores of
 * pointers, lifetimes_meet.c asks the search in `values` for what that leaves open, lifetimes_report.c makes findings.
 */
#ifndef PT_ENGINE_LIFETIMES_H
#define PT_ENGINE_LIFETIMES_H

#include "base/table.h"
#include "engine/check.h"
#include "engine/foreign.h"
#include "engine/full_run.h"
#include "engine/meeting.h"
#include "engine/predict.h"
#include "engine/races.h"
#include "predict/precede.h"

/* What is known of the value that an access read or wrote; of reads that are followed by an access of the memory that
 * they point to DEREFERENCED. */
enum life_value { LIFE_UNKNOWN, LIFE_NULL, LIFE_OTHER, LIFE_DEREFERENCED };

struct life_var {
    uint32_t block;  /* of memory that it lies in, plus 1; 0: none */
    uint32_t looked; /* how many blocks there were when it was looked for */
    bool pointer;    /* a read of it is dereferenced */
    bool written;
    bool set;              /* it is not null before it is written */
    bool unseen;           /* a read has returned what no store has put there: some stores are not in the trace */
    struct pt_value value; /* that it has now */
};

/* A read that may turn out to be dereferenced. */
struct life_read {
    uint32_t index; /* of its event in the log, plus 1; 0: none */
    uint32_t var;
};

struct lifetimes {
    const struct pt_names *names;
    struct pt_check_options options;
    uint64_t started;
    struct pt_full_run run;
    struct races_pool pool;
    struct pt_race_memory memory;

    struct pt_log log;
    uint8_t *values; /* enum life_value of each event of the log, four in a byte */
    size_t value_cap;
    struct life_var *vars;
    size_t var_cap;
    struct pt_map64 by_address; /* blocks that are named by their addresses */
    struct pt_map64 pointing;   /* by thread and block: the thread's latest read that points to it, in `reads` */
    struct life_read *reads;
    uint32_t read_count;
    size_t read_cap;
    struct life_read *latest; /* of each thread: its latest event, if that read a number other than 0 */
    size_t latest_cap;
    struct pt_map64 null_reads; /* by place and variable: null was read there, and nothing came of it */
    struct pt_value *sizes;     /* of each alloc, in their order */
    uint32_t size_count;
    size_t size_cap;
    size_t peak;
    struct pt_meeting meeting;

    struct pt_finding *finding;
    struct pt_map64 known; /* indices of findings, by what and where */
    struct pt_witnesses witnesses;
};

/* An event with what it needs. */
struct life_event {
    struct pt_precede_event at;
    struct pt_log_event event;
    uint64_t region; /* of its thread */
    uint32_t writes; /* of its variable before it */
    bool null;       /* of a write */
    bool checked;    /* of a read: the thread has read the same pointer just before, and not for its memory */
};

struct life_list {
    struct life_event *events;
    uint32_t count;
    size_t cap;
};

/* One time through the log: in the order `sync`, or for runs in which locks change places. */
struct life_scan {
    struct lifetimes *l;
    struct pt_trf trf; /* plain in the second case */
    struct pt_precede precede;
    bool observes, predicts;
    uint64_t effort;       /* closures, or events that are looked at */
    struct pt_map64 tries; /* of places, where locks change places */
    struct life_block {
        struct life_list uses; /* since it was allocated */
        struct life_event freed;
        struct pt_log_event made, last_free;
        uint32_t size; /* index of its size */
        bool is_freed, is_made;
    } * blocks;
    size_t block_cap;
    struct life_pointer {
        struct life_list reads, writes;
    } * pointers; /* by variable */
    size_t pointer_cap;
    struct life_deferred { /* where locks change places: pairs that are tried when all events are known */
        struct life_block block;
        struct life_list events; /* the use and the free */
        bool slices, search;     /* where a run is looked for */
    } * deferred;
    uint32_t deferred_count;
    size_t deferred_cap;
    struct pt_map64 meets;        /* of places: how many pairs the search is asked for */
    struct pt_map64 told;         /* by thread and block: the alloc that the search knows it to need */
    struct pt_map64 read_before;  /* by variable and thread: enum life_value of its latest read */
    struct pt_log_event *created; /* of each thread its fork; its `event` is 0: none */
    size_t created_cap;
    size_t bytes; /* of lists */
};

/* What must not come together: the use, and the free or the store of null that comes before it; of a use before
 * initialisation the store that comes after it. */
struct life_pair {
    const struct life_event *use, *other;
    const char *note;               /* NULL: use after free */
    const struct life_block *block; /* NULL: it is about a pointer */
};

/* How a run gets to the use: without the other event; it has it, and no store of the pointer after it; or the other
 * event comes right before the use, whatever the recorded run had after it, which is beyond the order `sync`; or it has
 * the event, and is one that the search in `values` has found. */
enum life_way { LIFE_WITHOUT, LIFE_WITHIN, LIFE_LAST, LIFE_MET };

enum life_value pt_lifetimes_value(const struct lifetimes *l, uint64_t index);
/* The block of memory that a variable lies in, plus 1; 0: none that the run speaks of. */
uint32_t pt_lifetimes_block(struct lifetimes *l, uint32_t var);

/* A variable at a place; of blocks the offset counts, not which one it is. */
uint64_t pt_lifetimes_place(const struct lifetimes *l, uint32_t loc, uint32_t var);

/* Goes through the log. What the recorded run has is reported in the first one, in the order `sync`. */
void pt_lifetimes_scan(struct lifetimes *l, bool plain);
/* The events of the scan are kept. */
struct life_event pt_lifetimes_event(struct life_scan *s, const struct pt_log_event *event, uint64_t number);
void pt_lifetimes_keep(struct life_scan *s, struct life_list *list, const struct life_event *event);
void pt_lifetimes_clear(struct life_scan *s, struct life_list *list);
/* Whether such a run is looked for still: nothing is known of these places, and there is effort left. */
bool pt_lifetimes_may_try(struct life_scan *s, const struct life_pair *pair);
/* Looks for a run and reports it. `sees`: of pointers, the store that is the latest one in the run, NULL: none. */
void pt_lifetimes_try(struct life_scan *s, const struct life_pair *pair, enum life_way way,
                      const struct life_event *sees);

/* An access of a pointer; before the scan follows it. */
void pt_lifetimes_pointer_read(struct life_scan *s, const struct pt_log_event *event, enum life_value value);
/* After. */
void pt_lifetimes_pointer_write(struct life_scan *s, const struct pt_log_event *event, enum life_value value);
void pt_lifetimes_pointers(struct life_scan *s);
/* Whether that store is the latest of its variable in the run that was found; NULL: whether there is none. */
bool pt_lifetimes_is_latest(const struct life_scan *s, uint32_t var, const struct life_event *store);

/* What the search has to know: that this use of the block, its free or its alloc needs what was before. */
void pt_lifetimes_tell_use(struct life_scan *s, const struct pt_log_event *event, uint32_t block);
void pt_lifetimes_tell_alloc(struct life_scan *s, const struct pt_log_event *event);
/* Whether the search is to be asked for such a pair too. */
bool pt_lifetimes_may_meet(struct life_scan *s, const struct life_pair *pair);
/* Asks it for all that were deferred and are not known, and for reads of pointers. */
void pt_lifetimes_meet(struct life_scan *s);
/* A read, and a store that it would see as null, or of a use before initialisation the first one. */
struct life_pair pt_lifetimes_null_pair(const struct life_event *read, const struct life_event *store);
bool pt_lifetimes_is_initialised(const struct life_scan *s, const struct life_event *read);
struct life_pair pt_lifetimes_initial_pair(const struct life_pointer *pointer, const struct life_event *read);

/* By what and where. */
uint64_t pt_lifetimes_key(const struct lifetimes *l, const struct life_pair *pair);
/* A finding of it, or one more of a known one. `replay`: the run that leads there; NULL: the recorded one, or that of
 * the search (LIFE_MET). */
void pt_lifetimes_report(struct life_scan *s, const struct life_pair *pair, enum life_way way,
                         const struct pt_replay *replay);

#endif
