/*
 * Processes that do one analysis together. Every one of them runs the same code on the same trace and comes to the same
 * findings; what is large, the cuts of a level and the pairs that may race, is divided among them. How they talk to
 * each other is the lender's business (src/mpi): the engine only calls what is here.
 *
 * All functions are called by every process of the group, in the same order: whoever decides about calling one decides
 * by what all of them know.
 */
#ifndef PT_ENGINE_GROUP_H
#define PT_ENGINE_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pt_group_bytes {
    unsigned char *data;
    size_t len, cap;
};

struct pt_group {
    uint32_t rank, size; /* which of how many it is, from 0 */
    void *context;
    /* out[p] is for process p; in[p], which is made large enough, becomes what p had for this one. */
    void (*exchange)(void *context, const struct pt_group_bytes *out, struct pt_group_bytes *in);
    /* Each of the values becomes the sum over all processes. */
    void (*sum)(void *context, uint64_t *values, uint32_t count);
    /* `bytes` become those of process `from`. */
    void (*spread)(void *context, uint32_t from, void *bytes, size_t size);
};

/* Room for `len` more bytes at the end, which are the caller's to fill. */
void *pt_group_bytes_add(struct pt_group_bytes *bytes, size_t len);
static inline bool pt_group_shares(const struct pt_group *group)
{
    return group && group->size > 1;
}
/* Whether this one does what is not divided. */
static inline bool pt_group_leads(const struct pt_group *group)
{
    return !group || group->rank == 0;
}
/* How many of the processes say so. Without a group: of one. */
uint64_t pt_group_count(const struct pt_group *group, bool yes);
uint64_t pt_group_greatest(const struct pt_group *group, uint64_t value);
/* The same bytes to everybody: all[p] becomes what p has. Arrays of `size`, to be released with
 * pt_group_bytes_release. */
struct pt_group_bytes *pt_group_gather(const struct pt_group *group, const void *data, size_t len);
void pt_group_bytes_release(struct pt_group_bytes *list, uint32_t count);

#endif
