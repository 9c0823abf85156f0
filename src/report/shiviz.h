/* Logs for ShiViz, which draws space-time diagrams from vector clocks. */
#ifndef PT_REPORT_SHIVIZ_H
#define PT_REPORT_SHIVIZ_H

#include "base/buf.h"
#include "report/result.h"

/* Each violation as two executions: the violating run and the actual one. */
void pt_report_shiviz(const struct pt_loaded *loaded, struct pt_buf *buf);

#endif
