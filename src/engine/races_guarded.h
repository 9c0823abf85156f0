/*
 * Which variables no run of the same events has a race on, since one lock guards them, or none that anybody still asks
 * for: what the predictors of races need not look at.
 */
#ifndef PT_ENGINE_RACES_GUARDED_H
#define PT_ENGINE_RACES_GUARDED_H

#include "base/table.h"
#include "engine/held.h"

enum { GUARDED_PLACES = 4 };
struct pt_guarded {
    struct guarded_var {
        uint32_t thread; /* of its first access, plus 1; 0: none */
        uint32_t guards; /* locks that every access so far has had, every write alone: a set, plus 1; 0: not yet any */
        uint32_t latest; /* the set of the latest access, plus 2 */
        uint8_t written; /* bit 0: it was; bit 1: by the latest access */
        bool shared;     /* several threads access it */
        bool early;      /* it was accessed before the first fork */
        bool scattered;  /* at more places than are kept: */
        uint32_t places[GUARDED_PLACES]; /* twice plus 1 if it is written there, plus 1; 0: no more */
    } * vars;
    size_t var_cap;
    struct guarded_thread {
        struct pt_held held;
        uint32_t set; /* plus 2; 0: to be looked up */
        bool acted;
    } * threads;
    size_t thread_cap;
    uint32_t *alone; /* by a lock's number in a set: the set of it alone, plus 1 */
    size_t alone_cap;
    struct pt_strtab sets; /* a set is its locks' ids, twice plus 1 if shared, ascending */
    bool forked;           /* some thread was */
};

void pt_guarded_begin(struct pt_guarded *guarded);
void pt_guarded_end(struct pt_guarded *guarded);
size_t pt_guarded_bytes(const struct pt_guarded *guarded);
void pt_guarded_event(struct pt_guarded *guarded, const struct pt_event *event);

/* Of each variable up to `count` whether it may have a race; all of them, where several threads began without a fork.
 * Allocated; NULL: none may. */
bool *pt_guarded_candidates(const struct pt_guarded *guarded, const struct pt_names *names, uint32_t roots);
/* Takes those away that have few places, and of no two of these a race is asked for; NULL: none is left. */
typedef bool pt_guarded_asks(void *context, uint32_t var, uint32_t loc, uint32_t other_loc);
bool *pt_guarded_asked(const struct pt_guarded *guarded, const struct pt_names *names, uint32_t roots, bool *candidates,
                       pt_guarded_asks *asks, void *context);

#endif
