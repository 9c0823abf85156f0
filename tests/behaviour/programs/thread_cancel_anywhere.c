/* Threads are cancelled asynchronously, each in the middle of another kind of access; the next ones make the same.
 * holds: x <= 20
 * violated: x != 20
 * ordered: yes
 */
#include "say.h"
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

enum { ROUNDS = 20, BLOCK = 300 };

struct block {
    unsigned char bytes[BLOCK];
};

static int x;
static sem_t started, counted;
static volatile unsigned long number;
static volatile unsigned char small[16];
static _Atomic unsigned shared;
static struct block from, to;
static struct timespec moment;

static void plain(void)
{
    number++;
}

static void bytes(void)
{
    for (size_t i = 0; i < sizeof small; i++)
        small[i]++;
}

static void atomics(void)
{
    unsigned seen = atomic_load(&shared);
    atomic_compare_exchange_strong(&shared, &seen, seen + 1);
    atomic_fetch_add(&shared, 1);
}

static void blocks(void)
{
    to = from;
    memset(&from, to.bytes[0] + 1, sizeof from);
}

static void filled(void)
{
    clock_gettime(CLOCK_MONOTONIC, &moment);
}

static void synchronised(void)
{
    sem_post(&counted);
    sem_trywait(&counted);
}

static void (*const kinds[])(void) = {plain, bytes, atomics, blocks, filled, synchronised};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void *worker(void *given)
{
    void (*kind)(void) = *(void (*const *)(void))given;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    sem_post(&started);
    for (;;)
        kind();
    return given;
}

/* All of them have begun before the first is cancelled. */
static void cancel_all(unsigned after)
{
    pthread_t threads[KINDS];
    void *result;
    for (int i = 0; i < KINDS; i++)
        NEED(pthread_create(&threads[i], NULL, worker, (void *)&kinds[i]) == 0);
    for (int i = 0; i < KINDS; i++)
        while (sem_wait(&started) != 0)
            ;
    usleep(after);
    for (int i = 0; i < KINDS; i++)
        pthread_cancel(threads[i]);
    for (int i = 0; i < KINDS; i++) {
        pthread_join(threads[i], &result);
        NEED(result == PTHREAD_CANCELED);
    }
}

int main(void)
{
    sem_init(&started, 0, 0);
    sem_init(&counted, 0, 0);
    for (int i = 0; i < ROUNDS; i++) {
        cancel_all((unsigned)(i * 7 % 40));
        SAY(x, i + 1);
    }
    puts("cancelled");
    return 0;
}
