/* The threads' control flow with its effects on memory, before it is known which of them matter. */
#ifndef PT_CFRONT_GRAPH_H
#define PT_CFRONT_GRAPH_H

#include "cfront/abstract.h"

struct pt_cf_access {
    uint32_t object;  /* PT_CF_ANYTHING: all of every object that escaped */
    int64_t from, to; /* bytes; all of it when the place is unknown */
    bool write;
};

struct pt_cf_accesses {
    struct pt_cf_access *list;
    size_t count, cap;
    bool vague;   /* some place was unknown */
    bool unknown; /* a function without a body did it */
};

/* effects.c: what one instruction does to memory (but not to locks and threads). */
void pt_cf_effects(struct pt_cf *cf, uint32_t context, LLVMValueRef inst, struct pt_cf_accesses *to);
/* One access of what `address` points to; `size` 0: nobody knows how much. */
void pt_cf_touch(struct pt_cf *cf, struct pt_cf_val address, uint64_t size, bool write, struct pt_cf_accesses *to);

struct pt_cf_edge {
    uint32_t from, to;
    uint8_t kind;    /* enum pt_step_kind */
    uint32_t object; /* lock, block or thread */
    size_t access_start, access_count;
    LLVMValueRef inst;
    bool vague, unknown;
};

struct pt_cf_lock {
    uint32_t object;
    int64_t offset;
    uint32_t user; /* a thread; PT_NONE: nobody yet */
    bool shared;   /* used by several, or locked again by who holds it: it can make a thread wait */
};

struct pt_cf_block {
    uint32_t thread;
    LLVMValueRef inst; /* the call of portent_begin */
    const char *name;  /* NULL: not a constant */
};

struct pt_cf_thread_graph {
    struct pt_cf_edge *edges;
    size_t edge_count, edge_cap;
    uint32_t node_count; /* 0: start, 1: stop */
};

struct pt_cf_graph {
    struct pt_cf *cf;
    struct pt_cf_thread_graph *threads;
    struct pt_cf_access *accesses;
    size_t access_count, access_cap;
    struct pt_cf_lock *locks;
    size_t lock_count, lock_cap;
    struct pt_strtab lock_keys;
    struct pt_cf_block *blocks;
    size_t block_count, block_cap;
    /* By object, from a look at everything before the graphs are built: */
    uint32_t *user;        /* the thread that touches it; PT_NONE: none */
    bool *shared;          /* several do */
    bool *vague_lock;      /* locks in it cannot always be told apart */
    bool *handed_out;      /* a function without a body reaches it, and may lock what is in it */
    struct pt_strtab sets; /* held locks, open blocks, running threads: ids as bytes */
};

/* shrink.c: the same behaviour in fewer nodes. */
struct pt_cf_link {
    uint32_t from, label, to; /* label PT_NONE: silent */
};
#define PT_CF_RETURN (PT_NONE - 1) /* label of a step into the stop node that only ends the thread */
struct pt_cf_small {
    struct pt_cf_link *links;
    size_t count, cap;
    uint32_t node_count, start, stop; /* stop: PT_NONE when the thread never ends, or nobody waits for it */
};
/* Node 0 is the start, node 1 the stop; `ends`: somebody waits for the thread's end. */
void pt_cf_shrink(const struct pt_cf_link *links, size_t count, uint32_t node_count, bool ends,
                  struct pt_cf_small *ret);

/* graph.c: fills g->threads. */
void pt_cf_graph_build(struct pt_cf_graph *g);
/* reduce.c: fills cf->program. */
void pt_cf_reduce(struct pt_cf_graph *g);

#endif
