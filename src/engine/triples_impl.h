/* Triples from the inside: triples.c follows the run and finds them, triples_report.c plays and reports them. */
#ifndef PT_ENGINE_TRIPLES_IMPL_H
#define PT_ENGINE_TRIPLES_IMPL_H

#include "base/table.h"
#include "engine/predict.h"
#include "engine/races.h"
#include "engine/triples.h"
#include "predict/precede.h"

/* An access of a block that comes before others of it. */
struct triple_first {
    struct pt_log_event event; /* its `event` is 0: there is none */
    uint64_t number;           /* in its thread */
};

/* An access, with what it needs beside what it reads. */
struct triple_access {
    struct pt_precede_event at;
    struct pt_log_event event;
    struct triple_first any, write; /* the latest of the variable in the same block before it, and the latest write */
    uint32_t block;                 /* its name; PT_NONE: it is in none */
    uint32_t life;                  /* of the variable's memory */
    uint64_t region, turn;          /* of its thread, and of its variable: which thread's it is */
};

/* The accesses of a variable by a thread at one place, in blocks with the same kinds of accesses before them. */
struct triple_group {
    uint32_t var, next; /* of the same variable; PT_NONE: the last */
    struct triple_access *accesses;
    uint32_t count;
    size_t cap;
};

/* An access of the second group comes between two of a block, of which the second one is in the first group: how far
 * they were tried. */
struct triple_pair {
    uint32_t within; /* of the first, with an access of the second that is in the run */
    uint32_t next;   /* of the first, with one that is next */
    uint32_t before; /* of the second, with a later one of the first */
    uint32_t tries;
    bool found;
};

/* One that was found, or is to be tried when all events are known. */
struct triple {
    struct triple_access second, between;
    struct pt_vec *taken; /* what `between` needs with what it reads, where it is in the run */
    bool within;          /* it is; otherwise it is next */
};

struct triples {
    const struct pt_names *names;
    struct pt_check_options options;
    struct pt_race_memory memory;
    struct races_pool pool;
    struct pt_log log; /* all events but begins and ends of blocks */
    struct pt_log_event *marks;
    uint32_t mark_count;
    size_t mark_cap;
    struct pt_trf trf;
    struct pt_precede precede;
    bool beyond; /* `trf` is plain: runs in which locks change places are looked for */

    struct triple_thread {
        uint32_t depth, block; /* of blocks; the name of the outermost */
        uint64_t began;        /* which one it is */
    } * threads;
    size_t thread_cap;
    uint64_t block_count;
    struct triple_var {
        uint32_t groups; /* the first, plus 1; 0: none */
        uint32_t thread; /* of the latest access, plus 1 */
        uint64_t turn;
    } * vars;
    size_t var_cap;
    struct pt_map64 in_blocks; /* by variable and thread: its accesses in the present block, in `seen` */
    struct triple_seen {
        uint64_t began;
        struct triple_first any, write;
    } * seen;
    uint32_t seen_count;
    size_t seen_cap;
    uint32_t *lives; /* of each block of memory, how often it was allocated */
    size_t life_cap;
    struct pt_map64 group_index; /* by a hash of what they are */
    struct triple_group *groups;
    uint32_t group_count;
    size_t group_cap;
    struct pt_map64 pair_index;
    struct triple_pair *pairs;
    uint32_t pair_count;
    size_t pair_cap;
    struct triple *found;
    uint32_t found_count;
    size_t found_cap;
    size_t bytes; /* of accesses */

    struct pt_map64 known; /* by places and variable */
    struct pt_witnesses witnesses;
};

/* The access of the block that comes before b; NULL: none that conflicts with it, or a2 does not conflict with it. */
const struct triple_first *pt_triples_first(const struct triple_access *second, const struct triple_access *between);

/* The question whether there is such a run, of these two events. */
struct pt_precede_question pt_triples_ask(const struct triple *triple, struct pt_precede_event events[2]);
/* Plays the run that was found for one and adds it to the finding; false: it is none. */
bool pt_triples_report(struct triples *t, const struct triple *triple, const struct pt_full_run *run,
                       struct pt_finding *finding);
uint64_t pt_triples_key(const struct triples *t, const struct triple *triple);

#endif
