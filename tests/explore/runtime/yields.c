/* Waits for another thread in a loop of which nothing is seen but that it yields, as libuv does for the handles of its
 * loops. That main comes first is tried, because its load behind the loop is not ordered with the store before its end;
 * it does not get so far. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>

static int ready;
static atomic_int stored;
static sem_t begun;

static int load(int *at)
{
    int value;
    __asm__ volatile("movl %1, %0" : "=r"(value) : "m"(*at));
    return value;
}

static void *worker(void *unused)
{
    sem_post(&begun);
    atomic_store(&stored, 1);
    __asm__ volatile("movl $1, %0" : "=m"(ready));
    return unused;
}

int main(void)
{
    pthread_t thread;
    sem_init(&begun, 0, 0);
    pthread_create(&thread, NULL, worker, NULL);
    sem_wait(&begun);
    while (!load(&ready))
        sched_yield();
    if (!atomic_load(&stored))
        return 1;
    return pthread_join(thread, NULL);
}
