#include "core/finding_key.h"

#include <string.h>

/* FNV-1a. */
static uint64_t hash_byte(uint64_t value, char byte)
{
    return (value ^ (unsigned char)byte) * UINT64_C(0x100000001b3);
}

static uint64_t hash(const char *text, size_t len)
{
    uint64_t value = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < len; i++)
        value = hash_byte(value, text[i]);
    return value;
}

/* Every bit of the result depends on every bit (MurmurHash3's finaliser): sums of such numbers say something. */
static uint64_t mix(uint64_t value)
{
    value = (value ^ value >> 33) * UINT64_C(0xff51afd7ed558ccd);
    value = (value ^ value >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return value ^ value >> 33;
}

/* The same whichever of the two comes first. */
static uint64_t both(uint64_t one, uint64_t other)
{
    uint64_t sum = mix(one) + mix(other);
    return sum ? sum : 1;
}

const char *pt_finding_key_next(const char *at)
{
    return at + 1 + (*at == '[' ? strspn(at + 1, "0123456789") : 0);
}

/* An address is no name. */
static uint64_t side(struct pt_finding_side side)
{
    uint64_t value = hash_byte(hash(side.place, strlen(side.place)), 0);
    if (strncmp(side.object, "0x", 2) == 0)
        return value;
    for (const char *at = side.object; *at; at = pt_finding_key_next(at))
        value = hash_byte(value, *at);
    return value;
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
