/* Two threads count with two counters: one under a lock, one without. */
#include <pthread.h>
#include <stdio.h>

enum { TIMES = 100 };

static int hits;  /* nothing protects it */
static int total; /* under the lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *count(void *unused)
{
    for (int i = 0; i < TIMES; i++) {
        hits++;
        pthread_mutex_lock(&lock);
        total++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void)
{
    pthread_t a, b;
    if (pthread_create(&a, NULL, count, NULL) != 0 || pthread_create(&b, NULL, count, NULL) != 0)
        return 1;
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("counted %d under the lock\n", total);
    return 0;
}
