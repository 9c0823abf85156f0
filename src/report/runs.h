/* The actual run and the violating one, side by side. */
#ifndef PT_REPORT_RUNS_H
#define PT_REPORT_RUNS_H

#include "finding/finding.h"
#include "report/style.h"

/* True when the witness is the actual run itself, so that one column says it all. */
bool pt_runs_same(const struct pt_finding *finding);
/* One row per event; long runs are shown by their beginning, the violation and their end. */
void pt_runs_write(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf);

#endif
