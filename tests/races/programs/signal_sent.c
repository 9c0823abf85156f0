/* What was written before a signal was sent is there for its handler.
 * race: none
 * tsan: x, it does not know that a signal orders
 */
#include "races.h"

static int x;
static atomic_int handled;

static void handle(int number)
{
    x++;
    atomic_store_explicit(&handled, 1, memory_order_relaxed);
}

static void *two(void *unused)
{
    pass(1);
    while (!atomic_load_explicit(&handled, memory_order_relaxed))
        usleep(100);
    return NULL;
}

int main(void)
{
    signal(SIGUSR1, handle);
    pthread_t thread = start(two, NULL);
    await(1);
    x = 1;
    pthread_kill(thread, SIGUSR1);
    pthread_join(thread, NULL);
    return x != 2;
}
