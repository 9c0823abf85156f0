/* A ring's producer moves the index before the data are there.
 * bug: order violation
 * depth: 2
 * fails: signal
 * place: A
 */
#include "catalogue.h"

enum { SIZE = 2, ITEMS = 3 };
static _Atomic int slots[SIZE], head, tail;

static void *producer(void *unused)
{
    for (int i = 1; i <= ITEMS; i++) {
        while (tail - head == SIZE)
            sched_yield();
#ifdef FIXED
        slots[tail % SIZE] = i;
        tail++;
#else
        int at = tail++;
        slots[at % SIZE] = i; /* A */
#endif
    }
    return unused;
}

static void *consumer(void *unused)
{
    for (int i = 1; i <= ITEMS; i++) {
        while (head == tail)
            sched_yield();
        assert(slots[head % SIZE] == i);
        head++;
    }
    return unused;
}

int main(void)
{
    both(producer, consumer);
    return 0;
}
