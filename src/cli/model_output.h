/* What `portent model` prints. */
#ifndef PT_CLI_MODEL_OUTPUT_H
#define PT_CLI_MODEL_OUTPUT_H

#include "net/atomicity.h"
#include "report/style.h"

struct pt_model_figures {
    double seconds;
    uint64_t peak_bytes;
};

void pt_model_text(const struct pt_program *program, const struct pt_atomicity *result, const struct pt_style *style,
                   struct pt_buf *buf);
void pt_model_json(const struct pt_program *program, const struct pt_atomicity *result, bool all,
                   const struct pt_model_figures *figures, struct pt_buf *buf);

#endif
