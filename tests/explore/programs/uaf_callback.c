/* unregister() does not wait for a callback that is under way, and its context is freed.
 * bug: use after free
 * depth: 2
 * fails: signal
 * place: A
 */
#include "catalogue.h"

static struct object *context;
static pthread_mutex_t m = LOCK;
static pthread_cond_t idle = WAITER;
static int registered = 1, running;

static void *event_loop(void *unused)
{
    for (int i = 0; i < 2; i++) {
        lock(&m);
        int call = registered;
        running = call;
        unlock(&m);
        if (!call)
            break;
        use_object(context); /* A */
        lock(&m);
        running = 0;
        pthread_cond_broadcast(&idle);
        unlock(&m);
    }
    return unused;
}

static void *unregister(void *unused)
{
    lock(&m);
    registered = 0;
#ifdef FIXED
    while (running)
        pthread_cond_wait(&idle, &m);
#endif
    unlock(&m);
    free_object(context);
    return unused;
}

int main(void)
{
    context = make_object();
    both(event_loop, unregister);
    return 0;
}
