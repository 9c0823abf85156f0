/* Put before the code under test (-include): its atomic operations become steps of explore.h. */
#ifndef PT_TESTS_INTERLEAVE_ATOMICS_H
#define PT_TESTS_INTERLEAVE_ATOMICS_H

#include <stdatomic.h>
#include <string.h>
#include <x86intrin.h>

#include "explore.h"

#define PT_INTERLEAVE_VALUE(object) __typeof__((void)0, *(object))

#undef atomic_load_explicit
#undef atomic_load
#define atomic_load_explicit(object, order)                                                                            \
    ({                                                                                                                 \
        __auto_type pt_at = (object);                                                                                  \
        PT_INTERLEAVE_VALUE(pt_at) pt_value;                                                                           \
        (void)(order);                                                                                                 \
        pt_interleave_load((const volatile void *)pt_at, (void *)&pt_value, sizeof pt_value);                          \
        pt_value;                                                                                                      \
    })
#define atomic_load(object) atomic_load_explicit(object, memory_order_seq_cst)

/* A seq_cst store is an exchange on x86; here it waits for the buffer to empty as that does. */
#undef atomic_store_explicit
#undef atomic_store
#define atomic_store_explicit(object, value, order)                                                                    \
    ({                                                                                                                 \
        __auto_type pt_at = (object);                                                                                  \
        PT_INTERLEAVE_VALUE(pt_at) pt_value = (value);                                                                 \
        pt_interleave_store((volatile void *)pt_at, (void *)&pt_value, sizeof pt_value);                               \
        if ((order) == memory_order_seq_cst)                                                                           \
            pt_interleave_step(PT_INTERLEAVE_FENCE, NULL);                                                             \
    })
#define atomic_store(object, value) atomic_store_explicit(object, value, memory_order_seq_cst)

#define PT_INTERLEAVE_UPDATE_BY(builtin, object, value)                                                                \
    ({                                                                                                                 \
        __auto_type pt_at = (object);                                                                                  \
        PT_INTERLEAVE_VALUE(pt_at) pt_value = (value), pt_new;                                                         \
        pt_interleave_step(PT_INTERLEAVE_UPDATE, (const volatile void *)pt_at);                                        \
        pt_value = builtin(pt_at, pt_value, __ATOMIC_SEQ_CST);                                                         \
        pt_new = *pt_at;                                                                                               \
        pt_interleave_saw((const volatile void *)pt_at, (void *)&pt_new, sizeof pt_new);                               \
        pt_value;                                                                                                      \
    })
#undef atomic_exchange_explicit
#undef atomic_exchange
#undef atomic_fetch_add_explicit
#undef atomic_fetch_add
#undef atomic_fetch_sub_explicit
#undef atomic_fetch_sub
#undef atomic_fetch_or_explicit
#undef atomic_fetch_and_explicit
#define atomic_exchange_explicit(object, value, order)  PT_INTERLEAVE_UPDATE_BY(__atomic_exchange_n, object, value)
#define atomic_exchange(object, value)                  PT_INTERLEAVE_UPDATE_BY(__atomic_exchange_n, object, value)
#define atomic_fetch_add_explicit(object, value, order) PT_INTERLEAVE_UPDATE_BY(__atomic_fetch_add, object, value)
#define atomic_fetch_add(object, value)                 PT_INTERLEAVE_UPDATE_BY(__atomic_fetch_add, object, value)
#define atomic_fetch_sub_explicit(object, value, order) PT_INTERLEAVE_UPDATE_BY(__atomic_fetch_sub, object, value)
#define atomic_fetch_sub(object, value)                 PT_INTERLEAVE_UPDATE_BY(__atomic_fetch_sub, object, value)
#define atomic_fetch_or_explicit(object, value, order)  PT_INTERLEAVE_UPDATE_BY(__atomic_fetch_or, object, value)
#define atomic_fetch_and_explicit(object, value, order) PT_INTERLEAVE_UPDATE_BY(__atomic_fetch_and, object, value)

#undef atomic_compare_exchange_strong_explicit
#undef atomic_compare_exchange_weak_explicit
#undef atomic_compare_exchange_weak
#define atomic_compare_exchange_strong_explicit(object, expected, value, success, failure)                             \
    ({                                                                                                                 \
        __auto_type pt_at = (object);                                                                                  \
        __auto_type pt_expected = (expected);                                                                          \
        PT_INTERLEAVE_VALUE(pt_at) pt_value = (value);                                                                 \
        pt_interleave_step(PT_INTERLEAVE_UPDATE, (const volatile void *)pt_at);                                        \
        bool pt_done =                                                                                                 \
            __atomic_compare_exchange_n(pt_at, pt_expected, pt_value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);      \
        pt_interleave_saw((const volatile void *)pt_at, NULL, 0);                                                      \
        pt_done;                                                                                                       \
    })
#define atomic_compare_exchange_weak_explicit atomic_compare_exchange_strong_explicit
#define atomic_compare_exchange_weak(object, expected, value)                                                          \
    atomic_compare_exchange_strong_explicit(object, expected, value, memory_order_seq_cst, memory_order_seq_cst)

/* Fences weaker than seq_cst change nothing in this memory order. */
#undef atomic_thread_fence
#define atomic_thread_fence(order)                                                                                     \
    ((order) == memory_order_seq_cst ? pt_interleave_step(PT_INTERLEAVE_FENCE, NULL) : (void)0)
#undef atomic_signal_fence
#define atomic_signal_fence(order) ((void)(order))

#define __builtin_ia32_pause() pt_interleave_pause()
#undef __rdtsc
#define __rdtsc() UINT64_C(0)
/* Copies are steps where the protocol is about what they copy. */
#ifdef PT_INTERLEAVE_COPIES
#define memcpy(to, from, bytes) pt_interleave_copy(to, from, bytes)
#endif

/* The accesses of the program itself, in its hooks for atomic ones (shadow/native.h). */
#define __atomic_load_n(object, order)         atomic_load_explicit(object, order)
#define __atomic_store_n(object, value, order) atomic_store_explicit(object, value, memory_order_release)

#endif
