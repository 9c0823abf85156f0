/* The thread runs before its creator has set what it needs.
 * bug: order violation
 * depth: 1
 * fails: signal
 * signal: SEGV
 * place: A
 */
#include "catalogue.h"

static int settings[] = {5, 6};
static int *_Atomic config;
static _Atomic int sum;

static void *worker(void *unused)
{
    usleep(5000);                /* its own start */
    sum = config[0] + config[1]; /* A */
    return unused;
}

int main(void)
{
#ifdef FIXED
    config = settings;
    pthread_t thread = start(worker, NULL);
#else
    pthread_t thread = start(worker, NULL);
    config = settings;
#endif
    join(thread);
    printf("sum %d\n", sum);
    return 0;
}
