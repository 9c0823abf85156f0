/* Threads that look at what never changes: WAY 1 counts its turns in a register, 2 on its stack, 3 in memory of its
 * own, and each gives up after 3000; 4 tries a lock that others have for a while, and counts what it got; 5 goes on for
 * ever. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int never;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int had;

static int poll(long *tries)
{
    switch (WAY) {
    case 1:
        for (int i = 0; i < 3000; i++)
            if (atomic_load(&never))
                return 1;
        return 0;
    case 2:
        for (volatile int i = 0; i < 3000; i++)
            if (atomic_load(&never))
                return 1;
        return 0;
    case 3:
        while (++*tries < 3000)
            if (atomic_load(&never))
                return 1;
        return 0;
    case 4:
        for (int i = 0; i < 600; i++)
            if (pthread_mutex_trylock(&lock) == 0) {
                had++;
                pthread_mutex_unlock(&lock);
            }
        return 0;
    default:
        while (!atomic_load(&never))
            ;
        return 0;
    }
}

static void *work(void *unused)
{
    long *tries = calloc(1, sizeof *tries);
    int found = poll(tries);
    free(tries);
    return found ? &lock : unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
