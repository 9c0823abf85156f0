/* Who does not get the lock at once leaves its update out.
 * bug: lost update
 * depth: 2
 * fails: status
 * place: A
 */
#include "catalogue.h"

static pthread_mutex_t m = LOCK;
static int count;

static void *add(void *unused)
{
#ifdef FIXED
    lock(&m);
#else
    if (pthread_mutex_trylock(&m) != 0) /* A */
        return unused;
#endif
    count++;
    unlock(&m);
    return unused;
}

int main(void)
{
    both(add, add);
    lock(&m);
    printf("count %d\n", count);
    int right = count == 2;
    unlock(&m);
    return right ? 0 : 6;
}
