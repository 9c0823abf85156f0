/*
 * Which variables no run of the same events has a race on, since locks guard them, or none that anybody still asks for:
 * what the predictors of races need not look at.
 */
#ifndef PT_ENGINE_RACES_GUARDED_H
#define PT_ENGINE_RACES_GUARDED_H

#include "base/table.h"
#include "engine/held.h"

enum {
    GUARDED_PLACES = 4,     /* of a variable that are told apart; all others are one */
    GUARDED_MANY = PT_NONE, /* threads */
    GUARDED_MET = 1 << 10,  /* intersections that are remembered */
};
struct pt_guarded {
    struct guarded_var {
        struct guarded_place {
            uint32_t place;  /* twice plus 1 if it is written there, plus 1; 0: none yet */
            uint32_t guards; /* locks that every access there has had: a set, plus 1 */
            uint32_t thread; /* who accesses it there, plus 1 */
        } places[GUARDED_PLACES + 1];
        uint8_t plain;     /* a bit for each place: some access there was not atomic */
        bool rest_written; /* some of the others */
        bool early;        /* it was accessed before the first fork */
    } * vars;
    size_t var_cap;
    struct guarded_thread {
        struct pt_held held;
        uint32_t set; /* plus 1; 0: to be looked up */
    } * threads;
    size_t thread_cap;
    uint32_t *alone; /* by a lock's number in a set: the set of it alone, plus 1 */
    size_t alone_cap;
    struct pt_strtab sets; /* a set is its locks' ids, twice plus 1 if shared, ascending */
    struct guarded_met {
        uint32_t one, other, both; /* sets, plus 1 */
    } * met;
    bool forked; /* some thread was */
};

void pt_guarded_begin(struct pt_guarded *guarded);
void pt_guarded_end(struct pt_guarded *guarded);
size_t pt_guarded_bytes(const struct pt_guarded *guarded);
void pt_guarded_event(struct pt_guarded *guarded, const struct pt_event *event);

typedef bool pt_guarded_asks(void *context, uint32_t var, uint32_t loc, uint32_t other_loc);
/* When all events were met: whether the variable may have a race at two places that are asked for; NULL: all are. Where
 * several threads (`roots`) began without a fork, what came before the first fork counts, too. */
bool pt_guarded_is_open(const struct pt_guarded *guarded, const struct pt_names *names, uint32_t roots, uint32_t var,
                        pt_guarded_asks *asks, void *context);
/* The same of each variable. Allocated; NULL: none may. */
bool *pt_guarded_candidates(const struct pt_guarded *guarded, const struct pt_names *names, uint32_t roots,
                            pt_guarded_asks *asks, void *context);

#endif
