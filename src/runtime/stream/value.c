/* Values of watched variables as the stream has them: what core/shape.c makes of the variable's memory, as bytes. */
#include <string.h>

#include "core/shape.h"
#include "runtime/stream/impl.h"

uint32_t pt_stream_value(const struct pt_watched *watched, unsigned char *out, uint16_t *ret_bytes)
{
    bool text = watched->type == PT_WATCH_CHARS;
    struct pt_shape shape = {.size = text && watched->size > PT_STREAM_TEXT ? PT_STREAM_TEXT : watched->size,
                             .type = watched->type,
                             .bit_offset = watched->bit_offset,
                             .bit_size = watched->bit_size};
    struct pt_value value = pt_shape_value(&shape, watched->last);
    *ret_bytes = value.kind == PT_VALUE_UNKNOWN ? 0 : text ? (uint16_t)value.len : sizeof value.u;
    memcpy(out, text ? value.s : (const char *)&value.u, *ret_bytes);
    return value.kind;
}
