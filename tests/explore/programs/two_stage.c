/* Two values belong together, each has its own lock; a reader sees the first new and the second old.
 * bug: atomicity violation
 * depth: 2
 * fails: signal
 * place: A
 */
#include "catalogue.h"

static int first, second;
static pthread_mutex_t m1 = LOCK, m2 = LOCK;

static void *writer(void *unused)
{
    lock(&m1);
    first = 1;
#ifdef FIXED
    lock(&m2);
    second = first + 1;
    unlock(&m2);
    unlock(&m1);
#else
    unlock(&m1);
    lock(&m2); /* A */
    second = 2;
    unlock(&m2);
#endif
    return unused;
}

static void *reader(void *unused)
{
    lock(&m1);
    int seen = first;
    unlock(&m1);
    if (seen) {
        lock(&m2);
        assert(second == seen + 1);
        unlock(&m2);
    }
    return unused;
}

int main(void)
{
    pthread_t one = start(writer, NULL), two = start(reader, NULL), three = start(reader, NULL);
    join(one);
    join(two);
    join(three);
    return 0;
}
