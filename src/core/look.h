/*
 * Plain accesses of the twin of a function (core/plain.h), which has no hook for each of them: where races are sampled
 * they are told afterwards, a stretch at a time. A stretch is what a block does between two calls or atomic operations;
 * at its end stands
 *
 *     if (stretch.asked != __portent_asks) __portent_look(&look, arguments);
 *
 * Who looks writes what he found in __portent_asks to `asked` once there is nothing to look at there before it changes
 * again: so a stretch that runs often costs two loads and a branch. Both are 0 as long as nobody wants to know.
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

struct pt_looked {
    const struct pt_site *site;
    int32_t offset; /* from the base, in bytes */
    uint16_t size;  /* in bytes */
    uint8_t kind;   /* enum pt_looked_kind */
    uint8_t base;   /* number of the argument that has it */
};

struct pt_look {
    volatile uint32_t *asked;
    uint32_t count;
    struct pt_looked accesses[];
};

enum { PT_LOOK_MAX = 32 }; /* instructions of a stretch, or one more; further ones are another */

extern uint32_t __portent_asks; /* changes whenever stretches are to ask again */

/* Leaves all general registers but r11 as they are (LLVM's preserve_most): it is called where hardly anything runs, and
 * code that runs often next to it has its values in them. */
void __portent_look(const struct pt_look *look, const uintptr_t *arguments);

#endif
