/* Plain and atomic reads do not race, nor does a plain write before there are threads.
 * race: none
 */
#include "races.h"

static int number;

static void *one(void *unused)
{
    USE(__atomic_load_n(&number, __ATOMIC_RELAXED));
    return NULL;
}

static void *two(void *unused)
{
    USE(number);
    return NULL;
}

int main(void)
{
    number = 5;
    both(one, two);
    return 0;
}
