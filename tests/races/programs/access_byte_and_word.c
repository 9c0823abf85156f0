/* A word, and one byte of it.
 * race: x w:A w:B
 */
#include "races.h"

static long x;

static void *one(void *unused)
{
    x = 1; /* A */
    return NULL;
}

static void *two(void *unused)
{
    ((volatile char *)&x)[7] = 1; /* B */
    return NULL;
}

int main(void)
{
    both(one, two);
    return x == 0;
}
