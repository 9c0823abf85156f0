/*
 * Loads, stores and atomic operations of up to 16 bytes.
 *
 * A hook performs the access itself, so the order it records is the order that happened. Three ways through:
 *   - nothing to record: a test of one flag, then the access;
 *   - a read of a granule that already has this thread's clock: the word is checked, the value loaded, the word checked
 * again; whatever another thread did in between shows in the word, or had the same clock and is no news;
 *   - a write of such a granule: held by one compare-and-swap; everything else: hold.c.
 *
 * Atomic operations are performed as such even though the granule is held: code that is not instrumented sees the same
 * memory.
 */
#pragma GCC visibility push(default)
#include "core/hooks.h"
#pragma GCC visibility pop

#include <string.h>

#include "runtime/hold.h"
#include "runtime/shadow.h"

/* An access inside the runtime, by a handler that signal.c does not know of: if it may be relevant, say that something
 * was lost. */
static void count_lost(uintptr_t address)
{
    pt_shadow_word *word = pt_shadow_peek(address);
    uint64_t seen = word ? atomic_load_explicit(word, memory_order_relaxed) : 0;
    if (seen & PT_SHADOW_FINE && pt_fines[pt_shadow_access(seen)].watch)
        atomic_fetch_add_explicit(&pt_channel->dropped, 1, memory_order_relaxed);
}

/* The thread if this access is to be recorded; NULL otherwise. */
static struct pt_thread *recorder(const void *address)
{
    struct pt_thread *self = pt_thread_self();
    if (!self || !pt_address_ok((uintptr_t)address))
        return NULL;
    if (self->busy)
        count_lost((uintptr_t)address);
    return self->busy ? NULL : self;
}

/*
 * Returns the value if the granule is as the read would leave it. The word is checked, the value loaded, the word
 * checked again. acquire: partner of pt_granule_let_go; the value is loaded between the two checks.
 */
#define READ_KNOWN(bytes, type, access)                                                                                \
    if (self && (at & 7) + bytes <= 8 && pt_address_ok(at)) {                                                          \
        pt_shadow_word *word = pt_shadow_peek(at);                                                                     \
        uint64_t seen = word ? atomic_load_explicit(word, memory_order_acquire) : 0;                                   \
        if (pt_granule_read_is_known(self, seen, pt_bytes_at(at, bytes))) {                                            \
            type value = access;                                                                                       \
            atomic_thread_fence(memory_order_acquire);                                                                 \
            if (word ? atomic_load_explicit(word, memory_order_relaxed) == seen : !pt_shadow_peek(at))                 \
                return value;                                                                                          \
        }                                                                                                              \
    }

