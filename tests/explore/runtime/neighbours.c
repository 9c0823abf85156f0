/* Two ints in one word of the machine, each of one thread: nothing is shared. */
#include <pthread.h>

static _Alignas(8) int counts[2];

static void *count(void *at)
{
    for (int i = 0; i < 5; i++)
        ++*(volatile int *)at;
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, count, &counts[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return counts[0] + counts[1] - 10;
}
