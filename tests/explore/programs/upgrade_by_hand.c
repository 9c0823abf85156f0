/* A readers-writer lock of one's own, whose upgrade waits for all other readers: two of them wait for each other.
 * bug: reader-writer upgrade
 * depth: 2
 * fails: lost-wakeup|deadlock
 * place: A
 */
#include "catalogue.h"

static pthread_mutex_t m = LOCK;
static pthread_cond_t changed = WAITER;
static int readers, upgrading, value;

static void read_lock(void)
{
    lock(&m);
    while (upgrading)
        pthread_cond_wait(&changed, &m);
    readers++;
    unlock(&m);
}

static int upgrade(void)
{
    lock(&m);
#ifdef FIXED
    if (upgrading) {
        unlock(&m);
        return 0;
    }
#endif
    upgrading++;
    while (readers > 1)
        pthread_cond_wait(&changed, &m); /* A */
    upgrading--;
    unlock(&m);
    return 1;
}

static void read_unlock(void)
{
    lock(&m);
    readers--;
    pthread_cond_broadcast(&changed);
    unlock(&m);
}

static void *thread(void *unused)
{
    for (int done = 0; !done;) {
        read_lock();
        if (upgrade()) {
            lock(&m);
            value++;
            unlock(&m);
            done = 1;
        }
        read_unlock();
    }
    return unused;
}

int main(void)
{
    both(thread, thread);
    return value == 2 ? 0 : 98;
}
