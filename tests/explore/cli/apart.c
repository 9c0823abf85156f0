/* Two writes that do not depend on each other: one schedule up to the order of independent steps, which a property sees. */
#include <pthread.h>
#include <stdatomic.h>

atomic_int x, y;

static void *one(void *unused)
{
    x = 1;
    return unused;
}

static void *two(void *unused)
{
    y = 1;
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, one, NULL);
    pthread_create(&threads[1], NULL, two, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
