/* Races of other runs from the inside, split between its files: races_predict.c has those of the order `sync` and makes
 * findings, races_reverse.c those that need another order of locks. */
#ifndef PT_ENGINE_RACES_PREDICT_H
#define PT_ENGINE_RACES_PREDICT_H

#include "engine/meeting.h"
#include "engine/predict.h"
#include "engine/races.h"
#include "engine/races_guarded.h"
#include "predict/replays.h"
#include "predict/slices.h"

/* A race, or what may be one. */
struct races_predicted {
    uint64_t key; /* core/finding_key.h */
    uint64_t at;  /* the place in the log of the event at which it was found */
    uint32_t var;
    uint32_t first, second; /* their threads */
    uint64_t first_number, second_number;
    uint32_t first_locks, second_locks; /* sets of syncp */
    uint64_t *set;                      /* the run, or what both need; of `threads` threads */
    uint32_t threads;
};

struct races_predict {
    struct races_pool pool; /* its own, so that it can be given back */
    struct pt_race_memory memory;
    struct pt_guarded guarded;
    bool *candidates;           /* variables that may have a race; NULL: none */
    bool *own;                  /* those of them that are this process's, where several divide them */
    uint32_t roots, looked_for; /* threads that nobody forked; how many variables of these are left */
    uint64_t at;                /* the place in the log that is looked at */
    struct pt_log log;
    struct races_ended { /* threads that said so, before which event of the log */
        uint64_t at;
        uint32_t thread;
    } * ended;
    uint32_t ended_count;
    size_t ended_cap;
    struct pt_trf_future *futures; /* of threads */
    size_t future_cap;
    struct pt_trf trf; /* of the second look */
    struct pt_syncp syncp;
    struct races_predicted *found; /* the first race of each pair of places */
    uint32_t count;
    size_t cap;
    struct pt_map64 index; /* by key */
    struct pt_map64 open;  /* by variable and places: whether somebody asks for a race there, if it was looked up */
    struct pt_witnesses witnesses;
    struct pt_meeting meeting;
    /* --near: after every so many events all before two such steps are taken to be needed by all. */
    uint64_t step;
    struct pt_vec *steps[2]; /* the run at the two latest steps */
};

uint64_t pt_races_predicted_key(const struct races *r, const struct pt_syncp_race *race);
/* Whether it is worth while to look for races of these two groups (a pt_syncp_asks_for of struct races). */
bool pt_races_predicted_is_open(struct races *r, const struct pt_syncp_group *one, const struct pt_syncp_group *other);
/* Somebody asks for it, and has no race of the recorded run at that pair of places. */
bool pt_races_predicted_is_asked(const struct races *r, const struct races_predicted *race);
void pt_races_predicted_add(struct races_predict *p, uint64_t key, const struct pt_syncp_race *race);
/* The two accesses, which the meeting has found a run for. */
void pt_races_predicted_meet(struct races *r, const struct races_predicted *race, const struct pt_log_event *one,
                             const struct pt_log_event *other);
/* A finding of it, if the run (struct pt_replay_run) is a possible one and leads there. */
bool pt_races_predicted_report(struct races *r, const struct races_predicted *race, const uint64_t *first,
                               const uint64_t *upto, const char *order);

/* races_divided.c: whether several processes divide the variables; which of the candidates are this one's; and after
 * that what all of them found, as if one had. */
bool pt_races_divides(const struct races *r);
void pt_races_keep_own(const struct races *r, const bool *candidates, bool *own);
void pt_races_gather(struct races *r);

/* Those that neither the recorded run nor `sync` has. */
void pt_races_reverse(struct races *r);

#endif