/* Accesses of the program are as it wrote them, aligned or not. */
#define DEFINE_PLAIN(bytes, type)                                                                                      \
    typedef type __attribute__((aligned(1), may_alias)) any##bytes;                                                    \
    static __attribute__((noinline)) type slow_load##bytes(const void *address, const struct pt_site *site)            \
    {                                                                                                                  \
        struct pt_thread *self = recorder(address);                                                                    \
        struct pt_hold hold;                                                                                           \
        if (!self)                                                                                                     \
            return *(const volatile any##bytes *)address;                                                              \
        uint64_t seen;                                                                                                 \
        pt_enter(self);                                                                                                \
        pt_shadow_word *word = pt_granule_hold_passed(self, (uintptr_t)address, bytes, false, &seen);                  \
        bool held = !word && pt_hold_take(self, (uintptr_t)address, bytes, &hold);                                     \
        type value = *(const volatile any##bytes *)address;                                                            \
        if (word)                                                                                                      \
            pt_granule_end_read_passed(self, word, (uintptr_t)address, bytes, seen);                                   \
        else if (held)                                                                                                 \
            pt_hold_end_read(self, &hold, site);                                                                       \
        pt_leave(self);                                                                                                \
        return value;                                                                                                  \
    }                                                                                                                  \
    static __attribute__((noinline)) void slow_store##bytes(void *address, type value, const struct pt_site *site)     \
    {                                                                                                                  \
        struct pt_thread *self = recorder(address);                                                                    \
        struct pt_hold hold;                                                                                           \
        if (!self) {                                                                                                   \
            *(volatile any##bytes *)address = value;                                                                   \
            return;                                                                                                    \
        }                                                                                                              \
        uint64_t seen;                                                                                                 \
        pt_enter(self);                                                                                                \
        pt_shadow_word *word = pt_granule_hold_passed(self, (uintptr_t)address, bytes, true, &seen);                   \
        bool held = !word && pt_hold_take(self, (uintptr_t)address, bytes, &hold);                                     \
        *(volatile any##bytes *)address = value;                                                                       \
        if (word)                                                                                                      \
            pt_granule_end_write_passed(self, word, (uintptr_t)address, bytes, seen);                                  \
        else if (held)                                                                                                 \
            pt_hold_end_write(self, &hold, PT_KIND_WRITE, site);                                                       \
        pt_leave(self);                                                                                                \
    }

#define DEFINE_FAST(bytes, type)                                                                                       \
    DEFINE_PLAIN(bytes, type)                                                                                          \
    type __portent_load##bytes(const void *address, const struct pt_site *site)                                        \
    {                                                                                                                  \
        if (!pt_is_active())                                                                                           \
            return *(const volatile any##bytes *)address;                                                              \
        struct pt_thread *self = pt_self;                                                                              \
        uintptr_t at = (uintptr_t)address;                                                                             \
        READ_KNOWN(bytes, type, *(const volatile any##bytes *)address)                                                 \
        return slow_load##bytes(address, site);                                                                        \
    }                                                                                                                  \
    void __portent_store##bytes(void *address, type value, const struct pt_site *site)                                 \
    {                                                                                                                  \
        if (!pt_is_active()) {                                                                                         \
            *(volatile any##bytes *)address = value;                                                                   \
            return;                                                                                                    \
        }                                                                                                              \
        uint64_t after;                                                                                                \
        struct pt_thread *self = pt_self;                                                                              \
        pt_shadow_word *word = pt_granule_hold_known(self, (uintptr_t)address, bytes, &after);                         \
        if (!word) {                                                                                                   \
            slow_store##bytes(address, value, site);                                                                   \
            return;                                                                                                    \
        }                                                                                                              \
        *(volatile any##bytes *)address = value;                                                                       \
        pt_granule_let_go_known(self, word, after);                                                                    \
    }

DEFINE_FAST(1, uint8_t)
DEFINE_FAST(2, uint16_t)
DEFINE_FAST(4, uint32_t)
DEFINE_FAST(8, uint64_t)
DEFINE_PLAIN(16, pt_u128)

pt_u128 __portent_load16(const void *address, const struct pt_site *site)
{
    return pt_is_active() ? slow_load16(address, site) : *(const volatile any16 *)address;
}

void __portent_store16(void *address, pt_u128 value, const struct pt_site *site)
{
    if (pt_is_active())
        slow_store16(address, value, site);
    else
        *(volatile any16 *)address = value;
}

/* The strongest order is always right, and the granule's lock is no weaker anyway. */
#define NATIVE(bytes, type)                                                                                            \
    static type native_load##bytes(const void *address)                                                                \
    {                                                                                                                  \
        return __atomic_load_n((const type *)address, __ATOMIC_SEQ_CST);                                               \
    }                                                                                                                  \
    static void native_store##bytes(void *address, type value)                                                         \
    {                                                                                                                  \
        __atomic_store_n((type *)address, value, __ATOMIC_SEQ_CST);                                                    \
    }                                                                                                                  \
    static type native_cas##bytes(void *address, type expected, type desired)                                          \
    {                                                                                                                  \
        return __sync_val_compare_and_swap((type *)address, expected, desired);                                        \
    }

NATIVE(1, uint8_t)
NATIVE(2, uint16_t)
NATIVE(4, uint32_t)
NATIVE(8, uint64_t)

/* 16 bytes: the processor's compare-and-swap is its only atomic access; libatomic agrees with it. */
static pt_u128 native_cas16(void *address, pt_u128 expected, pt_u128 desired)
{
    return __sync_val_compare_and_swap((pt_u128 *)address, expected, desired);
}
static pt_u128 native_load16(const void *address)
{
    return native_cas16((void *)(uintptr_t)address, 0, 0);
}
static void native_store16(void *address, pt_u128 value)
{
    pt_u128 seen = native_load16(address), before;
    while ((before = native_cas16(address, seen, value)) != seen)
        seen = before;
}

#define NATIVE_RMW(bytes, type, signed_type)                                                                           \
    static type apply##bytes(type old, type operand, int op)                                                           \
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
    static type native_rmw##bytes(void *address, type operand, int op)                                                 \
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

#define DEFINE_ATOMIC(bytes, type)                                                                                     \
    type __portent_atomic_load##bytes(const void *address, int order, const struct pt_site *site)                      \
    {                                                                                                                  \
        (void)order;                                                                                                   \
        if (!pt_is_active())                                                                                           \
            return native_load##bytes(address);                                                                        \
        struct pt_thread *self = pt_self;                                                                              \
        uintptr_t at = (uintptr_t)address;                                                                             \
        READ_KNOWN(bytes, type, native_load##bytes(address))                                                           \
        struct pt_hold hold;                                                                                           \
        self = recorder(address);                                                                                      \
        if (!self)                                                                                                     \
            return native_load##bytes(address);                                                                        \
        pt_enter(self);                                                                                                \
        bool held = pt_hold_take(self, (uintptr_t)address, bytes, &hold);                                              \
        type value = native_load##bytes(address);                                                                      \
        if (held)                                                                                                      \
            pt_hold_end_read(self, &hold, site);                                                                       \
        pt_leave(self);                                                                                                \
        return value;                                                                                                  \
    }                                                                                                                  \
    void __portent_atomic_store##bytes(void *address, type value, int order, const struct pt_site *site)               \
    {                                                                                                                  \
        (void)order;                                                                                                   \
        uint64_t after;                                                                                                \
        pt_shadow_word *word =                                                                                         \
            pt_is_active() ? pt_granule_hold_known(pt_self, (uintptr_t)address, bytes, &after) : NULL;                 \
        if (word) {                                                                                                    \
            native_store##bytes(address, value);                                                                       \
            pt_granule_let_go_known(pt_self, word, after);                                                             \
            return;                                                                                                    \
        }                                                                                                              \
        struct pt_thread *self = pt_is_active() ? recorder(address) : NULL;                                            \
        struct pt_hold hold;                                                                                           \
        if (!self) {                                                                                                   \
            native_store##bytes(address, value);                                                                       \
            return;                                                                                                    \
        }                                                                                                              \
        pt_enter(self);                                                                                                \
        bool held = pt_hold_take(self, (uintptr_t)address, bytes, &hold);                                              \
        native_store##bytes(address, value);                                                                           \
        if (held)                                                                                                      \
            pt_hold_end_write(self, &hold, PT_KIND_WRITE, site);                                                       \
        pt_leave(self);                                                                                                \
    }                                                                                                                  \
    type __portent_atomic_rmw##bytes(void *address, type operand, int op, int order, const struct pt_site *site)       \
    {                                                                                                                  \
        (void)order;                                                                                                   \
        uint64_t after;                                                                                                \
        pt_shadow_word *word =                                                                                         \
            pt_is_active() ? pt_granule_hold_known(pt_self, (uintptr_t)address, bytes, &after) : NULL;                 \
        if (word) {                                                                                                    \
            type before = native_rmw##bytes(address, operand, op);                                                     \
            pt_granule_let_go_known(pt_self, word, after);                                                             \
            return before;                                                                                             \
        }                                                                                                              \
        struct pt_thread *self = pt_is_active() ? recorder(address) : NULL;                                            \
        struct pt_hold hold;                                                                                           \
        if (!self)                                                                                                     \
            return native_rmw##bytes(address, operand, op);                                                            \
        pt_enter(self);                                                                                                \
        bool held = pt_hold_take(self, (uintptr_t)address, bytes, &hold);                                              \
        type old = native_rmw##bytes(address, operand, op);                                                            \
        if (held)                                                                                                      \
            pt_hold_end_write(self, &hold, PT_KIND_UPDATE, site);                                                      \
        pt_leave(self);                                                                                                \
        return old;                                                                                                    \
    }                                                                                                                  \
    type __portent_atomic_cas##bytes(void *address, type expected, type desired, int success, int failure,             \
                                     const struct pt_site *site)                                                       \
    {                                                                                                                  \
        (void)success, (void)failure;                                                                                  \
        struct pt_thread *self = pt_is_active() ? recorder(address) : NULL;                                            \
        struct pt_hold hold;                                                                                           \
        if (!self)                                                                                                     \
            return native_cas##bytes(address, expected, desired);                                                      \
        pt_enter(self);                                                                                                \
        bool held = pt_hold_take(self, (uintptr_t)address, bytes, &hold);                                              \
        type old = native_cas##bytes(address, expected, desired);                                                      \
        if (held && old == expected)                                                                                   \
            pt_hold_end_write(self, &hold, PT_KIND_UPDATE, site);                                                      \
        else if (held) /* an exchange that did not happen is a read */                                                 \
            pt_hold_end_read(self, &hold, site);                                                                       \
        pt_leave(self);                                                                                                \
        return old;                                                                                                    \
    }

DEFINE_ATOMIC(1, uint8_t)
DEFINE_ATOMIC(2, uint16_t)
DEFINE_ATOMIC(4, uint32_t)
DEFINE_ATOMIC(8, uint64_t)
DEFINE_ATOMIC(16, pt_u128)

void __portent_fence(int order, const struct pt_site *site)
{
    (void)order, (void)site;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
