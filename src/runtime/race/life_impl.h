/* What the files about lifetimes share. */
#ifndef PT_RUNTIME_RACE_LIFE_IMPL_H
#define PT_RUNTIME_RACE_LIFE_IMPL_H

#include "core/hash.h"
#include "runtime/race/impl.h"
#include "runtime/race/life.h"

/* Memory that has ended, and how. */
struct pt_life_end {
    uintptr_t start;
    size_t size;
    enum { PT_LIFE_BLOCK, PT_LIFE_STACK, PT_LIFE_MAPPING } what;
    struct pt_race_block block;           /* of a heap block; size 0: nobody knows where it comes from */
    uint32_t thread, place, stack, locks; /* of its end; a stack's has no place */
};

/* ---- mark.c: of whole granules ---- */

bool pt_life_mark_start(void);
void pt_life_mark_restart(void);
void pt_life_mark(uintptr_t from, uintptr_t to);
void pt_life_unmark(uintptr_t from, uintptr_t to);
/* The first granule that is marked; `to`: none is. */
uintptr_t pt_life_first_marked(uintptr_t from, uintptr_t to);

/* ---- kept.c ---- */

bool pt_life_kept_start(uint64_t bytes);
void pt_life_kept_restart(void);
/* The block that is kept and begins there; or in which the address lies. */
bool pt_life_kept_block(uintptr_t start, struct pt_life_end *ret_end);
bool pt_life_kept_at(uintptr_t address, struct pt_life_end *ret_end);

/* ---- stopped.c ---- */

void pt_life_stopped_restart(void);
/* The stack or the mapping in which the address lay, and nothing lies now. */
bool pt_life_stopped_at(uintptr_t address, struct pt_life_end *ret_end);

/* The end of memory by the calling thread, now. */
struct pt_life_end pt_life_end_now(struct pt_race_self *self, uintptr_t start, size_t size);

/* Notes of findings. */
#define PT_LIFE_USE_AFTER_FREE "use after free"
#define PT_LIFE_DOUBLE_FREE    "double free"
#define PT_LIFE_INVALID_FREE   "invalid free"
#define PT_LIFE_USE_OF_STACK   "use of a stopped stack"

/* The key of a finding about a use and an end, by that of their places. What happened is not the same as what can. */
static inline uint64_t pt_life_key(uint64_t places, enum pt_found_how how)
{
    uint64_t key = pt_mix64(places + (how == PT_FOUND_PREDICTED ? 2 : 1));
    return key ? key : 1;
}

#endif
