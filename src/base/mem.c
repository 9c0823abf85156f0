/*
 * Allocation that ends the program rather than fail, and arenas. Guarantee: what is returned is never NULL, and memory
 * of an arena is zero and stays where it is. Cost: an allocation from an arena is a few instructions; an arena wastes
 * at most about as much as it holds.
 */
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void (*oom_handler)(void) = abort;

void pt_set_oom_handler(void (*handler)(void))
{
    oom_handler = handler;
}

static void *checked(void *ptr)
{
    if (!ptr) {
        oom_handler();
        abort();
    }
    return ptr;
}

void *pt_xmalloc(size_t size)
{
    return checked(malloc(size ? size : 1));
}

void *pt_xcalloc(size_t count, size_t size)
{
    return checked(calloc(count ? count : 1, size ? size : 1));
}

void *pt_xrealloc(void *ptr, size_t size)
{
    return checked(realloc(ptr, size ? size : 1));
}

void *pt_xaligned(size_t alignment, size_t size)
{
    size_t rounded = (size + alignment) / alignment * alignment; /* aligned_alloc wants a multiple; never 0 */
    return memset(checked(aligned_alloc(alignment, rounded)), 0, rounded);
}

/* The kernel gives memory in pages when it is first written, and threads that do so at one time wait for each other
 * there: of large pages there are 512 times fewer. */
void *pt_xlarge(size_t size)
{
    const size_t page = (size_t)2 << 20;
    if (size < 2 * page)
        return pt_xmalloc(size);
    size_t rounded = (size + page - 1) / page * page;
    void *memory = checked(aligned_alloc(page, rounded));
    (void)madvise(memory, rounded, MADV_HUGEPAGE); /* where it cannot be, small ones do */
    return memory;
}

char *pt_xstrdup(const char *text)
{
    size_t n = strlen(text) + 1;
    return memcpy(pt_xmalloc(n), text, n);
}

/* Blocks are as large as all before them together, within these bounds: many arenas hold next to nothing. */
enum { FIRST_BLOCK = 512, LAST_BLOCK = 64 * 1024 };

struct pt_arena_block {
    struct pt_arena_block *next;
    size_t used, size;
    _Alignas(16) char data[];
};

void pt_arena_init(struct pt_arena *arena)
{
    *arena = (struct pt_arena){0};
}

void pt_arena_release(struct pt_arena *arena)
{
    for (struct pt_arena_block *b = arena->head, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    pt_arena_init(arena);
}

void pt_arena_adopt(struct pt_arena *into, struct pt_arena *from)
{
    struct pt_arena_block **end = &into->head; /* behind the one that has room left */
    while (*end)
        end = &(*end)->next;
    *end = from->head;
    into->bytes += from->bytes;
    pt_arena_init(from);
}

static size_t block_size(const struct pt_arena *arena)
{
    return arena->bytes < FIRST_BLOCK ? FIRST_BLOCK : arena->bytes < LAST_BLOCK ? arena->bytes : LAST_BLOCK;
}

void *pt_arena_alloc(struct pt_arena *arena, size_t size)
{
    struct pt_arena_block *b = arena->head;
    size = (size + 15) & ~(size_t)15;
    if (!b || b->size - b->used < size) {
        size_t block = block_size(arena), want = size > block / 4 ? size : block;
        b = pt_xcalloc(1, sizeof *b + want);
        b->size = want;
        arena->bytes += sizeof *b + want;
        if (want == size && arena->head) { /* a large object: keep filling the current block */
            b->next = arena->head->next;
            arena->head->next = b;
        } else {
            b->next = arena->head;
            arena->head = b;
        }
    }
    void *p = b->data + b->used;
    b->used += size;
    return p;
}

char *pt_arena_strndup(struct pt_arena *arena, const char *text, size_t len)
{
    char *p = pt_arena_alloc(arena, len + 1);
    memcpy(p, text, len);
    return p;
}
