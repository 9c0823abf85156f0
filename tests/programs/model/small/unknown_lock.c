/* expect: locked false, locked false */
/* note: unknown_lock.c:\d+: what 'take' does is not known.* */
/* note: unknown_lock.c:\d+: a way leads here on which the mutex was not locked, but by a function without a body .* */
#include <portent.h>
#include <pthread.h>

void take(pthread_mutex_t *mutex); /* somewhere else */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int x;

static void *run(void *arg)
{
    portent_begin("locked");
    take(&mutex);
    x++;
    pthread_mutex_unlock(&mutex);
    portent_end("locked");
    return arg;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, run, NULL);
    run(NULL);
    return pthread_join(thread, NULL);
}
