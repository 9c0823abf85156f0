/* An allocator without malloc_usable_size. What stands before its objects would be an absurd size to libc's. */
#include <stddef.h>
#include <string.h>

static _Alignas(16) char pool[32 << 20];
static size_t used;
unsigned long frees;

void *malloc(size_t size)
{
    size_t whole = (size + 31) & ~(size_t)15, at = __atomic_fetch_add(&used, whole, __ATOMIC_RELAXED);
    if (at + whole > sizeof pool)
        return NULL;
    size_t *head = (size_t *)(pool + at);
    head[0] = size;
    head[1] = (size_t)1 << 44;
    return head + 2;
}

void free(void *object)
{
    if (object)
        __atomic_fetch_add(&frees, 1, __ATOMIC_RELAXED);
}

void *calloc(size_t count, size_t size)
{
    return malloc(count * size); /* never reused, so it is zero */
}

void *realloc(void *object, size_t size)
{
    void *larger = malloc(size);
    if (object && larger) {
        size_t old = ((size_t *)object)[-2];
        memcpy(larger, object, old < size ? old : size);
        free(object);
    }
    return larger;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    char *object = malloc(size + alignment);
    return object ? object + (alignment - (size_t)object % alignment) % alignment : NULL;
}

void *memalign(size_t alignment, size_t size)
{
    return aligned_alloc(alignment, size);
}
