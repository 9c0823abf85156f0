/* One thread writes what another one reads later.
 * race: x w:A r:B
 */
#include "races.h"

static int x;

static void *one(void *unused)
{
    x = 1; /* A */
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    USE(x); /* B */
    return NULL;
}

int main(void)
{
    both(one, two);
    return 0;
}
