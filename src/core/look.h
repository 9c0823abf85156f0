/*
 * Plain accesses of the twin of a function (core/plain.h), which has no hook for each of them: where races are sampled
 * they are told afterwards, a stretch at a time. A stretch is what a block does between two calls or atomic operations;
 * at its end stands
 *
 *     if (stretch.asked != __portent_asks) __portent_look(look, arguments);
 *
 * Who looks writes what he found in __portent_asks to `asked` once there is nothing to look at there for as long as,
 * and whenever again, __portent_asks is that: so a stretch that runs often costs three loads and a branch. Both are
 * PT_ASKS_NOBODY as long as nobody wants to know.
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

struct pt_look {
    volatile uint32_t *asked;
    uint32_t count;
    struct pt_looked accesses[];
};

enum { PT_LOOK_MAX = 32, PT_LOOK_ARGUMENTS = 4 }; /* of a stretch; what has more is several */

enum pt_asks {
    PT_ASKS_NOBODY,
    PT_ASKS_RARE, /* for stretches with a place that was seldom looked at: never again, once there is none */
    PT_ASKS_ALL,
};
extern uint32_t __portent_asks; /* enum pt_asks */

/* Called by assembly (instrument/looks.c) with the address of the look on top of the stack, and above it the arguments;
 * leaves all registers as they are. */
void __portent_look(void);

#endif
