/* A number of 16 bytes, and one of its last bytes.
 * race: wide w:A r:B
 */
#include "races.h"

static __int128 wide;

static void *one(void *unused)
{
    wide = (__int128)1 << 100; /* A */
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    USE(((volatile char *)&wide)[12]); /* B */
    return NULL;
}

int main(void)
{
    both(one, two);
    return wide == 0;
}
