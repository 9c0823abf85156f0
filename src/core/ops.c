#include "core/ops.h"

#define PT_WIRE_NUMBER_UNSENT()           0
#define PT_WIRE_NUMBER_SENT(name, number) (number)

const char *const pt_memory_words[PT_MEMORY_COUNT] = {"", "relaxed", "acquire", "release", "acq_rel", "seq_cst"};

const struct pt_op_row pt_op_rows[PT_OP_COUNT + 1] = {
#define PT_OP(id, word, space, access, value, thread, mttl, channel, wire, ...)                                        \
    [PT_OP_##id] = {word,                                                                                              \
                    PT_SPACE_##space,                                                                                  \
                    PT_ACCESS_##access,                                                                                \
                    PT_VALUE_##value,                                                                                  \
                    PT_MTTL_##mttl,                                                                                    \
                    PT_WIRE_NUMBER_##wire(__VA_ARGS__),                                                                \
                    thread},
#include "core/ops.def"
    [PT_OP_COUNT] = {"", PT_SPACE_COUNT, PT_ACCESS_NONE, PT_VALUE_NEVER, PT_MTTL_OTHER, 0, false},
};

const struct pt_kind_row pt_kind_rows[PT_KIND_COUNT + 1] = {
#define PT_KIND(kind, op, by)                                             [PT_KIND_##kind] = {PT_OP_##op, PT_BY_##by},
#define PT_OP(id, word, space, access, value, thread, mttl, channel, ...) PT_CHANNEL_##channel(id)
#include "core/ops.def"
    [PT_KIND_FREED] = {PT_OP_COUNT, PT_BY_EXTENT},
    [PT_KIND_NAMED] = {PT_OP_COUNT, PT_BY_NOTHING},
    [PT_KIND_COUNT] = {PT_OP_COUNT, PT_BY_NOTHING},
};
