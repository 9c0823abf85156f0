/* Four threads and ten rounds, with a barrier before and after each round's one write.
 * holds: round_ >= 0 && round_ <= 10
 * violated: round_ != 7
 * ordered: yes
 */
#include "say.h"

enum { ALL = 4 };
static int round_, cells[ALL];
static pthread_barrier_t barrier;

static void *worker(void *given)
{
    long me = (long)given;
    for (int i = 1; i <= 10; i++) {
        cells[me] += i;
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
            SAY(round_, i);
        pthread_barrier_wait(&barrier);
        NEED(round_ == i && cells[(me + 1) % ALL] == i * (i + 1) / 2);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[ALL];
    pthread_barrier_init(&barrier, NULL, ALL);
    for (long i = 0; i < ALL; i++)
        NEED(pthread_create(&threads[i], NULL, worker, (void *)i) == 0);
    for (int i = 0; i < ALL; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
    printf("%d\n", round_);
    return 0;
}
