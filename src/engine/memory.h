/* The memory limit, which all properties of an analysis share: each engine announces what it uses. */
#ifndef PT_ENGINE_MEMORY_H
#define PT_ENGINE_MEMORY_H

#include "engine/analysis.h"

/* Somebody uses so many bytes now, and had announced *announced before. Returns what of the limit the others leave it.
 */
static inline uint64_t pt_memory_share(const struct pt_analysis_options *options, uint64_t *announced, uint64_t bytes)
{
    uint64_t limit = options->memory_limit, *used = options->memory_used;
    *used += bytes - *announced;
    *announced = bytes;
    uint64_t others = *used - bytes;
    return others < limit ? limit - others : 0;
}

#endif
