/* Confirming findings by running the program again: the part that `confirm` and `run --confirm` share. */
#ifndef PT_CLI_RUN_CONFIRM_RESULT_H
#define PT_CLI_RUN_CONFIRM_RESULT_H

#include "cli/run/replay.h"

enum {
    PT_CONFIRM_SECONDS = 10, /* how long a step may take, unless --timeout says otherwise */
    PT_CONFIRM_MOST = 20,    /* findings, each a run of the program, unless --limit says otherwise */
};
enum { PT_STATUS_UNKNOWN = -1 };
#define PT_OPTION_TIMEOUT                                                                                              \
    {                                                                                                                  \
        "timeout", 0, "SECONDS", NULL,                                                                                 \
            "when confirming, how long the program may take for one step, and to end afterwards (default: 10)"         \
    }

struct pt_confirm_counts {
    uint32_t confirmed, not_reproduced, refused;
    uint32_t left_out; /* past PT_CONFIRM_MOST */
    uint32_t failed;   /* of those tried: the program's own check failed, too */
    uint32_t observed; /* of those tried: blocks, which are no predictions */
};

/*
 * Runs the program once for each predicted violation and each disturbed block of the result that counts (and has this
 * name and id, where they are given), reports on standard error how it went unless it is to be quiet, and notes it in
 * the findings. An error is one of the first run that cannot take place.
 */
struct pt_confirm {
    struct pt_replay_options replay;
    struct pt_style style;
    bool quiet;
    const char *name, *id;      /* NULL: any */
    uint32_t limit;             /* so many runs at most, 0: PT_CONFIRM_MOST */
    int usual;                  /* the program's exit status in an ordinary run; PT_STATUS_UNKNOWN: it is tried where it
                                   matters */
    bool asked_usual;           /* it was */
    struct pt_finding **blocks; /* of --atomicity, as findings; what the result's blocks have of them lives as long */
    uint32_t block_count;
    size_t block_cap;
};
enum pt_status pt_confirm_result(struct pt_confirm *confirm, struct pt_result *result,
                                 struct pt_confirm_counts *ret_counts, struct pt_err *err) PT_WARN_UNUSED;

/* When the result was written. */
void pt_confirm_release(struct pt_confirm *confirm);
/* How many there were of each, on standard error; some were tried. */
void pt_confirm_summary(const struct pt_confirm_counts *counts);

#endif
