/* Two threads have a block, and the last one frees it. TWICE: both may find that they are the last. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct block {
    atomic_int users;
    int value;
};

static void *use(void *argument)
{
    struct block *block = argument;
    int seen = block->value;
    (void)seen;
#ifdef TWICE
    atomic_fetch_sub_explicit(&block->users, 1, memory_order_acq_rel);
    if (atomic_load(&block->users) == 0)
        free(block);
#else /* a race of the read and the free by C's rules; but the free comes last in every schedule */
    if (atomic_fetch_sub_explicit(&block->users, 1, memory_order_relaxed) == 1)
        free(block);
#endif
    return NULL;
}

int main(void)
{
    pthread_t one, two;
    struct block *block = malloc(sizeof *block);
    atomic_init(&block->users, 2);
    block->value = 1;
    pthread_create(&one, NULL, use, block);
    pthread_create(&two, NULL, use, block);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
