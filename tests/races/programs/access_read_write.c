/* One thread reads what another one, which never reads it, writes later.
 * race: x r:A w:B
 */
#include "races.h"

static int x;

static void *one(void *unused)
{
    USE(x); /* A */
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    x = 1; /* B */
    return NULL;
}

int main(void)
{
    both(one, two);
    return 0;
}
