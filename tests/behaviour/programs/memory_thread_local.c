/* Thread-local variables: each thread has its own, with the initial value, and what it passes on by pointer.
 * holds: x >= 0
 * violated: x != 13
 */
#include "say.h"

static _Thread_local int mine = 10;
static _Thread_local char text[100] = "initial";
static int x;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *given)
{
    NEED(mine == 10 && strcmp(text, "initial") == 0);
    mine += (int)(long)given;
    snprintf(text, sizeof text, "thread %d", mine);
    pthread_mutex_lock(&lock);
    SAY(x, mine);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t threads[5];
    mine = 3;
    for (long i = 0; i < 5; i++)
        NEED(pthread_create(&threads[i], NULL, worker, (void *)i) == 0);
    for (int i = 0; i < 5; i++)
        pthread_join(threads[i], NULL);
    SAY(x, mine);
    printf("%d %s\n", mine, text);
    return 0;
}
