/* A program's graphs without the steps that nobody can notice. */
#ifndef PT_NET_CONTRACT_H
#define PT_NET_CONTRACT_H

#include "net/reduce.h"

struct pt_contraction {
    struct pt_prog_step *steps; /* the program's, with nodes renamed; `from` is PT_NONE where the step is left out */
    uint32_t *start;            /* by thread, renamed */
    bool *silent;               /* by step of the program */
};

/* `blocks` are those whose begins and ends matter. */
void pt_contraction_make(const struct pt_program *program, const struct pt_reduction *reduction, const uint32_t *blocks,
                         uint32_t block_count, struct pt_contraction *contraction);
void pt_contraction_release(struct pt_contraction *contraction);

/*
 * Puts silent steps back: `steps` is a run of the contracted program, the result one of the program; the caller frees
 * it. *index, a position in the former, becomes the same event's position in the latter.
 */
uint32_t *pt_contraction_expand(const struct pt_program *program, const struct pt_reduction *reduction,
                                const bool *silent, const uint32_t *steps, uint32_t count, uint32_t *index,
                                uint32_t *ret_count);

#endif
