/* A statistic is updated under the reader's lock, by two readers at once.
 * bug: lost update
 * depth: 2
 * fails: status
 * place: A
 */
#include "catalogue.h"

static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static _Atomic int hits;

static void *reader(void *unused)
{
#ifdef FIXED
    pthread_rwlock_wrlock(&l);
#else
    pthread_rwlock_rdlock(&l);
#endif
    int seen = hits;
    hits = seen + 1; /* A */
    pthread_rwlock_unlock(&l);
    return unused;
}

int main(void)
{
    both(reader, reader);
    return hits == 2 ? 0 : 1;
}
