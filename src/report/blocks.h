/* What was found about atomic blocks, as text: `model`, `check --atomicity` and `report` put theirs together from
 * these. */
#ifndef PT_REPORT_BLOCKS_H
#define PT_REPORT_BLOCKS_H

#include "report/json_writer.h"
#include "report/result.h"
#include "report/style.h"

/* A line: where the block is, and whether it is causally atomic. */
void pt_blocks_verdict(const struct pt_block *block, const struct pt_style *style, struct pt_buf *buf);
/* A run that shows that a block is not, and for each violated block a line for scripts. */
void pt_blocks_run(const struct pt_block_step *steps, uint32_t count, bool of_run, const struct pt_style *style,
                   struct pt_buf *buf);
void pt_blocks_summary(const struct pt_block *block, const struct pt_style *style, struct pt_buf *buf);
/* How many are, are not, or may be; `limit` is why, or NULL. */
void pt_blocks_count(const struct pt_block *blocks, uint32_t count, const char *limit, const struct pt_style *style,
                     struct pt_buf *buf);
/* The members of a block that hold its id, why it does not count, and in how many results it was found. */
void pt_blocks_json_suppressed(const struct pt_block *block, struct pt_json *json);
/* All of it. */
void pt_report_blocks(const struct pt_loaded *loaded, const struct pt_style *style, struct pt_buf *buf);

#endif
