/* Waits that time out: a condition, a semaphore, a join, a read lock and nanosleep return what they return plain.
 * holds: x <= 5
 * violated: x != 3
 * ordered: yes
 */
#include "say.h"
#include <semaphore.h>
#include <time.h>

static int x;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, hold = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;

static void *worker(void *given)
{
    pthread_mutex_lock(&hold);
    pthread_mutex_unlock(&hold);
    return given;
}

int main(void)
{
    struct timespec past = {1, 0}, little = {0, 1000000};
    sem_t none;
    pthread_t thread;
    sem_init(&none, 0, 0);
    pthread_mutex_lock(&lock);
    SAY(x, 1);
    printf("%d ", pthread_cond_timedwait(&never, &lock, &past) == ETIMEDOUT);
    printf("%d ", pthread_cond_clockwait(&never, &lock, CLOCK_MONOTONIC, &past) == ETIMEDOUT);
    pthread_mutex_unlock(&lock);
    SAY(x, 2);
    printf("%d ", sem_timedwait(&none, &past) == -1 && errno == ETIMEDOUT);
    pthread_mutex_lock(&hold);
    NEED(pthread_create(&thread, NULL, worker, NULL) == 0);
    printf("%d ", pthread_timedjoin_np(thread, NULL, &past) == ETIMEDOUT);
    printf("%d ", pthread_tryjoin_np(thread, NULL) == EBUSY);
    pthread_mutex_unlock(&hold);
    pthread_join(thread, NULL);
    SAY(x, 3);
    pthread_rwlock_wrlock(&shared);
    printf("%d ", pthread_rwlock_timedrdlock(&shared, &past));
    printf("%d\n", nanosleep(&little, NULL));
    return 0;
}
