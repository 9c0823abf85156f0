/* main gives the worker time, then returns; the exit handler takes away what the worker uses.
 * bug: shutdown race
 * depth: 2
 * fails: signal
 * signal: SEGV
 * place: A
 */
#include "catalogue.h"

static int numbers[] = {1, 2, 3, 4};
static int *_Atomic data = numbers;
static _Atomic int sum, closed;

static void clean_up(void)
{
    data = NULL;
    closed = 1;
}

static void *worker(void *unused)
{
    for (int i = 0; i < 4; i++)
        sum += data[i]; /* A */
    return unused;
}

int main(void)
{
    NEED(atexit(clean_up) == 0);
    pthread_t thread = start(worker, NULL);
#ifdef FIXED
    join(thread);
#else
    pthread_detach(thread);
    usleep(20000);
#endif
    return 0;
}
