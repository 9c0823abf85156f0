/* A thread calls exit while main waits for it; handlers run in that thread.
 * holds: x <= 3
 * violated: x != 3
 * ordered: yes
 */
#include "say.h"

static int x;
static pthread_t first;

static void handler(void)
{
    NEED(!pthread_equal(pthread_self(), first));
    SAY(x, 3);
    puts("handled");
}

static void *worker(void *given)
{
    (void)given;
    SAY(x, 2);
    exit(33);
}

int main(void)
{
    pthread_t thread;
    first = pthread_self();
    atexit(handler);
    SAY(x, 1);
    NEED(pthread_create(&thread, NULL, worker, NULL) == 0);
    pthread_join(thread, NULL);
    return 0;
}
