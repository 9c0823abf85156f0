/* Allocation that does not return NULL, growing arrays, and arenas (memory by lifetime). */
#ifndef PT_BASE_MEM_H
#define PT_BASE_MEM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Out of memory ends the process through the handler (the tool says so and exits 3; the default aborts). Limits a
 * user sets (--memory-limit) are counted by the engines themselves and end in "unknown" long before this.
 */
void pt_set_oom_handler(void (*handler)(void));
void *pt_xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *pt_xcalloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
void *pt_xrealloc(void *ptr, size_t size) __attribute__((returns_nonnull));
/* Zeroed; `alignment` is a power of two. */
void *pt_xaligned(size_t alignment, size_t size) __attribute__((returns_nonnull));
/* For much memory that will all be used, in large pages where there are. Not zeroed; freed by free. */
void *pt_xlarge(size_t size) __attribute__((returns_nonnull));
char *pt_xstrdup(const char *text) __attribute__((malloc, returns_nonnull));

/* The memory there will be read soon. gcc takes a function that does nothing but __builtin_prefetch for one without
 * effects, and leaves out calls of it; hence the second line. */
static inline void pt_prefetch(const void *at)
{
    __builtin_prefetch(at);
    __asm__ volatile("" : : "r"(at));
}

/* Makes room for at least `need` elements in `ptr`, whose capacity (in elements) is `cap`. */
#define PT_GROW(ptr, cap, need)                                                                                        \
    do {                                                                                                               \
        if ((size_t)(need) > (size_t)(cap)) {                                                                          \
            size_t pt_grow_new = (size_t)(cap) ? (size_t)(cap)*2 : 16;                                                 \
            while (pt_grow_new < (size_t)(need))                                                                       \
                pt_grow_new *= 2;                                                                                      \
            (ptr) = pt_xrealloc((ptr), pt_grow_new * sizeof *(ptr));                                                   \
            (cap) = pt_grow_new;                                                                                       \
        }                                                                                                              \
    } while (0)

/* Makes room for element `id`; what is new is zeroed. */
#define PT_ROOM(ptr, cap, id)                                                                                          \
    do {                                                                                                               \
        size_t pt_room_old = (cap);                                                                                    \
        if ((size_t)(id) >= pt_room_old) {                                                                             \
            PT_GROW(ptr, cap, (size_t)(id) + 1);                                                                       \
            memset((ptr) + pt_room_old, 0, ((cap)-pt_room_old) * sizeof *(ptr));                                       \
        }                                                                                                              \
    } while (0)

/* Appends `value` to the array `ptr` of `len` elements and capacity `cap`. */
#define PT_PUSH(ptr, len, cap, value)                                                                                  \
    do {                                                                                                               \
        PT_GROW(ptr, cap, (size_t)(len) + 1);                                                                          \
        (ptr)[(len)++] = (value);                                                                                      \
    } while (0)

/* A cache line, which another core may have, will be written soon: it is asked for. */
static inline void pt_fetch_to_write(const void *line)
{
#ifdef __x86_64__
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)line)); /* the compiler's would be one for reading */
#else
    __builtin_prefetch(line, 1);
#endif
}

/* An arena: allocations live until the arena is released. Pointers into it stay valid. */
struct pt_arena {
    struct pt_arena_block *head;
    size_t bytes; /* obtained from malloc so far */
};
void pt_arena_init(struct pt_arena *arena);
void pt_arena_release(struct pt_arena *arena);
void pt_arena_adopt(struct pt_arena *into, struct pt_arena *from); /* what `from` has lives as long as `into` */
void *pt_arena_alloc(struct pt_arena *arena, size_t size) __attribute__((returns_nonnull)); /* 16-aligned, zeroed */
char *pt_arena_strndup(struct pt_arena *arena, const char *text, size_t len);               /* NUL-terminated */

#endif
