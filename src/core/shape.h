/* The memory of a program's variable as a value, by its size and type. */
#ifndef PT_CORE_SHAPE_H
#define PT_CORE_SHAPE_H

#include "core/channel.h"
#include "core/value.h"

struct pt_shape {
    uint32_t size;                 /* bytes */
    uint32_t type;                 /* enum pt_watch_type */
    uint32_t bit_offset, bit_size; /* of a bit-field; 0: none */
};

/* PT_VALUE_UNKNOWN where 64 bits cannot hold it. A string points into `bytes`, of which there are `size`. */
struct pt_value pt_shape_value(const struct pt_shape *shape, const unsigned char *bytes);

#endif
