/*
 * Threads that do independent pieces of work together with their owner: which piece is whose does not matter, and all
 * are done when pt_crew_run returns. For lattices' levels there is pool.c, which looks on for a while.
 */
#ifndef PT_ENGINE_CREW_H
#define PT_ENGINE_CREW_H

#include <stdint.h>

struct pt_crew;

/* So many threads besides the owner at most; with fewer the result is the same. */
struct pt_crew *pt_crew_new(unsigned threads);
void pt_crew_free(struct pt_crew *crew);
/* Does work(context, i) for each i below `count`. What the owner wrote before is seen by all, and what they wrote by
 * the owner afterwards. */
void pt_crew_run(struct pt_crew *crew, void (*work)(void *context, uint32_t number), void *context, uint32_t count);

#endif
