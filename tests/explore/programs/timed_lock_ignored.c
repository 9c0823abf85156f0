/* A lock that is waited for with a limit, and used whether it was got or not.
 * bug: time-out
 * depth: 2
 * fails: status
 * place: A
 */
#include "catalogue.h"

static pthread_mutex_t m = LOCK;
static _Atomic int count, skipped;

static void *add(void *unused)
{
    struct timespec until = in_ms(400);
    int got = pthread_mutex_timedlock(&m, &until) == 0; /* A */
#ifdef FIXED
    if (!got) {
        skipped++;
        return unused;
    }
#endif
    int seen = count;
    count = seen + 1;
    if (got)
        unlock(&m);
    return unused;
}

int main(void)
{
    both(add, add);
    return count + skipped == 2 ? 0 : 1;
}
