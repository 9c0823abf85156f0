/* Each thread has its own elements of one array.
 * race: none
 */
#include "races.h"

static int numbers[100];

static void *work(void *first)
{
    for (int i = (int)(intptr_t)first; i < 100; i += 2)
        numbers[i] = i;
    return NULL;
}

int main(void)
{
    pthread_t odd = start(work, (void *)1), even = start(work, (void *)0);
    pthread_join(odd, NULL);
    pthread_join(even, NULL);
    int sum = 0;
    for (int i = 0; i < 100; i++)
        sum += numbers[i];
    return sum != 4950;
}
