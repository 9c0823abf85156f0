/* Five workers announce their ends before they have stored their results; main adds up too early.
 * bug: order violation
 * depth: 2
 * fails: status
 * place: A
 */
#include "catalogue.h"

enum { WORKERS = 5 };
static _Atomic int left = WORKERS, results[WORKERS];

static void *worker(void *argument)
{
    int me = *(int *)argument;
#ifdef FIXED
    results[me] = me + 1;
    left--;
#else
    left--;
    results[me] = me + 1; /* A */
#endif
    return NULL;
}

int main(void)
{
    static int ids[WORKERS];
    pthread_t threads[WORKERS];
    int sum = 0;
    for (int i = 0; i < WORKERS; i++) {
        ids[i] = i;
        threads[i] = start(worker, &ids[i]);
    }
    while (left)
        usleep(1000);
    for (int i = 0; i < WORKERS; i++)
        sum += results[i];
    for (int i = 0; i < WORKERS; i++)
        join(threads[i]);
    printf("sum %d\n", sum);
    return sum == 15 ? 0 : 8;
}
