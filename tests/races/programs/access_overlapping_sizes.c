/* Four bytes and two bytes that share one; two others that share none.
 * race: block w:A r:B
 */
#include "races.h"

static _Alignas(8) char block[16];

static void *one(void *unused)
{
    *(volatile int *)(block + 4) = 1; /* A */
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    USE(*(volatile char *)(block + 7)); /* B */
    *(volatile short *)(block + 8) = 1;
    *(volatile short *)(block + 2) = 1;
    return NULL;
}

int main(void)
{
    both(one, two);
    return 0;
}
