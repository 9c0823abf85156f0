/* A detached thread, whose end main waits for by a condition.
 * holds: x <= 5
 * violated: x < 5
 * ordered: yes
 * threads: main background
 */
#include "say.h"

static int x, done;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;

static void *background(void *given)
{
    (void)given;
    pthread_mutex_lock(&lock);
    for (int i = 1; i <= 5; i++)
        SAY(x, i);
    done = 1;
    pthread_cond_signal(&ended);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    NEED(pthread_create(&thread, &detached, background, NULL) == 0);
    pthread_attr_destroy(&detached);
    pthread_mutex_lock(&lock);
    while (!done)
        pthread_cond_wait(&ended, &lock);
    SAY(x, -1);
    pthread_mutex_unlock(&lock);
    puts("done");
    return 0;
}
