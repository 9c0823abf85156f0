/*
 * Which steps of a controlled run depend on each other (core/explore.h): the one answer that partial-order reduction,
 * sleep sets, steering and reports use.
 */
#ifndef PT_CORE_EXPLORE_DEPEND_H
#define PT_CORE_EXPLORE_DEPEND_H

#include <stdbool.h>

#include "core/explore.h"

/* What steps of a kind act on. */
enum pt_explore_space {
    PT_EXPLORE_NOTHING, /* nothing that others see */
    PT_EXPLORE_MEMORY,  /* addresses: memory, and objects of synchronisation, which lie in it */
    PT_EXPLORE_SLOTS,   /* threads */
    PT_EXPLORE_FILES,   /* descriptors: which ones lead to the same pipe is not known, so all are one object */
};
enum pt_explore_space pt_explore_space(enum pt_explore_kind kind);
const char *pt_explore_word(enum pt_explore_kind kind);
bool pt_explore_kind_reads(enum pt_explore_kind kind);
bool pt_explore_kind_writes(enum pt_explore_kind kind);
bool pt_explore_kind_blocks(enum pt_explore_kind kind);

/* Whether the order of the two may matter: swapping neighbours that do not depend leads to the same state, and neither
 * lets the other go on or stops it. Steps of one thread always depend. Symmetric. */
bool pt_explore_depends(const struct pt_explore_step *a, const struct pt_explore_step *b);
/* Whether b cannot happen before a: a starts the thread whose first step b is, or ends the one that b joins. */
bool pt_explore_enables(const struct pt_explore_step *a, const struct pt_explore_step *b);

#endif
