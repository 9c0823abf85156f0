/* Two ranges of an array that share one element.
 * race: numbers w:A w:B
 */
#include "races.h"

static int numbers[100];
static volatile int middle = 50;

static void *one(void *unused)
{
    for (int i = 0; i <= middle; i++)
        numbers[i] = 1; /* A */
    return NULL;
}

static void *two(void *unused)
{
    for (int i = middle; i < 100; i++)
        numbers[i] = 2; /* B */
    return NULL;
}

int main(void)
{
    both(one, two);
    return numbers[0] != 1;
}
