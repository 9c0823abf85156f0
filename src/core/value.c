#include "core/value.h"

#include <string.h>

bool pt_value_same(struct pt_value a, struct pt_value b)
{
    if (a.kind != b.kind)
        return false;
    switch (a.kind) {
    case PT_VALUE_UNKNOWN:
        return true;
    case PT_VALUE_STRING:
        return a.len == b.len && memcmp(a.s, b.s, a.len) == 0;
    default:
        return a.u == b.u;
    }
}
