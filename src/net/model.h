/* The Petri net of a program, as the paper draws it (model.c), and the leaner one that the verdicts come from (path.c).
 */
#ifndef PT_NET_MODEL_H
#define PT_NET_MODEL_H

#include "net/net.h"
#include "net/program.h"
#include "net/reduce.h"
#include "net/unfold.h"

/* A net with, per transition, the step it stands for. */
struct pt_model {
    struct pt_net net;
    struct pt_meaning *meanings;
    uint32_t *steps; /* PT_NONE: none */
    bool *silent;    /* by step of the program: may be missing between the steps of a run (contract.c); NULL: none is */
    uint32_t *restart; /* by place, see pt_unfold_options; NULL: none */
    size_t meaning_cap, step_cap;
    uint32_t *block_threads;
    uint32_t block_count;
};

struct pt_model_options {
    bool variables; /* without them every verdict is lost, but what can happen is the same: they never block */
    bool read_arcs; /* one place per variable instead of n: a read reads it, a write consumes it and puts it back */
    bool guesses;   /* add the shared `choice` place and a guessing `begin` beside each plain one */
    bool names;     /* give places and transitions names, for people; not with read arcs */
};

void pt_model_init(struct pt_model *model);
void pt_model_release(struct pt_model *model);
uint32_t pt_model_add(struct pt_model *model, uint32_t step, struct pt_meaning meaning, const uint32_t *pre,
                      uint32_t pre_count, const uint32_t *post, uint32_t post_count);
/* The paper's net: a place per lock, n places per global variable, control places, a transition per step. */
void pt_model_build(const struct pt_program *program, struct pt_model_options options, struct pt_model *model);
/* Its places in which a thread has something left to do; the caller frees. */
uint32_t *pt_model_waiting(const struct pt_program *program, uint32_t *ret_count);

/* The net that follows one chain of causes of one guessed occurrence of one of `blocks` (path.c). */
void pt_path_build(const struct pt_program *program, const struct pt_reduction *reduction, const uint32_t *blocks,
                   uint32_t block_count, struct pt_model *model);

#endif
