/* Sixteen threads at the lowest priority on one processor, that yield to each other.
 * holds: x <= 160
 * violated: x != 160
 */
#include "say.h"
#include <sched.h>

enum { ALL = 16 };
static int x;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *given)
{
    NEED(nice(19) != -1);
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&lock);
        SAY(x, x + 1);
        sched_yield();
        pthread_mutex_unlock(&lock);
    }
    return given;
}

int main(void)
{
    cpu_set_t set;
    pthread_t threads[ALL];
    NEED(sched_getaffinity(0, sizeof set, &set) == 0);
    for (int i = 0, kept = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set) && kept++)
            CPU_CLR(i, &set);
    NEED(sched_setaffinity(0, sizeof set, &set) == 0);
    for (int i = 0; i < ALL; i++)
        NEED(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    for (int i = 0; i < ALL; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", x);
    return 0;
}
