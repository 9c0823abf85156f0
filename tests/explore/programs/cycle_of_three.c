/* Three locks, each thread takes two of them, in a circle.
 * bug: deadlock
 * depth: 3
 * fails: deadlock
 * place: A
 */
#include "catalogue.h"

static pthread_mutex_t locks[3] = {LOCK, LOCK, LOCK};

static void *thread(void *argument)
{
    int me = *(int *)argument, first = me, second = (me + 1) % 3;
#ifdef FIXED
    if (second < first) {
        first = second;
        second = me;
    }
#endif
    lock(&locks[first]);
    lock(&locks[second]); /* A */
    unlock(&locks[second]);
    unlock(&locks[first]);
    return NULL;
}

int main(void)
{
    static int ids[] = {0, 1, 2};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        threads[i] = start(thread, &ids[i]);
    for (int i = 0; i < 3; i++)
        join(threads[i]);
    return 0;
}
