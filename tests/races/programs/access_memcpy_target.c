/* memcpy writes what another thread reads.
 * race: to r:A w:B
 */
#include "races.h"

static char from[64], to[64];

static void *one(void *unused)
{
    USE(to[63]); /* A */
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    memcpy(to, from, sizeof to); /* B */
    return NULL;
}

int main(void)
{
    both(one, two);
    return 0;
}
