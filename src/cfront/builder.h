/* What graph.c and steps.c share while they build the graph of one thread. */
#ifndef PT_CFRONT_BUILDER_H
#define PT_CFRONT_BUILDER_H

#include "cfront/graph.h"

enum { PT_CF_NODE_START = 0, PT_CF_NODE_STOP = 1 };

/* A place in the inlined code, and what the way there has done. */
struct pt_cf_spot {
    uint64_t inst; /* the instruction to come */
    uint32_t context;
    uint32_t phase;               /* of an instruction with several effects */
    uint32_t held, open, running; /* interned in graph.sets */
    uint32_t try_context;         /* of the last call in this function that may fail; PT_NONE: none */
    uint64_t try_inst;
    int64_t try_result;
};

struct pt_cf_builder {
    struct pt_cf_graph *g;
    struct pt_cf *cf;
    uint32_t thread;
    struct pt_cf_thread_graph *out;
    struct pt_strtab places;       /* node - 2 */
    struct pt_cf_accesses effects; /* of the instruction at hand */
    uint32_t *cut;                 /* nodes that no run can reach, as far as a look ahead tells */
    size_t cut_count, cut_cap;
};

static inline LLVMValueRef pt_cf_inst(const struct pt_cf_spot *at)
{
    return (LLVMValueRef)(uintptr_t)at->inst;
}

/* steps.c */
uint32_t pt_cf_node_at(struct pt_cf_builder *b, const struct pt_cf_spot *at);
struct pt_cf_spot pt_cf_after(const struct pt_cf_spot *at);
void pt_cf_add_edge(struct pt_cf_builder *b, uint32_t from, uint32_t to, enum pt_step_kind kind, uint32_t object,
                    LLVMValueRef inst);
/* An edge with b->effects; what nobody else touches is left out, and all of it while no other thread is running. */
void pt_cf_add_effects(struct pt_cf_builder *b, uint32_t from, const struct pt_cf_spot *at, uint32_t to);
/* Does anybody else touch what b->effects touches? */
bool pt_cf_matters(const struct pt_cf_builder *b);
/* Each adds the edges that leave `node` by one call. */
void pt_cf_step_lock(struct pt_cf_builder *b, uint32_t node, const struct pt_cf_spot *at, unsigned argument);
/* `next` comes after the mutex was unlocked. */
void pt_cf_step_unlock(struct pt_cf_builder *b, uint32_t node, const struct pt_cf_spot *at, unsigned argument,
                       struct pt_cf_spot next);
void pt_cf_step_trylock(struct pt_cf_builder *b, uint32_t node, const struct pt_cf_spot *at,
                        const struct pt_sync_row *row);
void pt_cf_step_begin(struct pt_cf_builder *b, uint32_t node, const struct pt_cf_spot *at);
void pt_cf_step_end(struct pt_cf_builder *b, uint32_t node, const struct pt_cf_spot *at);
void pt_cf_step_spawn(struct pt_cf_builder *b, uint32_t node, const struct pt_cf_spot *at);
void pt_cf_step_join(struct pt_cf_builder *b, uint32_t node, const struct pt_cf_spot *at,
                     const struct pt_sync_row *row);

#endif
