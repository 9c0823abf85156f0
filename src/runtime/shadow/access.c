/*
 * Loads, stores and atomic operations of up to 16 bytes.
 *
 * A hook performs the access itself, so the order it records is the order that happened. With nothing to record it is a
 * test of one flag, then the access. Else the fast paths (shadow/fast.h) are tried, those without any change of clocks
 * in the hook itself, the others in its `fast` function, and the slow path (shadow/slow.h) is taken last.
 *
 * Guarantee: an access and its event are one step for all other threads. Cost: with a known clock some ten instructions
 * more than the access, and no write to memory that others read.
 */
#pragma GCC visibility push(default)
#include "core/hooks.h"
#pragma GCC visibility pop

#include "core/explore.h"
#include "runtime/shadow/racing.h"
#include "runtime/shadow/silence.h"
#include "runtime/sys/delay.h"

/* Where threads are scheduled, the turn comes first of all: then all that there is beside it. */
#define EXPLORED(name, race, bytes, type, kind, parameters, arguments, perform)                                        \
    static COLD type explored_##name parameters                                                                        \
    {                                                                                                                  \
        pt_shadow_hooks.point(address, bytes, kind, site);                                                             \
        if (pt_is_living())                                                                                            \
            return living_##name arguments;                                                                            \
        if (pt_is_racing())                                                                                            \
            return race(name) arguments;                                                                               \
        return pt_is_recording() ? recorded_##name arguments : perform;                                                \
    }
#define EXPLORED_READ(name, race, bytes, type, kind, perform)                                                          \
    EXPLORED(name, race, bytes, type, kind, (const void *address, int order, const struct pt_site *site),              \
             (address, order, site), perform)
#define EXPLORED_WRITE(name, race, bytes, type, kind, perform)                                                         \
    EXPLORED(name, race, bytes, type, kind,                                                                            \
             (void *address, type value, int op, int order, const struct pt_site *site),                               \
             (address, value, op, order, site), perform)
