/* What is made of a group's three functions. Cost: one message of the size of the data from each to each. */
#include "engine/group.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void *pt_group_bytes_add(struct pt_group_bytes *bytes, size_t len)
{
    PT_GROW(bytes->data, bytes->cap, bytes->len + len);
    bytes->len += len;
    return bytes->data + bytes->len - len;
}

uint64_t pt_group_count(const struct pt_group *group, bool yes)
{
    uint64_t count = yes;
    if (pt_group_shares(group))
        group->sum(group->context, &count, 1);
    return count;
}

struct pt_group_bytes *pt_group_gather(const struct pt_group *group, const void *data, size_t len)
{
    struct pt_group_bytes *all = pt_xcalloc(group->size, sizeof *all), *out = pt_xcalloc(group->size, sizeof *out);
    for (uint32_t p = 0; p < group->size; p++)
        if (len)
            memcpy(pt_group_bytes_add(&out[p], len), data, len);
    group->exchange(group->context, out, all);
    pt_group_bytes_release(out, group->size);
    return all;
}

void pt_group_bytes_release(struct pt_group_bytes *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        free(list[i].data);
    free(list);
}

uint64_t pt_group_greatest(const struct pt_group *group, uint64_t value)
{
    if (!pt_group_shares(group))
        return value;
    struct pt_group_bytes *all = pt_group_gather(group, &value, sizeof value);
    for (uint32_t p = 0; p < group->size; p++) {
        uint64_t other;
        memcpy(&other, all[p].data, sizeof other);
        value = other > value ? other : value;
    }
    pt_group_bytes_release(all, group->size);
    return value;
}
