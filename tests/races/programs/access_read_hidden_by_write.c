/* A thread reads and then writes before another one writes: both race.
 * race: x r:A w:C
 * race: x w:B w:C
 * tsan: not r:A, the thread's write has taken its place
 */
#include "races.h"

static int x;

static void *one(void *unused)
{
    USE(x); /* A */
    pass(1);
    x = 2; /* B */
    pass(2);
    return NULL;
}

static void *two(void *unused)
{
    await(2);
    x = 3; /* C */
    return NULL;
}

int main(void)
{
    both(one, two);
    return x == 0;
}
