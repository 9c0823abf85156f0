/*
 * Plain accesses of the twin of a function (core/plain.h), which has no hook for each of them: where races are sampled
 * they are told afterwards, a stretch at a time. A stretch is what a block does between two calls or atomic operations;
 * at its end stands
 *
 *     if (!asked.quiet[stretch]) __portent_look(asked, stretch, arguments);
 *
 * so that one that nobody wants to know of costs a comparison and a branch. These bytes are the runtime's to write
 * (runtime/race/asked.h). They are 0 at first: it learns of a module by the first of its stretches that is executed.
 */
#ifndef PT_CORE_LOOK_H
#define PT_CORE_LOOK_H

#include <stdint.h>

#include "core/site.h"

enum pt_looked_kind {
    PT_LOOKED_READ = 1,
    PT_LOOKED_WRITE = 2,
    PT_LOOKED_SIZED = 4, /* `size` is the number of the argument that has it */
};
enum { PT_LOOKED_NO_INDEX = 255 };

/* At `memory`, or if that is NULL at argument `base`, and `offset` bytes further, and argument `index` times `scale`.
 */
struct pt_looked {
    const struct pt_site *site;
    const char *memory;
    int32_t offset;
    uint32_t scale;
    uint16_t size; /* in bytes */
    uint8_t kind;  /* enum pt_looked_kind */
    uint8_t base, index;
};

enum pt_asked_state { PT_ASKED_NEW, PT_ASKED_LISTED, PT_ASKED_LEFT };

/* The stretches of a module: `first` has a number more than there are stretches, and the accesses of one go on up to
 * the first of the next. */
struct pt_asked {
    struct pt_asked *next;
    const struct pt_looked *accesses;
    const uint32_t *first;
    uint32_t count;
    uint32_t state;  /* enum pt_asked_state */
    uint8_t quiet[]; /* of each stretch: it is not asked now; then of each: in no gap, either */
};

enum { PT_LOOK_MAX = 32, PT_LOOK_ARGUMENTS = 4 }; /* of a stretch; what has more is several */

enum pt_asks {
    PT_ASKS_NOBODY,
    PT_ASKS_RARE, /* for stretches with a place that was seldom looked at: never again, once there is none */
    PT_ASKS_ALL,
};
extern uint32_t __portent_asks; /* enum pt_asks */

/* Called by assembly (instrument/looks.c) with the arguments on top of the stack; the instruction behind the call,
 * `testl $stretch, asked(%rip)`, says the rest. Leaves all registers as they are. */
void __portent_look(void);
/* A module is about to be unloaded, or the program to end. */
void __portent_leave(struct pt_asked *asked);

#endif
