/* That both write the same value makes it no less a race.
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
    x = 1; /* B */
    return NULL;
}

int main(void)
{
    both(one, two);
    return x != 1;
}
