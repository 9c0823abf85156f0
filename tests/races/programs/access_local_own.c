/* Local variables of each thread, whose addresses a function gets.
 * race: none
 */
#include "races.h"

static __attribute__((noinline)) void fill(int *numbers, int count)
{
    for (int i = 0; i < count; i++)
        numbers[i] = i;
}

static void *one(void *unused)
{
    int numbers[20];
    fill(numbers, 20);
    USE(numbers[7]);
    return NULL;
}

int main(void)
{
    both(one, one);
    both(one, one);
    return 0;
}
