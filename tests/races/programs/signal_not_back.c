/* A signal orders its handler after the sender, but nothing of the sender after the handler.
 * race: x w:A w:B
 */
#include "races.h"

static int x;
static atomic_int handled;

static void handle(int number)
{
    x = 1; /* A */
    atomic_store_explicit(&handled, 1, memory_order_relaxed);
}

static void *two(void *unused)
{
    pass(1);
    while (!atomic_load_explicit(&handled, memory_order_relaxed))
        usleep(100);
    pass(2);
    await(3);
    return NULL;
}

int main(void)
{
    signal(SIGUSR1, handle);
    pthread_t thread = start(two, NULL);
    await(1);
    pthread_kill(thread, SIGUSR1);
    await(2);
    x = 2; /* B */
    pass(3);
    pthread_join(thread, NULL);
    return x != 2;
}
