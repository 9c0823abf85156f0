#include "core/ops.h"

const struct pt_op_row pt_op_rows[PT_OP_COUNT + 1] = {
#define PT_OP(id, word, space, access, value, thread, mttl)                                                            \
    [PT_OP_##id] = {word, PT_SPACE_##space, PT_ACCESS_##access, PT_VALUE_##value, PT_MTTL_##mttl, thread},
#include "core/ops.def"
    [PT_OP_COUNT] = {"", PT_SPACE_COUNT, PT_ACCESS_NONE, PT_VALUE_NEVER, PT_MTTL_OTHER, false},
};
