/* Two threads write one variable.
 * race: x w:A w:B
 */
#include "races.h"

static int x;

static void *one(void *unused)
{
    x = 1; /* A */
    return NULL;
}

static void *two(void *unused)
{
    x = 2; /* B */
    return NULL;
}

int main(void)
{
    both(one, two);
    return x == 0;
}
