/* An event is reset by its waiter after it has handled the first one: the second, set meanwhile, is gone.
 * bug: lost wake-up
 * depth: 2
 * fails: lost-wakeup
 * place: A
 */
#include "catalogue.h"

static pthread_mutex_t m = LOCK;
static pthread_cond_t c = WAITER;
static int set, wanted;
static sem_t handled;

static void *waiter(void *unused)
{
    for (int left = 2; left > 0;) {
        lock(&m);
        while (!set)
            pthread_cond_wait(&c, &m);
#ifdef FIXED
        set = 0;
        left -= wanted;
        wanted = 0;
        unlock(&m);
        sem_post(&handled);
#else
        left -= wanted;
        wanted = 0;
        unlock(&m);
        sem_post(&handled);
        lock(&m); /* A */
        set = 0;
        unlock(&m);
#endif
    }
    return unused;
}

static void *setter(void *unused)
{
    for (int i = 0; i < 2; i++) {
        lock(&m);
        wanted++;
        set = 1;
        pthread_cond_signal(&c);
        unlock(&m);
        sem_wait(&handled);
        usleep(3000);
    }
    return unused;
}

int main(void)
{
    sem_init(&handled, 0, 0);
    both(waiter, setter);
    return 0;
}
