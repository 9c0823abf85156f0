/* Three counts of which two are lost; that one is lost is allowed for.
 * bug: lost update
 * depth: 3
 * fails: status
 * place: A
 */
#include "catalogue.h"

static _Atomic int count;

static void *add(void *unused)
{
#ifdef FIXED
    count++;
#else
    int seen = count;
    count = seen + 1; /* A */
#endif
    return unused;
}

int main(void)
{
    pthread_t one = start(add, NULL), two = start(add, NULL), three = start(add, NULL);
    join(one);
    join(two);
    join(three);
    printf("count %d\n", count);
    return count > 1 ? 0 : 1;
}
