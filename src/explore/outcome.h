/* What one controlled run is to do, what it did, and whether that is a failure. */
#ifndef PT_EXPLORE_OUTCOME_H
#define PT_EXPLORE_OUTCOME_H

#include "core/explore.h"

/* What a run is to do (core/explore.h). `input.run` is filled in by whoever hands it to a program. */
struct pt_explore_plan {
    struct pt_explore_input input;
    struct pt_explore_stretch *prefix;       /* input.prefix_count of them; owned */
    const struct pt_explore_weight *weights; /* input.weight_count of them; not owned */
    const char *by;                          /* the strategy's name, for people */
    uint32_t tag;                            /* the strategy's own */
    bool ahead; /* nobody has asked for it yet: what it finds to be shared is not, until somebody does */
};
void pt_explore_plan_release(struct pt_explore_plan *plan);

/* What one of the program's own checks found in a run (struct pt_explore_found). */
struct pt_explore_report {
    uint64_t key, step, count;
    uint32_t check, bytes;
    char *text; /* so many bytes, as core/found.h has them */
};

/* What it did, copied out of the file. Places in steps and threads are those of struct pt_explore_places once they have
 * been taken in there. */
struct pt_explore_outcome {
    bool done;    /* it was run at all */
    bool started; /* under control; false: the program is not instrumented, or ended before */
    bool timed_out;
    uint32_t wait_status;
    struct pt_explore_result result;
    struct pt_explore_stretch *taken;
    uint32_t taken_count;
    struct pt_explore_step *steps; /* NULL without PT_EXPLORE_LOGS */
    uint32_t step_count;           /* in the table: all, if result.step_count is no more */
    struct pt_explore_thread *threads;
    uint32_t thread_count;
    char *output; /* the last it printed, NUL-terminated; NULL: nothing */
    uint32_t job;
    uint64_t *met; /* keys of places that it found to be shared */
    uint32_t met_count;
    struct pt_explore_report *reports;
    uint32_t report_count;
    uint64_t broken; /* properties that it broke, by their numbers, as whoever read its recording says */
};
void pt_explore_outcome_release(struct pt_explore_outcome *outcome);
/* Everything of it. */
void pt_explore_outcome_copy(const struct pt_explore_outcome *outcome, struct pt_explore_outcome *ret_copy);

/* It did not end in time, and that may be because of how it is run: threads left control, or a timer was set whose time
 * never came. */
bool pt_explore_outcome_is_held(const struct pt_explore_outcome *outcome);

/* Whether it is a result: it went to an end of its own, and is no repetition of another one. */
static inline bool pt_explore_outcome_counts(const struct pt_explore_outcome *o)
{
    return o->done && o->started && o->result.end != PT_EXPLORE_REDUNDANT && o->result.end != PT_EXPLORE_DIVERGED;
}
/* Whether the whole run stands in its tables. */
static inline bool pt_explore_outcome_is_whole(const struct pt_explore_outcome *o)
{
    return o->steps && o->step_count == o->result.step_count && o->result.end != PT_EXPLORE_FULL;
}
/* Whether the process ended by itself, or was ended, in the middle of a step. */
static inline bool pt_explore_outcome_is_over(const struct pt_explore_outcome *o)
{
    return o->result.end == PT_EXPLORE_RUNNING;
}

/* X(name, word): what a failure is. */
#define PT_EXPLORE_FAILURES(X)                                                                                         \
    X(NONE, "")                                                                                                        \
    X(SIGNAL, "signal")                                                                                                \
    X(STATUS, "status")                                                                                                \
    X(DEADLOCK, "deadlock") /* threads wait for each other in a circle */                                              \
    X(STUCK, "stuck")       /* nobody can go on, and there is no circle: a lost wake-up */                             \
    X(LIVELOCK, "livelock")                                                                                            \
    X(TIMEOUT, "timeout")                                                                                              \
    X(RACE, "race")                                                                                                    \
    X(LIFETIME, "lifetime")                                                                                            \
    X(PROPERTY, "property")
#define PT_EXPLORE_FAILURE_NAME(name, word) PT_EXPLORE_FAILS_##name,
enum pt_explore_failure_kind { PT_EXPLORE_FAILURES(PT_EXPLORE_FAILURE_NAME) PT_EXPLORE_FAILURE_COUNT };
#undef PT_EXPLORE_FAILURE_NAME
extern const char *const pt_explore_failure_words[PT_EXPLORE_FAILURE_COUNT];

struct pt_explore_failure {
    enum pt_explore_failure_kind kind;
    uint64_t key;    /* the same failure has the same one in every run */
    int number;      /* of the signal, or the status */
    int ordinary;    /* of a status: what it should have been, ... */
    bool measured;   /* ... since a run without control had it */
    uint32_t thread; /* who had the turn; PT_EXPLORE_NO_SLOT: nobody */
    uint32_t report; /* of what a check found: 1 + its index in the outcome's; else 0 */
};

/* What counts as an ordinary end. */
struct pt_explore_expected {
    bool killed;   /* the run without control was killed by a signal: `status` is not its own then */
    bool measured; /* `status` is that of a run without control */
    int status;
    uint32_t checks; /* 1 << enum pt_found_check: findings of the program's own checks that are failures */
};

/* A property, by its number, is broken. */
struct pt_explore_failure pt_explore_broken(uint32_t property);

struct pt_explore_places;
/* What failed in a run, each once: what its process did, then what its checks found, misuse of memory first, then the
 * properties that it broke. Places of `outcome` must have been taken in. Returns how many. */
enum { PT_EXPLORE_REPORTS = 16, PT_EXPLORE_FAILURES_MAX = 1 + PT_EXPLORE_REPORTS + 64 };
uint32_t pt_explore_failures(const struct pt_explore_outcome *outcome, const struct pt_explore_expected *expected,
                             const struct pt_explore_places *places,
                             struct pt_explore_failure ret_failures[PT_EXPLORE_FAILURES_MAX]);
/* The first of them; NONE: it ended as it should, or says nothing. */
struct pt_explore_failure pt_explore_failure(const struct pt_explore_outcome *outcome,
                                             const struct pt_explore_expected *expected,
                                             const struct pt_explore_places *places);
/* Slots that wait for each other in a circle, in its order; 0: there is none. */
uint32_t pt_explore_circle(const struct pt_explore_outcome *outcome, uint32_t ret_slots[PT_EXPLORE_THREADS]);

#endif
