/*
 * What built-in checks find while the program runs (core/found.h): reported once for each key, counted afterwards. It
 * goes to the observer; where nobody observes it is printed, in ThreadSanitizer's order of things.
 *
 * A check asks first whether its finding is new, because to describe one costs more than to count it:
 *
 *     if (pt_found_is_new(self, key))
 *         pt_found_report(self, &(struct pt_found){.check = PT_FOUND_RACE, .key = key, ...}, true);
 *
 * The caller is inside the runtime, and may have a granule or a cell locked.
 */
#ifndef PT_RUNTIME_FOUND_FOUND_H
#define PT_RUNTIME_FOUND_FOUND_H

#include "core/found.h"
#include "runtime/thread/thread.h"

/* Counts a finding; true: nobody has reported one with this key, and the caller is to do so. Never 0. Beyond
 * PT_FOUND_KINDS different ones none is new, and that is said. */
bool pt_found_is_new(struct pt_thread *self, uint64_t key);
/* Where somebody else tells of it: `portent explore` and `replay`, which lend a file for it (runtime/explore). NULL:
 * nobody. */
struct pt_found_taker {
    void (*found)(const struct pt_found *found, const char *bytes, size_t len); /* `len` 0: it could not be described */
    void (*again)(uint64_t key, uint64_t count);                                /* for the count-th time */
};
extern const struct pt_found_taker *pt_found_taker;
/* Reports it. It counts for the exit status, unless it is suppressed: false. `halt`: with halt_on_error this does not
 * return then. */
bool pt_found_report(struct pt_thread *self, const struct pt_found *found, bool halt);

/* The thread is the last, or the process ends: how often each was found goes to the observer. */
void pt_found_finish(struct pt_thread *self);
/* In a child that begins anew, and in another run of a function that is repeated: nothing was found yet. */
void pt_found_restart(void);

enum { PT_FOUND_KINDS = 1 << 13 };

#endif
