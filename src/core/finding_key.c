#include "core/finding_key.h"

#include <stdbool.h>
#include <string.h>

#include "core/hash.h"

static uint64_t hash(const char *text, size_t len)
{
    return pt_fnv(PT_FNV_NOTHING, text, len);
}

/* The same whichever of the two comes first; mixed first, because a sum of FNV hashes says little. */
static uint64_t both(uint64_t one, uint64_t other)
{
    uint64_t sum = pt_mix64(one) + pt_mix64(other);
    return sum ? sum : 1;
}

const char *pt_finding_key_next(const char *at)
{
    return at + 1 + (*at == '[' ? strspn(at + 1, "0123456789") : 0);
}

/* An address is no name. */
static uint64_t side(struct pt_finding_side side)
{
    uint64_t value = pt_fnv_byte(hash(side.place, strlen(side.place)), 0);
    if (strncmp(side.object, "0x", 2) == 0)
        return value;
    for (const char *at = side.object; *at; at = pt_finding_key_next(at))
        value = pt_fnv_byte(value, (unsigned char)*at);
    return value;
}

static bool is_known(const char *place)
{
    return place[0] && strcmp(place, "-") != 0;
}

uint64_t pt_finding_key_places(const char *one, const char *other)
{
    return is_known(one) && is_known(other) ? both(hash(one, strlen(one)), hash(other, strlen(other))) : 0;
}

uint64_t pt_finding_key_race(struct pt_finding_side one, struct pt_finding_side other)
{
    return both(side(one), side(other));
}

uint32_t pt_finding_key_thread(const char *name)
{
    size_t len = strlen(name), at = len;
    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
        at--;
    return (uint32_t)(at < len && at > 1 && name[at - 1] == '#' ? at - 1 : len);
}

uint64_t pt_finding_key_block(const char *block, const char *thread, const char *other)
{
    uint64_t threads = both(hash(thread, pt_finding_key_thread(thread)), hash(other, pt_finding_key_thread(other)));
    return both(threads, hash(block, strlen(block)));
}
