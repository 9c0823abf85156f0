/* One exploration: runs of a program under schedules that a strategy chooses, and what failed. */
#ifndef PT_CLI_EXPLORE_EXPLORER_H
#define PT_CLI_EXPLORE_EXPLORER_H

#include <string.h>

#include "cli/common/analyse.h"
#include "cli/common/progress.h"
#include "cli/explore/founds.h"
#include "cli/explore/names.h"
#include "cli/explore/properties.h"
#include "explore/ahead.h"
#include "explore/crew.h"
#include "explore/story.h"
#include "explore/tactic.h"

/* What is asked for. */
struct pt_explore_request {
    const char *strategy;
    const char *path;             /* of the program */
    const char *const *arguments; /* argv, then NULL */
    uint64_t runs;                /* at most; UINT64_MAX: no limit */
    uint64_t time;                /* nanoseconds, 0: no limit */
    uint64_t run_timeout;         /* of one run, 0: no limit */
    uint64_t seed;
    uint64_t step_limit;
    uint32_t jobs, spurious, preemptions; /* preemptions: UINT32_MAX: any number */
    uint32_t checks;                      /* 1 << enum pt_found_check */
    bool predicts;                        /* recordings are predicted on, where the strategy makes some */
    bool keep_going, shrinks, late, stress, expects, quiet, json;
    bool falls_back; /* to runs without control, where there cannot be any */
    bool serves;     /* runs are copies of a process that has just been loaded; false: each is started anew */
    int expected;
    const char *schedule_path, *result_path; /* NULL: not asked for */
    struct pt_style style;
    bool progress;
    struct pt_explore_properties *properties; /* NULL: none */
    const char *delay;                        /* of --stress */
};

/* A failure that was seen. */
struct pt_explore_seen {
    struct pt_explore_failure failure;
    struct pt_explore_outcome outcome; /* of the first run that had it */
    struct pt_explore_input input;
    const char *by;
    uint64_t run, count;
    uint32_t shared; /* how many keys were shared in its run */
    bool reproduced;
    struct pt_explore_founds founds; /* what checks saw in that run */
    struct pt_finding *finding;      /* what it is more exactly: of `founds`, or of a recording; NULL: not known */
    char *schedule_file;             /* where it was written, NULL: nowhere */
};

struct pt_explore_recorded;
#define PT_EXPLORE_WILD "stress" /* who runs without control */

struct pt_explorer {
    const struct pt_explore_request *request;
    struct pt_explore_setup setup;
    struct pt_buf options; /* PORTENT_OPTIONS of controlled runs */
    struct pt_explore_crew *crew;
    struct pt_explore_places places;
    struct pt_explore_base base;
    struct pt_explore_expected expected;
    struct pt_explore_tactic *tactic;
    struct pt_explore_ahead ahead;
    struct pt_explore_passed passed;
    struct pt_explore_seen *seen;
    uint32_t seen_count;
    size_t seen_cap;
    uint32_t shared;                                         /* keys when the round began */
    struct pt_map64 by_key, schedules;                       /* failures by key; schedules that were seen, by hash */
    uint64_t runs, redundant, diverged, failing, unfinished; /* unfinished: ended by a limit */
    uint64_t distinct, threads, started;                     /* started: when, nanoseconds */
    uint32_t losses;
    bool reads_clock; /* the program does, while it has several threads */
    uint32_t lost_place;
    bool out_of_time, interrupted;
    bool unwritten;        /* something that was asked for could not be written */
    uint64_t escaped;      /* runs in which a thread left control for good */
    uint64_t controlled;   /* runs before control was given up */
    const char *fell_back; /* why it was; NULL: it was not */
    struct pt_progress progress;
    struct pt_program_names *names;
    struct pt_explore_properties *properties;         /* NULL: none */
    struct pt_finding *doubts[PT_EXPLORE_PROPERTIES]; /* why one could not be evaluated on a run; NULL: it could */
    uint64_t unshown;      /* properties of which a violation is predicted that no run has shown */
    bool partly;           /* not all orders of independent steps of a run could be looked at for its properties */
    bool torn;             /* the recording of a run that did not end by itself was not whole */
    struct pt_map64 tried; /* predicted violations, by property and place: how often they were run */
    struct pt_explore_recorded *first;       /* the first that properties were evaluated on; NULL: none was */
    struct pt_explore_recorded **recordings; /* that findings belong to */
    uint32_t recording_count;
    size_t recording_cap;
};

/* PT_EIO, PT_EINPUT (it is not instrumented): nothing can be said. */
enum pt_status pt_explorer_run(struct pt_explorer *explorer, const struct pt_explore_request *request,
                               struct pt_err *err) PT_WARN_UNUSED;
void pt_explorer_release(struct pt_explorer *explorer);

/* Whether it was seen in a run without control: there is no schedule. */
static inline bool pt_explore_is_wild(const struct pt_explore_seen *seen)
{
    return strcmp(seen->by, PT_EXPLORE_WILD) == 0;
}

/* For stress.c: whether another run is due; one that was done; how far it is. */
bool pt_explorer_goes_on(struct pt_explorer *explorer);
void pt_explorer_count(struct pt_explorer *explorer, const struct pt_explore_plan *plan,
                       const struct pt_explore_outcome *outcome);
void pt_explorer_show(struct pt_explorer *explorer);
/* One run; recorded, and judged by that, where the failure is of a property. True: it was done. */
bool pt_explorer_one(struct pt_explorer *explorer, const struct pt_explore_plan *plan,
                     const struct pt_explore_failure *failure, struct pt_explore_outcome *ret_outcome);
/* The same schedule once more, exactly, recorded if `record` is not NULL; true: it was done. */
bool pt_explorer_again(struct pt_explorer *explorer, const struct pt_explore_seen *seen, const char *record,
                       struct pt_explore_outcome *ret_outcome);
/* judge.c: which runs are to be recorded. */
void pt_explorer_ask(const struct pt_explorer *explorer, struct pt_explore_plan *plans, uint32_t count);
/* Counts a run, and reads its recording, if it has one: which properties it broke; and what it predicts. `index`: of
 * its round. */
void pt_explorer_read(struct pt_explorer *explorer, const struct pt_explore_plan *plan, uint32_t index,
                      struct pt_explore_outcome *outcome);
/* Which properties it broke, alone. */
void pt_explorer_judge(struct pt_explorer *explorer, const char *path, bool keeps, struct pt_explore_outcome *outcome);
/* What is a scheduling point has changed: predictions that could not be run may be able to now. */
void pt_explorer_predict_anew(struct pt_explorer *explorer);
/* failures.c: is each of what was seen seen again, with fewer switches? Fills in the rest of them. */
void pt_explorer_settle(struct pt_explorer *explorer);
/* result.c: everything as a result, printed and written; the exit status. */
int pt_explorer_report(struct pt_explorer *explorer);

#endif
