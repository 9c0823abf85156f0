/*
 * Functions of libc that the runtime stands in front of.
 *
 * In dynamic programs the runtime defines them under their own names and finds the real ones behind it. The definitions
 * are weak: a program that brings its own malloc or its own C11 threads keeps them, and is seen inside. In static
 * programs that is not possible: there the same source is compiled with PT_RT_STATIC, and the linker is told
 * --wrap=NAME for each. Which they are, and what each does to its object, is in core/sync.def: a wrapper without a row
 * there does not compile, and tools/check-sync finds a row without its wrapper.
 */
#ifndef PT_RUNTIME_WRAP_INTERPOSE_H
#define PT_RUNTIME_WRAP_INTERPOSE_H

#include "core/channel.h"
#include "core/sync.h"

/* Does a row say that there is a wrapper, and what it records: enum pt_event_kind. */
enum {
#define PT_SYNC(name, wrapper, hook, model, effect, ...)                                                               \
    PT_SYNC_IS_WRAPPED_##name = PT_SYNC_WRAPPER_##wrapper != PT_SYNC_WRAPPER_NONE,                                     \
    PT_SYNC_EFFECT_##name = PT_KIND_##effect,
#include "core/sync.def"
};
#define PT_HAS_ROW(name) _Static_assert(PT_SYNC_IS_WRAPPED_##name, "the row says that there is no wrapper")
#define PT_EFFECT(name)  ((int)PT_SYNC_EFFECT_##name)

#ifdef PT_RT_STATIC
#define PT_WRAP(returns, name, parameters)                                                                             \
    PT_HAS_ROW(name);                                                                                                  \
    returns __real_##name parameters;                                                                                  \
    returns __wrap_##name parameters;                                                                                  \
    returns __wrap_##name parameters
#define PT_REAL(name) __real_##name
#else
#define PT_WRAP(returns, name, parameters)                                                                             \
    PT_HAS_ROW(name);                                                                                                  \
    returns name parameters; /* some are in no header */                                                               \
    __attribute__((weak, visibility("default"))) returns name parameters
#define PT_REAL(name)                                                                                                  \
    ({                                                                                                                 \
        static __typeof__(&name) real_function;                                                                        \
        __typeof__(&name) found_ = __atomic_load_n(&real_function, __ATOMIC_RELAXED);                                  \
        if (__builtin_expect(!found_, 0)) {                                                                            \
            found_ = (__typeof__(&name))pt_real(#name);                                                                \
            __atomic_store_n(&real_function, found_, __ATOMIC_RELAXED);                                                \
        }                                                                                                              \
        found_;                                                                                                        \
    })
/* The next definition of this name after ours; ends the program when there is none. */
void *pt_real(const char *name);
#endif

#endif
