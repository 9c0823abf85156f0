/* Four threads want something done once: one does it, the others see it done.
 * holds: ready <= 1
 * violated: ready == 0
 */
#include "say.h"

static int ready;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void prepare(void)
{
    SAY(ready, 1);
}

static void *worker(void *given)
{
    pthread_once(&once, prepare);
    NEED(ready == 1);
    return given;
}

int main(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        NEED(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    puts("once");
    return 0;
}
