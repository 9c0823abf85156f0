/* What the phases of `portent ci` found, as one result and as reports of it. */
#ifndef PT_CLI_CI_SUMMARY_H
#define PT_CLI_CI_SUMMARY_H

#include "cli/ci/phases.h"
#include "report/style.h"

struct pt_ci_counts {
    uint32_t observed, predicted, other; /* violations that count */
};

/* Writes result.json and the reports beside it, and appends the text report to `text`. */
enum pt_status pt_ci_summarise(struct pt_ci *ci, const struct pt_style *style, struct pt_ci_counts *ret_counts,
                               struct pt_buf *text, struct pt_err *err) PT_WARN_UNUSED;

#endif
