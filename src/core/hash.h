/* Hash functions of 64 bits, the same in the tools and in the monitored process. */
#ifndef PT_CORE_HASH_H
#define PT_CORE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* FNV-1a, byte by byte: the hash of nothing, of what was hashed before and one byte more, and likewise of several. It
 * finds damage and tells names apart; against malice it does not help. */
#define PT_FNV_NOTHING UINT64_C(0xcbf29ce484222325)
static inline uint64_t pt_fnv_byte(uint64_t hash, unsigned char byte)
{
    return (hash ^ byte) * UINT64_C(0x100000001b3);
}
static inline uint64_t pt_fnv(uint64_t hash, const void *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        hash = pt_fnv_byte(hash, ((const unsigned char *)bytes)[i]);
    return hash;
}

/* The finaliser of MurmurHash3, a bijection: every bit of the result depends on every bit of x. */
static inline uint64_t pt_mix64(uint64_t x)
{
    x ^= x >> 33;
    x *= UINT64_C(0xff51afd7ed558ccd);
    x ^= x >> 33;
    x *= UINT64_C(0xc4ceb9fe1a85ec53);
    x ^= x >> 33;
    return x;
}

#endif
