/* SARIF 2.1.0 (OASIS), within the limits that GitHub's code scanning documents. */
#ifndef PT_REPORT_SARIF_H
#define PT_REPORT_SARIF_H

#include "base/buf.h"
#include "report/result.h"

/* Paths below the folder `base` become relative to it; NULL or "": none does. */
void pt_report_sarif(const struct pt_loaded *loaded, const char *base, struct pt_buf *buf);

#endif
