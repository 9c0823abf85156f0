/* The largest value is kept by a compare-and-exchange that is tried only once.
 * bug: lost update
 * depth: 2
 * fails: status
 * place: A
 */
#include "catalogue.h"

static _Atomic int largest;

static void *offer(void *argument)
{
    int value = *(int *)argument, seen = largest;
#ifdef FIXED
    while (value > seen && !atomic_compare_exchange_strong(&largest, &seen, value))
        continue;
#else
    if (value > seen)
        atomic_compare_exchange_strong(&largest, &seen, value); /* A */
#endif
    return NULL;
}

int main(void)
{
    static int values[] = {2, 3};
    pthread_t one = start(offer, &values[0]), two = start(offer, &values[1]);
    join(one);
    join(two);
    printf("largest %d\n", largest);
    return largest == 3 ? 0 : 2;
}
