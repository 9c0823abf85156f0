/* The parts of the atomicity engine. Only src/engine/atomicity*.c include this. */
#ifndef PT_ENGINE_ATOMICITY_IMPL_H
#define PT_ENGINE_ATOMICITY_IMPL_H

#include "engine/check.h"
#include "finding/blocks.h"
#include "order/access.h"

/* An event, as far as a witness shows it. */
struct block_step {
    uint64_t seq; /* of the trace's events, from 1 */
    uint64_t line;
    struct pt_value value;
    uint32_t thread, object, loc;
    uint8_t op;
};

/* An event that later ones may follow, with the begins that are before it. */
struct block_source {
    struct block_step step;
    struct pt_clock *clock; /* NULL: there is no such event */
};

/* A source that taught a thread of begins it did not know. */
struct block_lesson {
    struct block_step from, at;
    struct pt_clock *after; /* what the thread knew then */
};

struct block_lessons { /* of one thread, in order; what they taught grows */
    struct block_lesson *items;
    uint32_t count;
    size_t cap;
};

struct block_occurrence {
    uint64_t begin; /* among the begins of its thread, from 1 */
    uint32_t block, site;
    uint32_t below; /* the open occurrence of its site before it, PT_NONE: none */
    bool closed;    /* while a later one is open */
    struct block_step step;
};

struct block_version { /* c= traces: the first event of a thread that was counted with this clock */
    uint64_t count;
    struct block_source source;
};

struct block_thread {
    struct pt_clock *clock; /* per thread, how many of its begins precede */
    uint64_t begins;
    struct block_occurrence *open; /* from the outermost to the innermost; the last one is not closed */
    uint32_t open_count;
    uint32_t settled; /* the first of them that is not violated: what violates one violates those around it */
    size_t open_cap;
    struct block_source fork; /* the event that started it */
    struct block_step last;   /* its latest event, when `acted` */
    bool acted;
    uint32_t blocks; /* it has had */
    struct block_lessons lessons;
    uint64_t counted; /* c= traces: its counted events */
    struct block_version *versions;
    uint32_t version_count;
    size_t version_cap;
};

struct block_object {
    struct block_source write;    /* the latest */
    struct block_source *readers; /* since then, one for each thread */
    uint32_t reader_count;
    size_t reader_cap;
};

struct block_objects {
    struct block_object *items;
    size_t cap;
};

struct block_site { /* a name in a thread */
    uint32_t top;   /* its latest open occurrence, in its thread's `open`; PT_NONE: none */
};

struct block {
    struct pt_block_finding finding;
    uint64_t open; /* occurrences that are open now */
};

struct pt_blocks {
    const struct pt_names *names;
    struct pt_check_options options;
    struct pt_order *order; /* checks c= fields */
    struct pt_clock_pool pool;
    struct pt_clock *empty;
    struct block_thread *threads;
    size_t thread_cap;
    struct block_objects objects[PT_SPACE_COUNT];
    struct block *blocks;
    uint32_t block_count;
    size_t block_cap;
    struct block_site *sites;
    uint32_t site_count;
    size_t site_cap;
    struct pt_map64 site_ids, block_ids; /* of (thread, name), of (site, place) */
    uint64_t seq;
    uint64_t wanted; /* open occurrences of blocks that have no witness yet */
    uint64_t lesson_count, lesson_limit;
    bool given;         /* lines carry c= */
    bool uncounted;     /* a begin among them is not counted */
    bool over_limit;    /* the memory limit was reached, and nothing is kept any more */
    bool bad_chain;     /* a witness failed its own check */
    size_t bytes, peak; /* of arrays; of everything */
    uint64_t started;
    struct pt_block_findings findings;
};

/* Remembers a lesson while some open block may need it for its witness. */
void pt_blocks_remember(struct pt_blocks *blocks, const struct block_source *from, const struct block_step *at,
                        struct pt_clock *after);
/* Gives the block of an occurrence its witness: `from` is known to follow the begin, and `at` to follow `from`. */
void pt_blocks_explain(struct pt_blocks *blocks, const struct block_occurrence *occurrence,
                       const struct block_source *from, const struct block_step *at);

#endif
