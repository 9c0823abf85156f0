/* The reader's lock is given up for the writer's, and what was read under the first is not looked at again.
 * bug: reader-writer upgrade
 * depth: 2
 * fails: signal
 * place: A
 */
#include "catalogue.h"

static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static int cached, computed;

static void *look(void *unused)
{
    pthread_rwlock_rdlock(&l);
    int there = cached;
    pthread_rwlock_unlock(&l);
    if (!there) {
        pthread_rwlock_wrlock(&l); /* A */
#ifdef FIXED
        there = cached;
#endif
        if (!there) {
            cached = 1;
            computed++;
        }
        assert(computed == 1);
        pthread_rwlock_unlock(&l);
    }
    return unused;
}

int main(void)
{
    pthread_t one = start(look, NULL), two = start(look, NULL), three = start(look, NULL);
    join(one);
    join(two);
    join(three);
    return 0;
}
