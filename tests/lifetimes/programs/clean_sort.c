/* qsort moves elements about, and compares them.
 * life: none
 */
#include "races.h"

static int compare(const void *a, const void *b)
{
    const int *one = a, *other = b;
    return *one < *other ? -1 : *one > *other;
}

int main(void)
{
    int *numbers = calloc(1000, sizeof *numbers);
    for (int i = 0; i < 1000; i++)
        numbers[i] = i * 7919 % 1000;
    qsort(numbers, 1000, sizeof *numbers, compare);
    for (int i = 0; i < 1000; i++)
        NEED(numbers[i] == i);
    free(numbers);
    return 0;
}
