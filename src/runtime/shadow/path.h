/*
 * Watched variables at the end of pointers: `var bal = accounts[2]->owner->balance;`. The first pointer, a *link*, is a
 * variable of the program; each further link lies where the one before points to, and so does the variable itself.
 */
#ifndef PT_RUNTIME_SHADOW_PATH_H
#define PT_RUNTIME_SHADOW_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "core/channel.h"
#include "core/site.h"
#include "runtime/shadow/watch.h"

struct pt_path {
    uint32_t object; /* the variable */
    uint32_t link_count;
    uint32_t links[PT_LINKS_MAX]; /* objects */
    const uint32_t *after;        /* of struct pt_watch */
    _Atomic bool moved;           /* a link was written, or memory on the way has ended, since it was last followed */
    _Atomic bool written;         /* the former */
    _Atomic uint32_t dead;        /* bit i: what link i points to has ended since the link was written */
    bool begun;                   /* the variable has had a value */
    struct pt_path *next;         /* in the list of all */
    _Alignas(8) uint64_t order;   /* its shadow has the clock of who followed it last */
};

/* Under the lock of watched variables: the first link lies here. */
void pt_path_begin(struct pt_shadow_self *self, uint32_t object, const struct pt_watch *watch, uintptr_t address);
/* With their granules locked: a link was written; the memory of a link or of the variable has ended. Whoever does that
 * follows the path when it leaves the runtime (PT_ATTEND_PATHS). */
void pt_path_written(struct pt_shadow_self *self, uint32_t link, const struct pt_site *site);
void pt_path_ended(struct pt_shadow_self *self, uint32_t object, uintptr_t address);
/* Nothing is locked: paths that moved are followed. */
void pt_path_follow(struct pt_shadow_self *self);
void pt_path_restart(void);
/* What reports call a link: the variable that it leads to. */
static inline uint32_t pt_path_object(uint32_t object)
{
    return pt_watched[object].is_link ? pt_watched[object].path->object : object;
}

#endif
