/* The built-in check `serializable` from the inside: serializable.c decides, serializable_cycle.c shows why not. */
#ifndef PT_ENGINE_SERIALIZABLE_H
#define PT_ENGINE_SERIALIZABLE_H

#include "engine/check.h"
#include "engine/full_run.h"
#include "engine/races.h"
#include "engine/triples.h"
#include "predict/log.h"

/* What is known of a variable, a lock or another object. */
struct serial_object {
    struct pt_vec *written, *read; /* clocks of its latest write and of all its reads */
    uint64_t *others;              /* once several threads have read it: of each thread, what the others' reads knew */
    size_t others_cap;
    uint32_t reader; /* the only thread that has read it, plus 1; 0: nobody has; PT_NONE: several */
    uint32_t writer; /* of the latest write, plus 1 */
};

struct serial_thread {
    struct pt_vec *clock;
    uint64_t now;   /* its own entry: one for each block and each event outside of one */
    uint64_t began; /* that of its open block */
    uint32_t depth; /* of blocks */
    bool ended;
    struct serial_object_ref { /* objects whose clocks know of the open block */
        uint32_t object;
        uint8_t space;
    } * touched;
    uint32_t touched_count;
    size_t touched_cap;
};

struct serializable {
    const struct pt_names *names;
    struct pt_check_options options;
    struct pt_race_memory memory;
    struct races_pool pool;
    uint64_t started;
    struct serial_thread *threads;
    size_t thread_cap;
    uint32_t thread_count;
    struct serial_object *objects[PT_SPACE_COUNT];
    size_t object_cap[PT_SPACE_COUNT];
    struct pt_log log; /* all of them that matter */
    struct pt_full_run run;
    size_t others_bytes, touched_bytes, peak;
    bool blocks;
    bool settled;            /* a cycle was found: the recorded run is not looked at any more */
    struct triples *triples; /* of other runs; NULL: only the recorded one is looked at */
    uint32_t open;           /* how many threads are in a block */
    struct pt_finding *finding;
};

/* The open block of this thread is on a cycle, which is reported. */
void pt_serializable_report(struct serializable *s, uint32_t thread);

#endif
