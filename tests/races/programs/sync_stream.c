/* The lock of a stream, taken by hand: once, again by its holder, and if it is free.
 * race: y w:A w:B
 */
#include "races.h"

static int x, y;

static void *one(void *context)
{
    flockfile(stdout);
    flockfile(stdout);
    x++;
    funlockfile(stdout);
    x++;
    funlockfile(stdout);
    y = 1; /* A */
    pass(1);
    return context;
}

static void *two(void *context)
{
    await(1);
    NEED(ftrylockfile(stdout) == 0);
    x++;
    funlockfile(stdout);
    flockfile(stderr); /* another */
    y = 2;             /* B */
    funlockfile(stderr);
    return context;
}

int main(void)
{
    both(one, two);
    return x != 3;
}
