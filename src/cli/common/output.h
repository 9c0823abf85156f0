/* What `check` and `run` print: at once while it streams, and at the end. */
#ifndef PT_CLI_COMMON_OUTPUT_H
#define PT_CLI_COMMON_OUTPUT_H

#include "cli/common/progress.h"
#include "cli/common/triage.h"
#include "engine/analysis.h"
#include "report/style.h"
#include "report/text.h"

struct pt_output_options {
    bool json, quiet;
    bool stream;    /* print violations as soon as they are found */
    bool on_stderr; /* text goes to standard error: standard output is not ours */
    struct pt_style style;
    const struct pt_triage *triage; /* what need not be reported at once */
    const char *process;            /* whose run it is about, where there may be several; NULL: that is clear */
};

struct pt_output {
    const struct pt_output_options *options;
    struct pt_progress progress;
    struct pt_pending_report *reported; /* what was printed already */
    uint32_t reported_count;
    size_t reported_cap;
    bool bounded;     /* the exploration keeps up with the trace */
    bool trace_ended; /* what is found now is reported with everything else */
    bool interrupted; /* the rest of the trace was not read */
    bool failed;      /* standard output could not be written; said already */
};

/* Hooks the output into the engine's options. */
void pt_output_begin(struct pt_output *output, const struct pt_output_options *options, bool progress,
                     struct pt_analysis_options *engine);
/* Warnings about names of properties that the trace never mentioned, one line per property. */
void pt_output_unseen(struct pt_output *output, struct pt_analysis *analysis, const struct pt_names *names,
                      const struct pt_properties *props);
/* Prints what is not printed yet, releases the output, and gives the exit status. */
int pt_output_end(struct pt_output *output, const struct pt_result *result);
/* The same without a result: an error is about to be printed instead. */
void pt_output_abandon(struct pt_output *output);

#endif
