/* memmove within a block writes and reads it.
 * race: block w:D w:B
 * race: block w:A r:C
 */
#include "races.h"

static _Alignas(8) char block[64];
static volatile size_t size = 16;

static void *one(void *unused)
{
    block[4] = 1; /* A */
    block[9] = 1; /* D */
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    memmove(block + 8, block + 32, size); /* B */
    memmove(block + 40, block, 8);        /* C */
    return NULL;
}

int main(void)
{
    both(one, two);
    return 0;
}
