/* Stacks of detached threads are used again by others: nothing orders those but that the first has ended.
 * race: none
 */
#include "races.h"

static __attribute__((noinline)) void fill(volatile int *numbers)
{
    for (int i = 0; i < 50; i++)
        numbers[i] = i;
}

static void *work(void *unused)
{
    volatile int numbers[50];
    fill(numbers);
    USE(numbers[7]);
    pass_one();
    return NULL;
}

int main(void)
{
    for (int i = 1; i <= 10; i++) {
        pthread_detach(start(work, NULL));
        await(i);
        usleep(2000);
    }
    return 0;
}
