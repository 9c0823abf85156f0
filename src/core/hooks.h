/*
 * The calls the instrumentor puts into programs and the runtime answers. One list for both sides, so that they cannot
 * drift apart: PT_HOOKS(X) expands X(returns, name, parameters) for each.
 *
 * The hook performs the access itself, under the lock of the memory it touches, so that the recorded order and value
 * are the real ones (a hook that returns before the access, as ThreadSanitizer's does, loses both). Integers carry the
 * bits of floats and pointers of the same size. Accesses of other sizes (x86 long double, vectors, odd integers) are
 * done inline between a begin and an end call, which hold the memory in between. Orders are the compiler's __ATOMIC_*
 * numbers.
 */
#ifndef PT_CORE_HOOKS_H
#define PT_CORE_HOOKS_H

#include <stddef.h>
#include <stdint.h>

#include "core/functions.h"
#include "core/site.h"

enum pt_rmw_op {
    PT_RMW_XCHG,
    PT_RMW_ADD,
    PT_RMW_SUB,
    PT_RMW_AND,
    PT_RMW_NAND,
    PT_RMW_OR,
    PT_RMW_XOR,
    PT_RMW_MAX,
    PT_RMW_MIN,
    PT_RMW_UMAX,
    PT_RMW_UMIN
};

/* What an atomic operation of any size does to its object. */
enum pt_atomic_effect { PT_ATOMIC_READ, PT_ATOMIC_WRITE, PT_ATOMIC_UPDATE };

/* The string functions of the library: strcpy and stpcpy, strncpy and stpncpy, strcat and strncat. */
enum pt_string_op { PT_STRING_COPY, PT_STRING_PAD, PT_STRING_APPEND };

/* How much of a memory a library function has read that writes none. `size` is the most of it. */
enum pt_read_op {
    PT_READ_SIZED,        /* all */
    PT_READ_TEXT,         /* a text with its end */
    PT_READ_COMPARE,      /* up to the first byte that differs from another memory's, ... */
    PT_READ_COMPARE_TEXT, /* ... or text's, ... */
    PT_READ_COMPARE_CASE, /* ... whatever the case of its letters */
    PT_READ_FIND,         /* up to the first such byte */
    PT_READ_FIND_TEXT,    /* or the end of the text */
    PT_READ_WHILE,        /* up to the first character that is not in another text, or that is */
    PT_READ_UNTIL,
    PT_READ_SEARCH, /* up to the end of the first such text in it */
};

typedef unsigned __int128 pt_u128;

#define PT_HOOKS_OF_SIZE(X, bytes, type)                                                                               \
    X(type, __portent_load##bytes, (const void *address, const struct pt_site *site))                                  \
    /* a load right before a store to the same memory, at the same site */                                             \
    X(type, __portent_peek##bytes, (const void *address, const struct pt_site *site))                                  \
    X(void, __portent_store##bytes, (void *address, type value, const struct pt_site *site))                           \
    X(type, __portent_atomic_load##bytes, (const void *address, int order, const struct pt_site *site))                \
    X(void, __portent_atomic_store##bytes, (void *address, type value, int order, const struct pt_site *site))         \
    X(type, __portent_atomic_rmw##bytes, (void *address, type operand, int op, int order, const struct pt_site *site)) \
    /* returns the old value; the exchange happened iff it equals `expected` */                                        \
    X(type, __portent_atomic_cas##bytes,                                                                               \
      (void *address, type expected, type desired, int success, int failure, const struct pt_site *site))

#define PT_HOOKS(X)                                                                                                    \
    PT_HOOKS_OF_SIZE(X, 1, uint8_t)                                                                                    \
    PT_HOOKS_OF_SIZE(X, 2, uint16_t)                                                                                   \
    PT_HOOKS_OF_SIZE(X, 4, uint32_t)                                                                                   \
    PT_HOOKS_OF_SIZE(X, 8, uint64_t)                                                                                   \
    PT_HOOKS_OF_SIZE(X, 16, pt_u128)                                                                                   \
    X(void, __portent_begin_read, (const void *address, size_t size, const struct pt_site *site))                      \
    X(void, __portent_end_read, (const void *address, size_t size, const struct pt_site *site))                        \
    X(void, __portent_begin_write, (void *address, size_t size, const struct pt_site *site))                           \
    X(void, __portent_end_write, (void *address, size_t size, const struct pt_site *site))                             \
    /* the same of an atomic operation: before it, what it may do, and after it, what it has done */                   \
    X(void, __portent_begin_atomic, (void *address, size_t size, int effect, const struct pt_site *site))              \
    X(void, __portent_end_atomic, (void *address, size_t size, int effect, int order, const struct pt_site *site))     \
    X(void, __portent_fence, (int order, const struct pt_site *site))                                                  \
    /* `source`: the same place, with the name of what is copied */                                                    \
    X(void *, __portent_memcpy,                                                                                        \
      (void *to, const void *from, size_t size, const struct pt_site *site, const struct pt_site *source))             \
    X(void *, __portent_memmove,                                                                                       \
      (void *to, const void *from, size_t size, const struct pt_site *site, const struct pt_site *source))             \
    X(void *, __portent_memset, (void *to, int byte, size_t size, const struct pt_site *site))                         \
    /* at most `limit` bytes of `from`; `room` bytes are there, or else the program ends as by _FORTIFY_SOURCE.        \
       Returns the end of what was copied. */                                                                          \
    X(char *, __portent_string,                                                                                        \
      (char *to, const char *from, size_t limit, size_t room, int op, const struct pt_site *site,                      \
       const struct pt_site *source))                                                                                  \
    /* right behind a call that has read memory, `op` of enum pt_read_op: `other` is what that speaks of, a byte being \
       its number */                                                                                                   \
    X(void, __portent_read, (const void *address, const void *other, size_t size, int op, const struct pt_site *site)) \
    /* right before a call that synchronises, to say where it stands: the object as the function gets it (of a join,   \
       the thread's handle), and, where it waits on a condition, the site with the name of the mutex, or else NULL */  \
    X(void, __portent_call, (const void *object, const struct pt_site *site, const struct pt_site *mutex))             \
    /* a function begins, and returns (core/functions.h) */                                                            \
    X(void, __portent_called,                                                                                          \
      (struct pt_function_record * function, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f))  \
    X(void, __portent_returned, (struct pt_function_record * function))                                                \
    /* right behind a call that has allocated memory, or NULL; a size of 0: as much as the allocator says */           \
    X(void, __portent_allocated, (const void *memory, size_t size, const struct pt_site *site))                        \
    /* of libstdc++: a pool of memory was made; a result will be ready when this thread has ended                      \
       (runtime/wrap/libstdcxx.c) */                                                                                   \
    X(void, __portent_pool_made, (void *pool))                                                                         \
    X(void, __portent_ready_at_exit, (void *element))

#define PT_DECLARE_HOOK(returns, name, parameters) returns name parameters;
PT_HOOKS(PT_DECLARE_HOOK)
#undef PT_DECLARE_HOOK

#endif
