/* memcmp reads what another thread writes.
 * race: block w:A r:B
 */
#include "races.h"

static char block[16], other[16];
static volatile size_t size = 16;

static void *one(void *unused)
{
    block[3] = 1; /* A */
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    USE(memcmp(block, other, size)); /* B */
    return NULL;
}

int main(void)
{
    both(one, two);
    return 0;
}
