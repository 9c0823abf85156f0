/* A reader takes the lock again while a writer waits, and this kind of lock lets writers go first.
 * bug: deadlock
 * depth: 2
 * fails: deadlock|lost-wakeup
 * place: A
 */
#include "catalogue.h"

static pthread_rwlock_t l = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static int value;

static int inner(void)
{
    pthread_rwlock_rdlock(&l); /* A */
    int seen = value;
    pthread_rwlock_unlock(&l);
    return seen;
}

static void *reader(void *unused)
{
#ifdef FIXED
    inner();
#else
    pthread_rwlock_rdlock(&l);
    inner();
    pthread_rwlock_unlock(&l);
#endif
    return unused;
}

static void *writer(void *unused)
{
    pthread_rwlock_wrlock(&l);
    value++;
    pthread_rwlock_unlock(&l);
    return unused;
}

int main(void)
{
    both(reader, writer);
    return 0;
}
