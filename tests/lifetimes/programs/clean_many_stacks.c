/* More threads than libc keeps stacks of, and what it gives back is used for blocks.
 * life: none
 */
#include "races.h"

static pthread_barrier_t barrier;

static void *one(void *unused)
{
    volatile char local[10000];
    local[5] = 1;
    pthread_barrier_wait(&barrier);
    return NULL;
}

int main(void)
{
    enum { THREADS = 12 };
    pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < THREADS; i++)
            threads[i] = start(one, NULL);
        for (int i = THREADS; i-- > 0;)
            pthread_join(threads[i], NULL);
        for (int i = 0; i < 12; i++) {
            volatile char *block = malloc(8 << 20);
            for (int at = 0; at < 8 << 20; at += 1000)
                block[at] = 1;
            free((void *)block);
        }
    }
    return 0;
}
