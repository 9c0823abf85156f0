/* Each round reads its neighbour's value of the last one; without a second barrier the neighbour has overwritten it.
 * bug: missing barrier
 * depth: 2
 * fails: signal
 * place: A
 */
#include "catalogue.h"

static pthread_barrier_t b;
static _Atomic int values[2];

static void *thread(void *argument)
{
    int me = *(int *)argument;
    for (int round = 1; round <= 2; round++) {
        values[me] = round;
        pthread_barrier_wait(&b);
        assert(values[1 - me] == round); /* A */
#ifdef FIXED
        pthread_barrier_wait(&b);
#endif
        usleep(3000);
    }
    return NULL;
}

int main(void)
{
    static int ids[] = {0, 1};
    pthread_barrier_init(&b, NULL, 2);
    pthread_t one = start(thread, &ids[0]), two = start(thread, &ids[1]);
    join(one);
    join(two);
    return 0;
}
