/* memcpy reads what another thread writes.
 * race: from w:A r:B
 */
#include "races.h"

static char from[64], to[64];

static void *one(void *unused)
{
    from[40] = 1; /* A */
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    memcpy(to, from, sizeof to); /* B */
    USE(to);
    return NULL;
}

int main(void)
{
    both(one, two);
    return 0;
}
