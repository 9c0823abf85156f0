/* Four philosophers take the left fork first.
 * bug: deadlock
 * depth: 4
 * fails: deadlock
 * place: A
 */
#include "catalogue.h"

enum { SEATS = 4 };
static pthread_mutex_t forks[SEATS] = {LOCK, LOCK, LOCK, LOCK};
static int meals;
static pthread_mutex_t kitchen = LOCK;

static void *philosopher(void *argument)
{
    int me = *(int *)argument, left = me, right = (me + 1) % SEATS;
#ifdef FIXED
    if (me == SEATS - 1) {
        left = right;
        right = me;
    }
#endif
    lock(&forks[left]);
    lock(&forks[right]); /* A */
    lock(&kitchen);
    meals++;
    unlock(&kitchen);
    unlock(&forks[right]);
    unlock(&forks[left]);
    return NULL;
}

int main(void)
{
    static int ids[] = {0, 1, 2, 3};
    pthread_t threads[SEATS];
    for (int i = 0; i < SEATS; i++)
        threads[i] = start(philosopher, &ids[i]);
    for (int i = 0; i < SEATS; i++)
        join(threads[i]);
    return meals == SEATS ? 0 : 98;
}
