/*
 * The processor's atomic operations, for access.c. They are performed as such even though the granule is locked: code
 * that is not instrumented sees the same memory. The strongest order is always right; only a store gains from a weaker
 * one, and it may have it, since the granule's lock is no weaker than release.
 */
#ifndef PT_RUNTIME_SHADOW_NATIVE_H
#define PT_RUNTIME_SHADOW_NATIVE_H

#include "core/hooks.h"

#define NATIVE(bytes, type)                                                                                            \
    static inline type native_load##bytes(const void *address)                                                         \
    {                                                                                                                  \
        return __atomic_load_n((const type *)address, __ATOMIC_SEQ_CST);                                               \
    }                                                                                                                  \
    static inline void native_store##bytes(void *address, type value, int order)                                       \
    {                                                                                                                  \
        if (order == __ATOMIC_SEQ_CST)                                                                                 \
            __atomic_store_n((type *)address, value, __ATOMIC_SEQ_CST);                                                \
        else                                                                                                           \
            __atomic_store_n((type *)address, value, __ATOMIC_RELEASE);                                                \
    }                                                                                                                  \
    static inline type native_cas##bytes(void *address, type expected, type desired)                                   \
    {                                                                                                                  \
        return __sync_val_compare_and_swap((type *)address, expected, desired);                                        \
    }

NATIVE(1, uint8_t)
NATIVE(2, uint16_t)
NATIVE(4, uint32_t)
NATIVE(8, uint64_t)

/* 16 bytes: the processor's compare-and-swap is its only atomic access; libatomic agrees with it. */
static inline pt_u128 native_cas16(void *address, pt_u128 expected, pt_u128 desired)
{
    return __sync_val_compare_and_swap((pt_u128 *)address, expected, desired);
}
static inline pt_u128 native_load16(const void *address)
{
    return native_cas16((void *)(uintptr_t)address, 0, 0);
}
static inline void native_store16(void *address, pt_u128 value, int order)
{
    (void)order;
    pt_u128 seen = native_load16(address), before;
    while ((before = native_cas16(address, seen, value)) != seen)
        seen = before;
}

#define NATIVE_RMW(bytes, type, signed_type)                                                                           \
    static inline type apply##bytes(type old, type operand, int op)                                                    \
    {                                                                                                                  \
        switch ((enum pt_rmw_op)op) {                                                                                  \
        case PT_RMW_XCHG:                                                                                              \
            return operand;                                                                                            \
        case PT_RMW_ADD:                                                                                               \
            return (type)(old + operand);                                                                              \
        case PT_RMW_SUB:                                                                                               \
            return (type)(old - operand);                                                                              \
        case PT_RMW_AND:                                                                                               \
            return old & operand;                                                                                      \
        case PT_RMW_NAND:                                                                                              \
            return (type) ~(old & operand);                                                                            \
        case PT_RMW_OR:                                                                                                \
            return old | operand;                                                                                      \
        case PT_RMW_XOR:                                                                                               \
            return old ^ operand;                                                                                      \
        case PT_RMW_MAX:                                                                                               \
            return (signed_type)old > (signed_type)operand ? old : operand;                                            \
        case PT_RMW_MIN:                                                                                               \
            return (signed_type)old < (signed_type)operand ? old : operand;                                            \
        case PT_RMW_UMAX:                                                                                              \
            return old > operand ? old : operand;                                                                      \
        case PT_RMW_UMIN:                                                                                              \
            return old < operand ? old : operand;                                                                      \
        }                                                                                                              \
        return old;                                                                                                    \
    }                                                                                                                  \
    static inline type retry_rmw##bytes(void *address, type operand, int op)                                           \
    {                                                                                                                  \
        type seen = native_load##bytes(address), before;                                                               \
        while ((before = native_cas##bytes(address, seen, apply##bytes(seen, operand, op))) != seen)                   \
            seen = before;                                                                                             \
        return seen;                                                                                                   \
    }

NATIVE_RMW(1, uint8_t, int8_t)
NATIVE_RMW(2, uint16_t, int16_t)
NATIVE_RMW(4, uint32_t, int32_t)
NATIVE_RMW(8, uint64_t, int64_t)
NATIVE_RMW(16, pt_u128, __int128)

/* What the processor has an instruction for need not be tried again where others change the object, too. */
#define NATIVE_SINGLE(bytes, type)                                                                                     \
    static inline type native_rmw##bytes(void *address, type operand, int op)                                          \
    {                                                                                                                  \
        switch ((enum pt_rmw_op)op) {                                                                                  \
        case PT_RMW_XCHG:                                                                                              \
            return __atomic_exchange_n((type *)address, operand, __ATOMIC_SEQ_CST);                                    \
        case PT_RMW_ADD:                                                                                               \
            return __atomic_fetch_add((type *)address, operand, __ATOMIC_SEQ_CST);                                     \
        case PT_RMW_SUB:                                                                                               \
            return __atomic_fetch_sub((type *)address, operand, __ATOMIC_SEQ_CST);                                     \
        default:                                                                                                       \
            return retry_rmw##bytes(address, operand, op);                                                             \
        }                                                                                                              \
    }

NATIVE_SINGLE(1, uint8_t)
NATIVE_SINGLE(2, uint16_t)
NATIVE_SINGLE(4, uint32_t)
NATIVE_SINGLE(8, uint64_t)

static inline pt_u128 native_rmw16(void *address, pt_u128 operand, int op)
{
    return retry_rmw16(address, operand, op);
}

#endif
