/* A counter is read and written in two steps, each of them atomic.
 * bug: lost update
 * depth: 2
 * fails: status
 * place: A
 */
#include "catalogue.h"

static _Atomic int count;

static void *add(void *unused)
{
    for (int i = 0; i < 3; i++) {
#ifdef FIXED
        count++;
#else
        int seen = count;
        count = seen + 1; /* A */
#endif
    }
    return unused;
}

int main(void)
{
    both(add, add);
    printf("count %d\n", count);
    return count == 6 ? 0 : 1;
}
