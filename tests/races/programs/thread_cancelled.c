/* Cleanup handlers of a cancelled thread come before its end.
 * race: none
 */
#include "races.h"

static int x;

static void clean(void *unused)
{
    x++;
}

static void *work(void *unused)
{
    pthread_cleanup_push(clean, NULL);
    x = 1;
    pass(1);
    for (;;)
        pause();
    pthread_cleanup_pop(0);
    return NULL;
}

int main(void)
{
    pthread_t thread = start(work, NULL);
    await(1);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    return x != 2;
}
