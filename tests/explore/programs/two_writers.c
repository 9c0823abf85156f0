/* A sequence lock with two writers at once: the second makes the number even while the pair is half written.
 * bug: atomicity violation
 * depth: 3
 * fails: signal
 * place: A
 */
#include "catalogue.h"

static _Atomic unsigned sequence;
static _Atomic int x, y;
static pthread_mutex_t m = LOCK;

static void *writer(void *argument)
{
    int value = *(int *)argument;
#ifdef FIXED
    lock(&m);
#endif
    sequence++;
    x = value; /* A */
    y = value;
    sequence++;
#ifdef FIXED
    unlock(&m);
#endif
    return NULL;
}

static void *reader(void *unused)
{
    for (int tries = 0; tries < 2; tries++) {
        unsigned before = sequence;
        int a = x, b = y;
        if (before % 2 == 0 && sequence == before)
            assert(a == b);
    }
    return unused;
}

int main(void)
{
    static int values[] = {1, 2};
    lock(&m);
    unlock(&m);
    pthread_t one = start(writer, &values[0]), two = start(writer, &values[1]), three = start(reader, NULL);
    join(one);
    join(two);
    join(three);
    return 0;
}
