/* The atomic blocks of a recorded run, in the shape that `model` gives to those of a program. */
#ifndef PT_REPORT_ATOMICITY_H
#define PT_REPORT_ATOMICITY_H

#include "finding/blocks.h"
#include "report/json_writer.h"
#include "report/result.h"
#include "report/style.h"

/* A block without its events, its file's name in the arena. */
struct pt_block pt_atomicity_block(const struct pt_block_finding *block, struct pt_arena *arena);
/* One line for each block; after one that is not causally atomic, the events that show it; a line that counts. */
void pt_atomicity_text(const struct pt_block_findings *blocks, const struct pt_style *style, struct pt_buf *buf);
/* The members "blocks" and "atomicity" of an object. */
void pt_atomicity_json(struct pt_json *json, const struct pt_block_findings *blocks);

#endif
