/* A hundred threads, four at a time: what each wrote is ordered by joins only.
 * race: none
 */
#include "races.h"

static int slots[4], total;

static void *work(void *slot)
{
    ++*(int *)slot;
    return NULL;
}

int main(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 100; i++) {
        if (i >= 4)
            pthread_join(threads[i % 4], NULL);
        threads[i % 4] = start(work, &slots[i % 4]);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        total += slots[i];
    }
    return total != 100;
}
