/* Blocks that are atomic only as long as functions of which nobody knows anything keep to what they are handed. */
#ifndef PT_CLI_MODEL_DOUBT_H
#define PT_CLI_MODEL_DOUBT_H

#include "cli/model/cfront.h"
#include "net/atomicity.h"

/* `result` is of `program`, which was made of `sources`. Verdicts that such functions could change become unknown. */
void pt_model_doubt(struct pt_cfront_sources sources, const struct pt_program *program,
                    const struct pt_atomicity_options *options, struct pt_atomicity *result);

#endif
