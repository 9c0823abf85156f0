/* A thread is cancelled at a cancellation point inside its critical section, and nobody gives its lock back.
 * bug: shutdown race
 * depth: 1
 * fails: deadlock|lost-wakeup
 * place: A
 */
#include "catalogue.h"

static pthread_mutex_t m = LOCK;
static int value;

static void give_back(void *unused)
{
    (void)unused;
    unlock(&m);
}

static void *worker(void *unused)
{
    lock(&m);
#ifdef FIXED
    pthread_cleanup_push(give_back, NULL);
    pthread_testcancel();
    value++;
    pthread_cleanup_pop(1);
#else
    pthread_testcancel(); /* A */
    value++;
    give_back(NULL);
#endif
    return unused;
}

int main(void)
{
    pthread_t thread = start(worker, NULL);
    usleep(20000); /* other work */
    pthread_cancel(thread);
    join(thread);
    lock(&m);
    value++;
    unlock(&m);
    return 0;
}
