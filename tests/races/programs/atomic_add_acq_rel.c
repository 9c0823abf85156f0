/* The last of several threads to count has all that the others wrote.
 * race: none
 */
#include "races.h"

static atomic_int left = 3;
static int parts[3], sum;

static void *one(void *number)
{
    parts[(intptr_t)number] = 1;
    if (atomic_fetch_sub_explicit(&left, 1, memory_order_acq_rel) == 1)
        sum = parts[0] + parts[1] + parts[2];
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    for (intptr_t i = 0; i < 3; i++)
        threads[i] = start(one, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return sum != 3;
}
