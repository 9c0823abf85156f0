/* Reports for people. */
#ifndef PT_REPORT_TEXT_H
#define PT_REPORT_TEXT_H

#include "finding/finding.h"
#include "report/style.h"

/* All about one property: a line or two, or, for a violation, the runs and the reasons, with a SUMMARY line at the end.
 */
void pt_report_text(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf);

/* One line, for the moment in which the actual run breaks a property, by `step` (NULL: in the initial state).
 * `reported`: a predicted violation of it was printed before; otherwise its report is still to come. */
void pt_report_text_observed(const struct pt_finding *finding, const struct pt_step *step, bool reported,
                             struct pt_buf *buf);

/* A finding as it was when pt_report_text described it before the end of the trace. */
struct pt_pending_report {
    const struct pt_finding *finding;
    enum pt_how how;
    uint64_t levels, states;
};
/* What is new at the end of the trace about a violation. */
void pt_report_text_later(const struct pt_finding *finding, const struct pt_pending_report *reported,
                          const struct pt_style *style, struct pt_buf *buf);

#endif
