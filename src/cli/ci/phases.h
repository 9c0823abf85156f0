/* What `portent ci` does, one after the other: the tests as they are, their recordings, their programs under other
 * schedules. */
#ifndef PT_CLI_CI_PHASES_H
#define PT_CLI_CI_PHASES_H

#include "cli/ci/plan.h"
#include "cli/common/options.h"
#include "cli/common/triage.h"

enum pt_ci_phase { PT_CI_RUN, PT_CI_PREDICT, PT_CI_EXPLORE, PT_CI_PHASES };

/* A result that a phase has written. */
struct pt_ci_result {
    char *path;
    uint64_t pid; /* of the process it is about, 0: there is one alone */
    char *program;
    bool of_run; /* the result of the tests themselves */
};

struct pt_ci {
    const char *folder; /* for everything that is written */
    const char *const *command;
    const char **properties, **baselines, **suppressions; /* files, then NULL */
    uint64_t budget;                                      /* nanoseconds, 0: no limit */
    bool skip[PT_CI_PHASES], keep;
    struct pt_triage triage;

    uint64_t began;
    struct pt_ci_plan plan; /* of the first run */
    bool planned, bad;      /* bad: `run` could not judge a property anywhere, and said so */
    int tests_status;       /* the command's own exit status */
    int run_status;         /* what `portent run` made of it */
    struct pt_ci_result *results;
    uint32_t result_count;
    size_t result_cap;
    struct pt_ci_row {
        bool done;
        double seconds;
        struct pt_buf words; /* what was done, or why it was not */
    } rows[PT_CI_PHASES];
    struct pt_buf reasons; /* why the answer is not whole, a line each */
    struct pt_buf notes;   /* what else was not done to its end, a line each */
};

/* PT_EUSAGE, PT_EINPUT: `run` refused the command line or the files, and said so. */
enum pt_status pt_ci_run(struct pt_ci *ci, struct pt_err *err) PT_WARN_UNUSED;
void pt_ci_predict(struct pt_ci *ci);
void pt_ci_explore(struct pt_ci *ci);

/* A file in the folder of everything that is written; the caller frees its name. */
char *pt_ci_file(const struct pt_ci *ci, const char *name);

#endif
