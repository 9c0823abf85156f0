/* A pump and a valve that nobody brings into an order; with -DFIXED the pump opens the valve itself. For properties:
 * whether it fails is theirs to say, the program always ends with 0. */
#include <portent.h>
#include <pthread.h>

int w = 20, v = 50, limit = 7; /* limit is never accessed: its value is in the file */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *pump(void *unused)
{
    pthread_mutex_lock(&lock);
#ifdef FIXED
    v = 60;
#endif
    w = 31; /* breaks it */
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *valve(void *unused)
{
#ifndef FIXED
    pthread_mutex_lock(&lock);
    v = 60;
    pthread_mutex_unlock(&lock);
#endif
    portent_event("done");
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, valve, NULL);
    pthread_create(&threads[1], NULL, pump, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
