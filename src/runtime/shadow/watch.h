/*
 * The watched variables: where they lie in memory, and which granules they touch. Granules of watched variables are
 * fine, and their record heads a list of the variables in them. All of it is read and changed only while those granules
 * are locked.
 */
#ifndef PT_RUNTIME_SHADOW_WATCH_H
#define PT_RUNTIME_SHADOW_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "core/channel.h"
#include "runtime/shadow/shadow.h"

struct pt_watched {
    _Atomic uintptr_t address; /* 0: not there yet (its module is not loaded), or no longer */
    uint32_t size;
    uint32_t bit_offset, bit_size;
    uint32_t type;  /* enum pt_watch_type */
    bool quiet;     /* its writes are no relevant events */
    uint32_t local; /* 1 + its number in the decentralised properties; 0: they do not name it */
    const char *name;
    unsigned char *last;  /* its memory after the last recorded write */
    bool foreign;         /* the store under way found something else there */
    struct pt_path *path; /* it is the end of one (path.h), or a pointer on the way; NULL: neither */
    bool is_link;         /* the latter: no event has it for its object */
    bool given;           /* portent_watch has named it */
    pt_clock_id latest;   /* the clock of its last event, with a reference, where silence lasts (silence.h) */
};

struct pt_watch_node {
    uint32_t object, next;
};

extern struct pt_watched *pt_watched;        /* by object number */
extern struct pt_watch_node *pt_watch_nodes; /* 0 is the end of a list */

/* Where it lies, or 0. It ends as soon as one of its granules does, so whoever has locked another one may see it go,
 * and looks once; whoever has locked all of them sees it stay. */
static inline uintptr_t pt_watch_address(const struct pt_watched *watched)
{
    return atomic_load_explicit(&watched->address, memory_order_relaxed);
}

bool pt_watch_start(void);
/* In a child that begins anew: with the configuration of now; then, once threads are known, what its parent had asked
 * for itself is watched under the same names. */
bool pt_watch_restart(void);
void pt_watch_inherit(struct pt_shadow_self *self);
/* A variable of the configuration, by its number there: whether it is known where it lies, and that it lies here. */
bool pt_watch_is_placed(uint32_t object);
void pt_watch_place(struct pt_shadow_self *self, uint32_t object, uintptr_t address);
/* For path.c, which holds the lock: a further object without a name, 0: there is no room; putting an object into the
 * lists of the granules there, `last` being what its memory holds then, and taking it out of them. */
void pt_watch_lock(void);
void pt_watch_unlock(void);
uint32_t pt_watch_new(uint32_t size);
bool pt_watch_put(struct pt_shadow_self *self, uint32_t object, uintptr_t address);
void pt_watch_take(struct pt_shadow_self *self, uint32_t object);
void *pt_watch_room(size_t bytes);
/* portent_watch: a new object under this name. */
void pt_watch_add(struct pt_shadow_self *self, uintptr_t address, uint32_t size, uint32_t type, const char *name);
/* Every variable that is watched now and has a value. For the sender of events, which reads values without locking
 * their granules: one that is being written may be caught halfway, as by any debugger. */
void pt_watch_each(void (*visit)(void *context, uint32_t object, const struct pt_watched *watched), void *context);
/* The memory of these bytes of a locked granule is given back: variables there are watched no more. */
void pt_watch_end(struct pt_shadow_self *self, uintptr_t granule, struct pt_fine *fine, unsigned bytes);
/* With its granules locked. Has its bit-field other bits than in `last`? */
bool pt_watch_field_changed(const struct pt_watched *watched);
/* Has its memory become something else than `last`, other than by a function that this thread has asked to do so? From
 * now on `last` has what it is. */
bool pt_watch_differs(const struct pt_shadow_self *self, uint32_t object);
/* Compares every variable that is watched now with `last`, and reports those that differ. Nothing is locked before or
 * after; what other threads do meanwhile is no difference. The thread's stack has up to `stack` bytes: variables below
 * the caller's frame have ended. */
void pt_watch_compare(struct pt_shadow_self *self, size_t stack);
/* With its granules locked: whether all that an access of [from, to) touches of it is told of another variable, which
 * has those bytes, too. */
bool pt_watch_is_told(uint32_t object, uintptr_t from, uintptr_t to);
const char *pt_watch_name(uint32_t object);
/* Number of a relevant user event, or -1. */
int64_t pt_watch_event(const char *name);

#endif
