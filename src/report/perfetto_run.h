/* A violation's runs for the Perfetto trace viewer. */
#ifndef PT_REPORT_PERFETTO_RUN_H
#define PT_REPORT_PERFETTO_RUN_H

#include "base/buf.h"
#include "report/result.h"

/* Chrome's JSON trace format: a process for each run of each violation, a thread for each thread, one step per
 * microsecond, with a counter per variable and arrows for happens-before. */
void pt_report_perfetto_runs(const struct pt_loaded *loaded, struct pt_buf *buf);

#endif
