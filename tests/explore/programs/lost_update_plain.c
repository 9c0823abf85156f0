/* A counter without any synchronisation: a data race too.
 * bug: lost update
 * depth: 2
 * fails: status
 * place: A
 */
#include "catalogue.h"

static int count;
static pthread_mutex_t m = LOCK;

static void *add(void *unused)
{
#ifdef FIXED
    lock(&m);
    count++;
    unlock(&m);
#else
    count++; /* A */
#endif
    return unused;
}

int main(void)
{
    both(add, add);
    lock(&m);
    int seen = count;
    unlock(&m);
    return seen == 2 ? 0 : 3;
}
