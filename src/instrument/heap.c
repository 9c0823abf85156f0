/*
 * malloc and its kin for clang, as a library that the driver preloads into it (driver.c): a compiler asks for memory
 * some six million times for ten thousand lines, and the C library's malloc takes a tenth of its time.
 *
 * Blocks have sizes of a hundred classes: multiples of 16 bytes up to 1 KiB, from there on four for each power of two.
 * A thread has for each class a list of free blocks, and a run from which new ones are cut, one behind the other; runs
 * are cut from regions. There are no locks: a block that another thread frees is that thread's from then on. Large
 * blocks are mapped each by itself.
 *
 * Nothing is divided, united or given back, since a compiler ends soon; what a thread has when it ends is lost. That is
 * the price: mdb.c takes 172 MB instead of 160, and whoever first needs much memory of one size and then of another
 * has both.
 *
 * Before each block stands a word: its class, and beyond that what `free` has to know of large and of aligned ones.
 */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    STEP = 16, /* what every block is aligned to */
    SMALL = 1 << 10,
    MOST = 1 << 18, /* with the word; more is mapped by itself */
    RUN = 1 << 13,
    REGION = 1 << 22,
    PAGE = 1 << 12,
    LARGE = 0,     /* in place of a class; the number is the length of the mapping */
    ALIGNED = 255, /* the same; the number says how many bytes further back the block is that this is in */
    CLASS_BITS = 8,
    CLASSES = SMALL / STEP + 4 * (18 - 10) + 1,
};

struct class
{
    void *free;     /* blocks, each with the address of the next in it */
    char *at, *end; /* what is left of the run */
};

static __thread __attribute__((tls_model("initial-exec"))) struct {
    struct class classes[CLASSES];
    char *at, *end; /* what is left of the region */
} mine;

#define PUBLIC __attribute__((visibility("default")))

static uint64_t *word_of(void *block)
{
    return (uint64_t *)block - 1;
}

static uint64_t make_word(uint64_t number, unsigned class)
{
    return number << CLASS_BITS | class;
}

static unsigned class_in(uint64_t word)
{
    return word & ((1 << CLASS_BITS) - 1);
}

/* `bytes` with the word, at most MOST; then so many as all of its class have. */
static unsigned class_of(size_t *bytes)
{
    if (*bytes <= SMALL) {
        *bytes = (*bytes + STEP - 1) & ~(size_t)(STEP - 1);
        return (unsigned)(*bytes / STEP);
    }
    unsigned power = 63 - (unsigned)__builtin_clzl(*bytes - 1), shift = power - 2;
    size_t quarters = (*bytes - 1) >> shift; /* 4 to 7 */
    *bytes = (quarters + 1) << shift;
    return (unsigned)(SMALL / STEP + 4 * (power - 10) + (quarters - 4) + 1);
}

static size_t bytes_of(unsigned class)
{
    if (class <= SMALL / STEP)
        return (size_t) class * STEP;
    unsigned over = class - SMALL / STEP - 1;
    return (size_t)(5 + over % 4) << (10 - 2 + over / 4);
}

static void *map(size_t bytes)
{
    void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped != MAP_FAILED)
        return mapped;
    errno = ENOMEM;
    return NULL;
}

static void *map_large(size_t size)
{
    if (size > PTRDIFF_MAX - PAGE) {
        errno = ENOMEM;
        return NULL;
    }
    size_t bytes = (size + STEP + PAGE - 1) & ~(size_t)(PAGE - 1);
    char *mapped = map(bytes);
    if (!mapped)
        return NULL;
    *word_of(mapped + STEP) = make_word(bytes, LARGE);
    return mapped + STEP;
}

/* What is left of a region is too short for this, and lost. Before its first block there is room for a word. */
static char *cut(size_t bytes)
{
    if ((size_t)(mine.end - mine.at) < bytes) {
        char *region = map(REGION);
        if (!region)
            return NULL;
        mine.at = region + STEP;
        mine.end = region + REGION;
    }
    mine.at += bytes;
    return mine.at - bytes;
}

static void *new_block(struct class *class, size_t bytes)
{
    if (class->at == class->end) {
        size_t run = bytes < RUN ? RUN / bytes * bytes : bytes;
        char *at = cut(run);
        if (!at)
            return NULL;
        class->at = at;
        class->end = at + run;
    }
    char *block = class->at;
    class->at += bytes;
    *word_of(block) = make_word(0, (unsigned)(class - mine.classes));
    return block;
}

PUBLIC void *malloc(size_t size)
{
    if (size > MOST - sizeof(uint64_t))
        return map_large(size);
    size_t bytes = size + sizeof(uint64_t);
    struct class *class = &mine.classes[class_of(&bytes)];
    void *block = class->free;
    if (!block)
        return new_block(class, bytes);
    class->free = *(void **)block;
    return block;
}

/* The block that this is, or is in. */
static void *whole(void *memory)
{
    uint64_t word = *word_of(memory);
    return class_in(word) == ALIGNED ? (char *)memory - (word >> CLASS_BITS) : memory;
}

PUBLIC void free(void *memory)
{
    if (!memory)
        return;
    void *block = whole(memory);
    uint64_t word = *word_of(block);
    if (class_in(word) == LARGE) {
        int before = errno; /* is as it was, after `free` */
        munmap((char *)block - STEP, word >> CLASS_BITS);
        errno = before;
        return;
    }
    struct class *class = &mine.classes[class_in(word)];
    *(void **)block = class->free;
    class->free = block;
}

PUBLIC size_t malloc_usable_size(void *memory)
{
    if (!memory)
        return 0;
    char *block = whole(memory);
    uint64_t word = *word_of(block);
    size_t size = class_in(word) == LARGE ? (word >> CLASS_BITS) - STEP : bytes_of(class_in(word)) - sizeof(uint64_t);
    return size - (size_t)((char *)memory - block);
}

PUBLIC void *calloc(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    void *block = malloc(bytes);
    if (block && class_in(*word_of(block)) != LARGE) /* that is new */
        memset(block, 0, bytes);
    return block;
}

PUBLIC void *realloc(void *memory, size_t size)
{
    size_t had = malloc_usable_size(memory);
    if (memory && size <= had && (had <= MOST || size > had / 2))
        return memory;
    void *block = malloc(size);
    if (block && memory) {
        memcpy(block, memory, size < had ? size : had);
        free(memory);
    }
    return block;
}

PUBLIC void *memalign(size_t alignment, size_t size)
{
    if (alignment <= STEP)
        return malloc(size);
    if (alignment > PTRDIFF_MAX || size > PTRDIFF_MAX - alignment) {
        errno = ENOMEM;
        return NULL;
    }
    char *block = malloc(size + alignment);
    size_t over = (uintptr_t)block & (alignment - 1);
    if (!block || over == 0)
        return block;
    size_t further = alignment - over;
    *word_of(block + further) = make_word(further, ALIGNED);
    return block + further;
}

PUBLIC void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

PUBLIC int posix_memalign(void **ret_memory, size_t alignment, size_t size)
{
    if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0)
        return EINVAL;
    int before = errno;
    void *block = memalign(alignment, size);
    errno = before;
    if (!block)
        return ENOMEM;
    *ret_memory = block;
    return 0;
}

PUBLIC void *valloc(size_t size)
{
    return memalign(PAGE, size);
}

PUBLIC void *pvalloc(size_t size)
{
    return memalign(PAGE, (size + PAGE - 1) & ~(size_t)(PAGE - 1));
}
