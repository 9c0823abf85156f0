/* Two writes that do not depend on each other: one schedule up to the order of independent steps, which a property
 * sees. */
#include <portent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

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

static void both(void *unused)
{
    pthread_t threads[2];
    (void)unused;
    x = y = 0;
    pthread_create(&threads[0], NULL, one, NULL);
    pthread_create(&threads[1], NULL, two, NULL);
    pthread_join(threads[0], NULL);
#ifdef LEAVES
    exit(0); /* the other thread may not have ended, or begun */
#endif
    pthread_join(threads[1], NULL);
}

int main(void)
{
#ifdef BODY
    portent_explore_body(both, NULL);
#else
    both(NULL);
#endif
    return 0;
}
