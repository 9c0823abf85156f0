/* Three stages of a pipeline are kept in order by sleeps of different lengths.
 * bug: sleep as synchronisation
 * depth: 1
 * fails: status
 * place: A
 */
#include "catalogue.h"

static char order[4];
static _Atomic int count;
static sem_t turns[4];

static void *stage(void *argument)
{
    int number = *(int *)argument;
#ifdef FIXED
    sem_wait(&turns[number]);
#else
    usleep(10000 * number); /* A */
#endif
    order[count++] = (char)('a' + number);
    sem_post(&turns[number + 1]);
    return NULL;
}

int main(void)
{
    static int numbers[] = {0, 1, 2};
    pthread_t threads[3];
    for (int i = 0; i < 4; i++)
        sem_init(&turns[i], 0, i == 0);
    for (int i = 0; i < 3; i++)
        threads[i] = start(stage, &numbers[i]);
    for (int i = 0; i < 3; i++)
        join(threads[i]);
    printf("%s\n", order);
    return strcmp(order, "abc") == 0 ? 0 : 7;
}
