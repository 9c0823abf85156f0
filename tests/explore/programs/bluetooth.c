/* A driver's request looks whether the driver stops, and counts itself as pending only after it has stopped.
 * bug: shutdown race
 * depth: 2
 * fails: signal
 * place: A
 */
#include "catalogue.h"

static _Atomic int pending = 1, stopping, stopped;
static sem_t none_pending;

static void leave(void)
{
    if (atomic_fetch_sub(&pending, 1) == 1)
        sem_post(&none_pending);
}

static void *request(void *unused)
{
#ifdef FIXED
    pending++;
    if (!stopping)
        assert(!stopped);
    leave();
#else
    if (!stopping) {
        pending++; /* A */
        assert(!stopped);
        leave();
    }
#endif
    return unused;
}

static void *stop(void *unused)
{
    stopping = 1;
    leave();
    sem_wait(&none_pending);
    stopped = 1;
    return unused;
}

int main(void)
{
    sem_init(&none_pending, 0, 0);
    both(request, stop);
    return 0;
}
