/*
 * What the predictors of races, deadlocks and lifetimes leave open is asked of the search in `values` (engine/wide):
 * whether some recorded events, one of a thread each, can come next together, after one that is to have happened.
 */
#ifndef PT_ENGINE_MEETING_H
#define PT_ENGINE_MEETING_H

#include "engine/check.h"
#include "engine/predict.h"

struct pt_wide_log;
struct pt_meeting {
    const struct pt_names *names;
    struct pt_check_options options;
    struct pt_wide_log *log; /* NULL: nobody asks */
    uint64_t deadline;       /* of all searches together; 0: none has begun */
    uint64_t *run;           /* what the latest one found: places of the log */
    uint64_t run_count;
    const char *mistake; /* a run that was found did not pass the judge: the answer is not whole; NULL */
};

/* Keeps events where the check's order is `values`, and as many as `auto` may where nobody asked for it by name. */
void pt_meeting_begin(struct pt_meeting *meeting, const struct pt_names *names, const struct pt_check_options *options);
void pt_meeting_end(struct pt_meeting *meeting);
void pt_meeting_event(struct pt_meeting *meeting, const struct pt_event *event);
size_t pt_meeting_bytes(const struct pt_meeting *meeting);

/* The events by their numbers among those of threads, from 1. True: there is a possible run after which all are next,
 * and it was played. False: there is none, or none was found in the check's effort. */
bool pt_meeting_find(struct pt_meeting *meeting, const uint64_t *events, uint32_t count);
/* The same after a run that has some others. */
bool pt_meeting_find_after(struct pt_meeting *meeting, const uint64_t *taken, uint32_t taken_count,
                           const uint64_t *next, uint32_t next_count);
/* The same for a read of the variable that would see this store of it; 0: none. */
bool pt_meeting_find_seeing(struct pt_meeting *meeting, uint32_t var, uint64_t store, uint64_t read);
/* When all events were given: none of these runs has an event without the other one before it. */
void pt_meeting_need(struct pt_meeting *meeting, uint64_t event, uint64_t needed);
/* When all events were given: is it a read that may see another write than it saw? */
bool pt_meeting_is_free(struct pt_meeting *meeting, uint64_t event);
/* The run becomes the finding's witness, one of these, with its schedule; witness_lost: it is too long, or one too
 * many. */
void pt_meeting_witness(const struct pt_meeting *meeting, struct pt_witnesses *witnesses, struct pt_finding *finding);

#endif
