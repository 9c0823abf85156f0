/* What `model` or `check --atomicity` found, as text. */
#ifndef PT_REPORT_BLOCKS_H
#define PT_REPORT_BLOCKS_H

#include "report/result.h"
#include "report/style.h"

/* One sentence for each block; a block that is not causally atomic with the run that shows it, and a SUMMARY line. */
void pt_report_blocks(const struct pt_loaded *loaded, const struct pt_style *style, struct pt_buf *buf);

#endif
