/* Four ways in which nobody gets on: two locks in both orders, a signal before the wait, two that give way to each
 * other for ever, and a loop that does not end. What each thread waits for stands in a function of its own. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static atomic_int one, other;
static int set;

__attribute__((noinline)) static void stand(int of_main)
{
#if WAY == 1
    pthread_mutex_lock(of_main ? &second : &first); /* the lock */
    pthread_mutex_unlock(of_main ? &second : &first);
#elif WAY == 2
    if (of_main)
        pthread_cond_wait(&condition, &first); /* the wait */
    else
        pthread_cond_signal(&condition);
#elif WAY == 3
    while (atomic_load(of_main ? &other : &one)) /* the loop */
        sched_yield();
#else
    int seen = of_main && set;
    while (seen) /* the end */
        __asm__ volatile("");
#endif
}

static void *worker(void *unused)
{
    pthread_mutex_lock(WAY == 1 ? &second : &first);
    set = 1;
    atomic_store(&other, 1);
    if (WAY == 3)
        pthread_mutex_unlock(&first);
    stand(0);
    atomic_store(&other, 0);
    if (WAY != 3)
        pthread_mutex_unlock(WAY == 1 ? &second : &first);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_mutex_lock(&first);
    atomic_store(&one, 1);
    if (WAY == 3)
        pthread_mutex_unlock(&first);
    stand(1);
    atomic_store(&one, 0);
    if (WAY != 3)
        pthread_mutex_unlock(&first);
    return pthread_join(thread, NULL);
}
