/* Pictures of traces, for `portent report`. */
#ifndef PT_CLI_COMMON_REPORT_TRACE_H
#define PT_CLI_COMMON_REPORT_TRACE_H

#include "base/buf.h"
#include "base/err.h"

/* Each reads and validates the trace at `path` and appends to `buf`; a torn trace is a warning on standard error. */
enum pt_status pt_report_trace_perfetto(const char *path, struct pt_buf *buf, struct pt_err *err) PT_WARN_UNUSED;
enum pt_status pt_report_trace_timeline(const char *path, struct pt_buf *buf, struct pt_err *err) PT_WARN_UNUSED;

#endif
