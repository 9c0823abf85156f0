/* Main ends by pthread_exit while its threads work on; the last one ends the process with status 0.
 * holds: x <= 30
 * violated: x < 30
 */
#include "say.h"

static int x;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t first;

static void *worker(void *given)
{
    if (given)
        pthread_join(first, NULL); /* main is over now */
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&lock);
        SAY(x, x + 1);
        pthread_mutex_unlock(&lock);
    }
    if (given) {
        puts("the last one");
        fflush(stdout);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread, last;
    first = pthread_self();
    NEED(pthread_create(&thread, NULL, worker, NULL) == 0);
    pthread_join(thread, NULL);
    SAY(x, 20);
    NEED(pthread_create(&last, NULL, worker, &first) == 0);
    pthread_exit(NULL);
}
