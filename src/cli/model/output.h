/* What `portent model` prints. */
#ifndef PT_CLI_MODEL_OUTPUT_H
#define PT_CLI_MODEL_OUTPUT_H

#include "net/atomicity.h"
#include "report/result.h"
#include "report/style.h"

struct pt_model_figures {
    double seconds;
    uint64_t peak_bytes;
};

struct pt_model_reported {
    const struct pt_program *program;
    const struct pt_atomicity *result;
    struct pt_block *blocks;       /* of pt_model_blocks, with those marked that do not count */
    struct pt_result suppressions; /* its suppressions alone */
};

/* Without their witnesses; the caller frees. */
struct pt_block *pt_model_blocks(const struct pt_program *program, const struct pt_atomicity *result);
void pt_model_text(const struct pt_model_reported *reported, const struct pt_style *style, struct pt_buf *buf);
void pt_model_json(const struct pt_model_reported *reported, bool all, const struct pt_model_figures *figures,
                   struct pt_buf *buf);

#endif
