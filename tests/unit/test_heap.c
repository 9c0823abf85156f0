/* The memory that clang is given (src/instrument/heap.c), under other names: blocks are aligned, apart from each other,
 * and keep what is in them, whoever frees them. */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#define malloc             heap_malloc
#define free               heap_free
#define calloc             heap_calloc
#define realloc            heap_realloc
#define memalign           heap_memalign
#define aligned_alloc      heap_aligned_alloc
#define posix_memalign     heap_posix_memalign
#define valloc             heap_valloc
#define pvalloc            heap_pvalloc
#define malloc_usable_size heap_malloc_usable_size
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* under these names there are none */
#include "instrument/heap.c"                          /* NOLINT(bugprone-suspicious-include) */
#pragma GCC diagnostic pop

enum { BLOCKS = 400, ROUNDS = 60000, THREADS = 3 };

struct block {
    unsigned char *at;
    size_t size;
    unsigned char filled;
};

struct work {
    struct block blocks[BLOCKS];
    uint64_t seed;
};

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

static bool is_intact(const struct block *block)
{
    for (size_t i = 0; i < block->size; i++)
        if (block->at[i] != block->filled)
            return false;
    return true;
}

static void fill(struct block *block, struct work *work, size_t size)
{
    block->size = size;
    block->filled = (unsigned char)next_random(&work->seed);
    memset(block->at, block->filled, size);
}

/* Most are small; some are of the largest class, and some mapped. */
static size_t random_size(struct work *work)
{
    static const size_t most[] = {24, 24, 200, 200, 2000, 20000, MOST + PAGE, 3 * MOST};
    unsigned which = (unsigned)(next_random(&work->seed) % 256);
    return next_random(&work->seed) % most[which < 250 ? which % 6 : 6 + which % 2];
}

static void *new_memory(struct work *work, size_t size)
{
    void *made = NULL;
    size_t alignment = (size_t)8 << next_random(&work->seed) % 7;
    switch (next_random(&work->seed) % 8) {
    case 0:
        assert_int_equal(posix_memalign(&made, alignment, size), 0);
        assert_int_equal((uintptr_t)made % alignment, 0);
        return made;
    case 1:
        made = calloc(1, size);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(((unsigned char *)made)[i], 0);
        return made;
    default:
        return malloc(size);
    }
}

static void one_round(struct work *work)
{
    struct block *block = &work->blocks[next_random(&work->seed) % BLOCKS];
    size_t size = random_size(work);
    if (!block->at) {
        block->at = new_memory(work, size);
    } else if (next_random(&work->seed) % 4 == 0) {
        size_t kept = size < block->size ? size : block->size;
        block->at = realloc(block->at, size);
        block->size = kept;
        assert_true(is_intact(block));
    } else {
        assert_true(is_intact(block));
        free(block->at);
        block->at = NULL;
        return;
    }
    assert_non_null(block->at);
    assert_int_equal((uintptr_t)block->at % 16, 0);
    assert_true(malloc_usable_size(block->at) >= size);
    fill(block, work, size);
}

static void *work_on(void *arg)
{
    for (unsigned i = 0; i < ROUNDS; i++)
        one_round(arg);
    return NULL;
}

/* Each thread goes on with the blocks of another. */
static void blocks_keep_what_is_in_them(void **state)
{
    (void)state;
    static struct work works[THREADS];
    for (unsigned turn = 0; turn < 3; turn++) {
        pthread_t threads[THREADS];
        for (unsigned t = 0; t < THREADS; t++) {
            works[t].seed = turn * THREADS + t + 1;
            assert_int_equal(pthread_create(&threads[t], NULL, work_on, &works[t]), 0);
        }
        for (unsigned t = 0; t < THREADS; t++)
            pthread_join(threads[t], NULL);
    }
    for (unsigned t = 0; t < THREADS; t++)
        for (unsigned i = 0; i < BLOCKS; i++)
            if (works[t].blocks[i].at) {
                assert_true(is_intact(&works[t].blocks[i]));
                free(works[t].blocks[i].at);
            }
}

static void classes_fit(void **state)
{
    (void)state;
    unsigned before = 1;
    for (size_t size = 1; size <= MOST; size++) {
        size_t bytes = size;
        unsigned class = class_of(&bytes);
        assert_true(class == before || class == before + 1);
        assert_int_equal(bytes, bytes_of(class));
        assert_true(bytes >= size && bytes % STEP == 0 && (bytes <= size + size / 4 || bytes < size + STEP));
        before = class;
    }
    assert_int_equal(before, CLASSES - 1);
}

static void too_much_is_refused(void **state)
{
    (void)state;
    void *volatile none = malloc(SIZE_MAX);
    assert_null(none);
    assert_int_equal(errno, ENOMEM);
    none = malloc((size_t)PTRDIFF_MAX - 2 * PAGE);
    assert_null(none);
    none = calloc(SIZE_MAX / 2, 3);
    assert_null(none);
    none = memalign(64, SIZE_MAX - 8);
    assert_null(none);
    void *kept = malloc(100), *made = &kept;
    assert_null(realloc(kept, SIZE_MAX));
    assert_int_equal(posix_memalign(&made, 24, 1), EINVAL);
    assert_int_equal(posix_memalign(&made, 64, SIZE_MAX), ENOMEM);
    assert_ptr_equal(made, &kept);
    free(kept);
    free(NULL);
}

/* What was freed is used again; of a large block that shrinks most is given back. */
static void memory_is_used_again(void **state)
{
    (void)state;
    void *first = malloc(100);
    free(first);
    assert_ptr_equal(malloc(97), first);
    free(first);
    char *large = malloc(16 * MOST);
    large[0] = 'x';
    large = realloc(large, MOST);
    assert_true(large[0] == 'x' && malloc_usable_size(large) < 2 * MOST);
    free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_keep_what_is_in_them),
        cmocka_unit_test(classes_fit),
        cmocka_unit_test(too_much_is_refused),
        cmocka_unit_test(memory_is_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
