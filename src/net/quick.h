/* Violations that can be seen without unfolding anything (quick.c). */
#ifndef PT_NET_QUICK_H
#define PT_NET_QUICK_H

#include "net/program.h"
#include "net/reduce.h"

struct pt_quick;

struct pt_quick *pt_quick_new(const struct pt_program *program, const struct pt_reduction *reduction);
void pt_quick_free(struct pt_quick *quick);
/* The steps of runs that may violate the block, one after the other: the last one would be e2, and `ret_begin` the
 * number of the begin. Nothing is promised of them: pt_witness_make decides. The caller frees them; NULL: no more. A
 * `block` other than the last call's starts anew. */
uint32_t *pt_quick_next(struct pt_quick *quick, uint32_t block, uint32_t *ret_count, uint32_t *ret_begin);

#endif
