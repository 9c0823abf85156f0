/*
 * Put before the runtime's own sources (-include) where they are the program that is explored, compiled by `portent
 * cc`: their hooks get other names than those that the compiler calls, which are of the runtime that controls them;
 * what waits in a loop yields; and time stands still.
 */
#ifndef PT_TESTS_EXPLORE_PROTOCOLS_OWN_H
#define PT_TESTS_EXPLORE_PROTOCOLS_OWN_H

#include <stdatomic.h>
#include <x86intrin.h>

#include "explore.h"

#define PT_INTERLEAVE_ONCE

#define __portent_calls          own_calls
#define __portent_load1          own_load1
#define __portent_load2          own_load2
#define __portent_load4          own_load4
#define __portent_load8          own_load8
#define __portent_load16         own_load16
#define __portent_peek1          own_peek1
#define __portent_peek2          own_peek2
#define __portent_peek4          own_peek4
#define __portent_peek8          own_peek8
#define __portent_peek16         own_peek16
#define __portent_store1         own_store1
#define __portent_store2         own_store2
#define __portent_store4         own_store4
#define __portent_store8         own_store8
#define __portent_store16        own_store16
#define __portent_atomic_load1   own_atomic_load1
#define __portent_atomic_load2   own_atomic_load2
#define __portent_atomic_load4   own_atomic_load4
#define __portent_atomic_load8   own_atomic_load8
#define __portent_atomic_load16  own_atomic_load16
#define __portent_atomic_store1  own_atomic_store1
#define __portent_atomic_store2  own_atomic_store2
#define __portent_atomic_store4  own_atomic_store4
#define __portent_atomic_store8  own_atomic_store8
#define __portent_atomic_store16 own_atomic_store16
#define __portent_atomic_rmw1    own_atomic_rmw1
#define __portent_atomic_rmw2    own_atomic_rmw2
#define __portent_atomic_rmw4    own_atomic_rmw4
#define __portent_atomic_rmw8    own_atomic_rmw8
#define __portent_atomic_rmw16   own_atomic_rmw16
#define __portent_atomic_cas1    own_atomic_cas1
#define __portent_atomic_cas2    own_atomic_cas2
#define __portent_atomic_cas4    own_atomic_cas4
#define __portent_atomic_cas8    own_atomic_cas8
#define __portent_atomic_cas16   own_atomic_cas16
#define __portent_begin_read     own_begin_read
#define __portent_end_read       own_end_read
#define __portent_begin_write    own_begin_write
#define __portent_end_write      own_end_write
#define __portent_begin_atomic   own_begin_atomic
#define __portent_end_atomic     own_end_atomic
#define __portent_fence          own_fence
#define __portent_memcpy         own_memcpy
#define __portent_memmove        own_memmove
#define __portent_memset         own_memset
#define __portent_string         own_string
#define __portent_read           own_read
#define __portent_call           own_call
#define __portent_allocated      own_allocated

#define __builtin_ia32_pause() pt_interleave_pause()
#undef __rdtsc
#define __rdtsc() UINT64_C(0)

#endif
