/* The part of a report that only violations have. */
#ifndef PT_REPORT_VIOLATION_H
#define PT_REPORT_VIOLATION_H

#include "finding/finding.h"
#include "report/style.h"

/* The sentence, the runs, the truth of subformulas, the reasons, what was explored, and the SUMMARY line. */
void pt_violation_write(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf);
/* "SUMMARY: portent: predicted violation of 'p' at ...", one line for scripts that look for it. */
void pt_violation_summary(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf);

#endif
