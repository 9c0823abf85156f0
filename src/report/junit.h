/* JUnit XML, for test runners. */
#ifndef PT_REPORT_JUNIT_H
#define PT_REPORT_JUNIT_H

#include "base/buf.h"
#include "report/result.h"

/* One test case per property, or per block of a model. */
void pt_report_junit(const struct pt_loaded *loaded, struct pt_buf *buf);

#endif