#define EXPLORED_EXCHANGE(bytes, type)                                                                                 \
    EXPLORED(cas##bytes, RACING_ALL, bytes, type, PT_EXPLORE_ATOMIC_UPDATE,                                            \
             (void *address, type expected, type desired, int success, int failure, const struct pt_site *site),       \
             (address, expected, desired, success, failure, site), native_cas##bytes(address, expected, desired))

/* What the race engine does not follow: it is in a gap of sampling. What is recorded all the same is apart, so that the
 * others need few registers. */
#define SKIP(name, type, order, arguments, perform)                                                                    \
    do {                                                                                                               \
        uint32_t gap = pt_shadow_skips_atomic(site);                                                                   \
        if (!gap)                                                                                                      \
            return racing_##name arguments;                                                                            \
        type result = perform;                                                                                         \
        pt_shadow_skipped_atomic(gap, order, site);                                                                    \
        return result;                                                                                                 \
    } while (0)
#define BETWEEN(name, type, order, parameters, arguments, perform)                                                     \
    static COLD type between_recorded_##name parameters                                                                \
    {                                                                                                                  \
        SKIP(name, type, order, arguments, recorded_##name arguments);                                                 \
    }                                                                                                                  \
    static COLD type between_##name parameters                                                                         \
    {                                                                                                                  \
        if (__builtin_expect(pt_is_recording(), 0))                                                                    \
            return between_recorded_##name arguments;                                                                  \
        SKIP(name, type, order, arguments, perform);                                                                   \
    }
#define BETWEEN_READ(name, type, perform)                                                                              \
    BETWEEN(name, type, order, (const void *address, int order, const struct pt_site *site), (address, order, site),   \
            perform)
#define BETWEEN_WRITE(name, type, perform)                                                                             \
    BETWEEN(name, type, order, (void *address, type value, int op, int order, const struct pt_site *site),             \
            (address, value, op, order, site), perform)
#define BETWEEN_EXCHANGE(bytes, type)                                                                                  \
    BETWEEN(cas##bytes, type, success == __ATOMIC_RELAXED ? failure : success,                                         \
            (void *address, type expected, type desired, int success, int failure, const struct pt_site *site),        \
            (address, expected, desired, success, failure, site), native_cas##bytes(address, expected, desired))

/* Where silence lasts (silence.h). */
#define LASTING_READ(name, bytes, type, perform)                                                                       \
    static COLD type near_##name(const void *address, int order, const struct pt_site *site)                           \
    {                                                                                                                  \
        return pt_silence_spares((uintptr_t)address, bytes) ? perform : recorded_##name(address, order, site);         \
    }
#define LASTING_CHANGE(name, bytes, type, parameters, arguments, perform)                                              \
    static COLD type near_##name parameters                                                                            \
    {                                                                                                                  \
        return pt_silence_spares((uintptr_t)address, bytes) ? perform : recorded_##name arguments;                     \
    }
/* Where all threads have the same clock. */
#define SILENT_READ(name, bytes, type, perform)                                                                        \
    LASTING_READ(name, bytes, type, perform)                                                                           \
    static inline type silent_##name(const void *address, int order, const struct pt_site *site)                       \
    {                                                                                                                  \
        if (pt_silence_has((uintptr_t)address)) {                                                                      \
            type value = perform;                                                                                      \
            atomic_thread_fence(memory_order_acquire);                                                                 \
            if (__builtin_expect(pt_is_silent(), 1))                                                                   \
                return value;                                                                                          \
        }                                                                                                              \
        return recorded_##name(address, order, site);                                                                  \
    }
#define SILENT_CHANGE(name, bytes, type, parameters, arguments, perform)                                               \
    LASTING_CHANGE(name, bytes, type, parameters, arguments, perform)                                                  \
    static COLD type silent_##name parameters                                                                          \
    {                                                                                                                  \
        struct pt_shadow_self *self = pt_self;                                                                         \
        if (!pt_silence_has((uintptr_t)address) || !pt_silence_begin_store(self, (uintptr_t)address, bytes))           \
            return recorded_##name arguments;                                                                          \
        type result = perform;                                                                                         \
        pt_silence_end_store(self, (uintptr_t)address, bytes);                                                         \
        return result;                                                                                                 \
    }
#define SILENT_WRITE(name, bytes, type, perform)                                                                       \
    SILENT_CHANGE(name, bytes, type, (void *address, type value, int op, int order, const struct pt_site *site),       \
                  (address, value, op, order, site), perform)
#define SILENT_EXCHANGE(bytes, type)                                                                                   \
    SILENT_CHANGE(cas##bytes, bytes, type,                                                                             \
                  (void *address, type expected, type desired, int success, int failure, const struct pt_site *site),  \
                  (address, expected, desired, success, failure, site), native_cas##bytes(address, expected, desired))

/* What is done, by what there is to do. */
#define BY_MODE(perform, plain, name, arguments)                                                                       \
    do {                                                                                                               \
        unsigned mode = atomic_load_explicit(&pt_active, memory_order_relaxed);                                        \
        if (__builtin_expect(mode == 0, 1))                                                                            \
            return perform;                                                                                            \
        if (__builtin_expect(mode == PT_ACTIVE_LASTING, 1))                                                            \
            return pt_silence_has((uintptr_t)address) ? perform : near_##name arguments;                               \
        if (mode == PT_ACTIVE_SILENCE)                                                                                 \
            return silent_##name arguments;                                                                            \
        plain(perform, name, arguments);                                                                               \
        if (__builtin_expect(mode & (PT_ACTIVE_LIVES | PT_ACTIVE_EXPLORES), 0))                                        \
            return mode & PT_ACTIVE_EXPLORES ? explored_##name arguments : living_##name arguments;                    \
        if (mode & PT_ACTIVE_CHOOSES)                                                                                  \
            return plain##_CHOSEN(mode, name) arguments;                                                               \
        if (mode == (PT_ACTIVE_RECORDS | PT_ACTIVE_FILES))                                                             \
            return small_##name arguments;                                                                             \
        return mode & PT_ACTIVE_RACES ? racing_##name arguments : recorded_##name arguments;                           \
    } while (0)
#define ATOMIC(perform, name, arguments)
#define ATOMIC_CHOSEN(mode, name) (mode & PT_ACTIVE_RACES ? racing_##name : between_##name)
#define PLAIN(perform, name, arguments)                                                                                \
    if (mode == PT_ACTIVE_CHOOSES && __builtin_expect(pt_race_is_often(site), 1))                                      \
    return perform
#define PLAIN_CHOSEN(mode, name) chosen_##name
#define CHOOSE_READ(plain, name, type, perform)                                                                        \
    static inline type name(const void *address, int order, const struct pt_site *site)                                \
    {                                                                                                                  \
        BY_MODE(perform, plain, name, (address, order, site));                                                         \
    }
#define CHOOSE_WRITE(plain, name, type, perform)                                                                       \
    static inline type name(void *address, type value, int op, int order, const struct pt_site *site)                  \
    {                                                                                                                  \
        BY_MODE(perform, plain, name, (address, value, op, order, site));                                              \
    }
#define CHOOSE(bytes, type)                                                                                            \
    CHOOSE_READ(PLAIN, load##bytes, type, LOAD(bytes))                                                                 \
    CHOOSE_READ(ATOMIC, atomic_load##bytes, type, native_load##bytes(address))                                         \
    CHOOSE_WRITE(PLAIN, store##bytes, type, STORE(bytes))                                                              \
    CHOOSE_WRITE(ATOMIC, atomic_store##bytes, type, ATOMIC_STORE(bytes))                                               \
    CHOOSE_WRITE(ATOMIC, update##bytes, type, ATOMIC_UPDATE(bytes))                                                    \
    static inline type cas##bytes(void *address, type expected, type desired, int success, int failure,                \
                                  const struct pt_site *site)                                                          \
    {                                                                                                                  \
        BY_MODE(native_cas##bytes(address, expected, desired), ATOMIC, cas##bytes,                                     \
                (address, expected, desired, success, failure, site));                                                 \
    }

/* The same after a pause, perhaps: apart, so that the others need no frame for it. */
#define DEFINE_LATE(bytes, type)                                                                                       \
    static COLD type late_load##bytes(const void *address, int order, const struct pt_site *site)                      \
    {                                                                                                                  \
        pt_delay_atomic(address, order);                                                                               \
        return atomic_load##bytes(address, order, site);                                                               \
    }                                                                                                                  \
    static COLD void late_store##bytes(void *address, type value, int order, const struct pt_site *site)               \
    {                                                                                                                  \
        pt_delay_atomic(address, order);                                                                               \
        (void)atomic_store##bytes(address, value, 0, order, site);                                                     \
    }                                                                                                                  \
    static COLD type late_update##bytes(void *address, type operand, int op, int order, const struct pt_site *site)    \
    {                                                                                                                  \
        pt_delay_atomic(address, order);                                                                               \
        return update##bytes(address, operand, op, order, site);                                                       \
    }                                                                                                                  \
    static COLD type late_cas##bytes(void *address, type expected, type desired, int success, int failure,             \
                                     const struct pt_site *site)                                                       \
    {                                                                                                                  \
        pt_delay_atomic(address, success);                                                                             \
        return cas##bytes(address, expected, desired, success, failure, site);                                         \
    }

#define DEFINE_HOOKS(bytes, type)                                                                                      \
    DEFINE_READ(load##bytes, bytes, type, LOAD(bytes))                                                                 \
    DEFINE_READ(atomic_load##bytes, bytes, type, native_load##bytes(address))                                          \
    DEFINE_WRITE(store##bytes, bytes, type, PT_KIND_WRITE, false, STORE(bytes))                                        \
    DEFINE_WRITE(atomic_store##bytes, bytes, type, PT_KIND_WRITE, true, ATOMIC_STORE(bytes))                           \
    DEFINE_WRITE(update##bytes, bytes, type, PT_KIND_UPDATE, true, ATOMIC_UPDATE(bytes))                               \
    DEFINE_EXCHANGE(bytes, type)                                                                                       \
    SILENT_READ(load##bytes, bytes, type, LOAD(bytes))                                                                 \
    SILENT_READ(atomic_load##bytes, bytes, type, native_load##bytes(address))                                          \
    SILENT_WRITE(store##bytes, bytes, type, STORE(bytes))                                                              \
    SILENT_WRITE(atomic_store##bytes, bytes, type, ATOMIC_STORE(bytes))                                                \
    SILENT_WRITE(update##bytes, bytes, type, ATOMIC_UPDATE(bytes))                                                     \
    SILENT_EXCHANGE(bytes, type)                                                                                       \
    HOT(bytes, type)                                                                                                   \
    RACING_LOAD(bytes, type)                                                                                           \
    RACING_STORE(bytes, type)                                                                                          \
    RACING_ATOMIC_LOAD(bytes, type)                                                                                    \
    RACING_ATOMIC(atomic_store##bytes, bytes, type, PT_RACE_WRITE, ATOMIC_STORE(bytes))                                \
    RACING_ATOMIC(update##bytes, bytes, type, PT_RACE_READ | PT_RACE_WRITE, ATOMIC_UPDATE(bytes))                      \
    RACING_EXCHANGE(bytes, type)                                                                                       \
    CHOSEN_LOAD(bytes, type)                                                                                           \
    CHOSEN_STORE(bytes, type)                                                                                          \
    BETWEEN_READ(atomic_load##bytes, type, native_load##bytes(address))                                                \
    BETWEEN_WRITE(atomic_store##bytes, type, ATOMIC_STORE(bytes))                                                      \
    BETWEEN_WRITE(update##bytes, type, ATOMIC_UPDATE(bytes))                                                           \
    BETWEEN_EXCHANGE(bytes, type)                                                                                      \
    LIVING_READ(load##bytes, RACING_SOME, bytes, type, PT_RACE_READ, LOAD(bytes))                                      \
    LIVING_READ(atomic_load##bytes, RACING_ALL, bytes, type, PT_CELL_ATOMIC | PT_RACE_READ,                            \
                native_load##bytes(address))                                                                           \
    LIVING_WRITE(store##bytes, RACING_SOME, bytes, type, PT_RACE_WRITE, STORE(bytes))                                  \
    LIVING_WRITE(atomic_store##bytes, RACING_ALL, bytes, type, PT_CELL_ATOMIC | PT_RACE_WRITE, ATOMIC_STORE(bytes))    \
    LIVING_WRITE(update##bytes, RACING_ALL, bytes, type, PT_CELL_ATOMIC | PT_RACE_READ | PT_RACE_WRITE,                \
                 ATOMIC_UPDATE(bytes))                                                                                 \
    LIVING_EXCHANGE(bytes, type)                                                                                       \
    EXPLORED_READ(load##bytes, RACING_SOME, bytes, type, PT_EXPLORE_LOAD, LOAD(bytes))                                 \
    EXPLORED_READ(atomic_load##bytes, RACING_ALL, bytes, type, PT_EXPLORE_ATOMIC_LOAD, native_load##bytes(address))    \
    EXPLORED_WRITE(store##bytes, RACING_SOME, bytes, type, PT_EXPLORE_STORE, STORE(bytes))                             \
    EXPLORED_WRITE(atomic_store##bytes, RACING_ALL, bytes, type, PT_EXPLORE_ATOMIC_STORE, ATOMIC_STORE(bytes))         \
    EXPLORED_WRITE(update##bytes, RACING_ALL, bytes, type, PT_EXPLORE_ATOMIC_UPDATE, ATOMIC_UPDATE(bytes))             \
    EXPLORED_EXCHANGE(bytes, type)                                                                                     \
    CHOOSE(bytes, type)                                                                                                \
    DEFINE_LATE(bytes, type)                                                                                           \
    type __portent_load##bytes(const void *address, const struct pt_site *site)                                        \
    {                                                                                                                  \
        unsigned mode = atomic_load_explicit(&pt_active, memory_order_relaxed);                                        \
        if (__builtin_expect(mode == 0, 1))                                                                            \
            return LOAD(bytes);                                                                                        \
        if (__builtin_expect(mode == PT_ACTIVE_LASTING, 1))                                                            \
            return pt_silence_has((uintptr_t)address) ? LOAD(bytes) : near_load##bytes(address, PT_PLAIN, site);       \
        if (mode == PT_ACTIVE_SILENCE)                                                                                 \
            return silent_load##bytes(address, PT_PLAIN, site);                                                        \
        if (mode == PT_ACTIVE_RACES)                                                                                   \
            return hot_load##bytes(address, site);                                                                     \
        if (mode == PT_ACTIVE_RECORDS)                                                                                 \
            return recorded_load##bytes(address, PT_PLAIN, site);                                                      \
        if (mode == (PT_ACTIVE_RECORDS | PT_ACTIVE_FILES))                                                             \
            return small_load##bytes(address, PT_PLAIN, site);                                                         \
        return load##bytes(address, PT_PLAIN, site);                                                                   \
    }                                                                                                                  \
    type __portent_peek##bytes(const void *address, const struct pt_site *site)                                        \
    {                                                                                                                  \
        unsigned mode = atomic_load_explicit(&pt_active, memory_order_relaxed);                                        \
        if (__builtin_expect(mode == 0, 1))                                                                            \
            return LOAD(bytes);                                                                                        \
        return mode == PT_ACTIVE_RACES ? hot_peek##bytes(address, site) : __portent_load##bytes(address, site);        \
    }                                                                                                                  \
    void __portent_store##bytes(void *address, type value, const struct pt_site *site)                                 \
    {                                                                                                                  \
        unsigned mode = atomic_load_explicit(&pt_active, memory_order_relaxed);                                        \
        if (__builtin_expect(mode == 0, 1))                                                                            \
            STORE(bytes);                                                                                              \
        else if (__builtin_expect(mode == PT_ACTIVE_LASTING, 1))                                                       \
            (void)(pt_silence_has((uintptr_t)address) ? STORE(bytes) : near_store##bytes(address, value, 0, 0, site)); \
        else if (mode == PT_ACTIVE_SILENCE)                                                                            \
            (void)silent_store##bytes(address, value, 0, 0, site);                                                     \
        else if (mode == PT_ACTIVE_RACES)                                                                              \
            hot_store##bytes(address, value, site);                                                                    \
        else if (mode == PT_ACTIVE_RECORDS)                                                                            \
            (void)recorded_store##bytes(address, value, 0, 0, site);                                                   \
        else if (mode == (PT_ACTIVE_RECORDS | PT_ACTIVE_FILES))                                                        \
            (void)small_store##bytes(address, value, 0, 0, site);                                                      \
        else                                                                                                           \
            (void)store##bytes(address, value, 0, 0, site);                                                            \
    }                                                                                                                  \
    type __portent_atomic_load##bytes(const void *address, int order, const struct pt_site *site)                      \
    {                                                                                                                  \
        if (__builtin_expect(pt_delay_on, 0))                                                                          \
            return late_load##bytes(address, order, site);                                                             \
        return atomic_load##bytes(address, order, site);                                                               \
    }                                                                                                                  \
    void __portent_atomic_store##bytes(void *address, type value, int order, const struct pt_site *site)               \
    {                                                                                                                  \
        if (__builtin_expect(pt_delay_on, 0))                                                                          \
            late_store##bytes(address, value, order, site);                                                            \
        else                                                                                                           \
            (void)atomic_store##bytes(address, value, 0, order, site);                                                 \
    }                                                                                                                  \
    type __portent_atomic_rmw##bytes(void *address, type operand, int op, int order, const struct pt_site *site)       \
    {                                                                                                                  \
        if (__builtin_expect(pt_delay_on, 0))                                                                          \
            return late_update##bytes(address, operand, op, order, site);                                              \
        return update##bytes(address, operand, op, order, site);                                                       \
    }                                                                                                                  \
    type __portent_atomic_cas##bytes(void *address, type expected, type desired, int success, int failure,             \
                                     const struct pt_site *site)                                                       \
    {                                                                                                                  \
        if (__builtin_expect(pt_delay_on, 0))                                                                          \
            return late_cas##bytes(address, expected, desired, success, failure, site);                                \
        return cas##bytes(address, expected, desired, success, failure, site);                                         \
    }

DEFINE_HOOKS(1, uint8_t)
DEFINE_HOOKS(2, uint16_t)
DEFINE_HOOKS(4, uint32_t)
DEFINE_HOOKS(8, uint64_t)
DEFINE_HOOKS(16, pt_u128) /* never in one granule: always the slow path */

void __portent_fence(int order, const struct pt_site *site)
{
    unsigned mode = atomic_load_explicit(&pt_active, memory_order_relaxed);
    if (__builtin_expect(mode & PT_ACTIVE_EXPLORES, 0))
        pt_shadow_hooks.point(NULL, 0, PT_EXPLORE_FENCE, site);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect(mode, 0))
        pt_slow_fence(order, site);
}
