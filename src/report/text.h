/* Reports for people. */
#ifndef PT_REPORT_TEXT_H
#define PT_REPORT_TEXT_H

#include "finding/finding.h"
#include "report/style.h"

/* All about one property: a line or two, or, for a violation, the runs and the reasons, with a SUMMARY line at the end.
 */
void pt_report_text(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf);
/* What is new at the end of a trace about a violation that pt_report_text has told of when it was found as `how`. */
void pt_report_text_again(const struct pt_finding *finding, enum pt_how how, const struct pt_style *style,
                          struct pt_buf *buf);

#endif
