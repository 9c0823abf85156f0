/* A volatile flag is not atomic and orders nothing; but the read that saw it comes after what was written before.
 * race: ready w:A r:B
 * without: sampled, where the store to ready is looked at when it has been made, and perhaps read
 * tsan: also x w:X r:Y, as happens-before alone leaves them unordered
 */
#include "races.h"

static volatile int ready;
static int x;

static void *one(void *unused)
{
    x = 1;     /* X */
    ready = 1; /* A */
    return NULL;
}

static void *two(void *unused)
{
    while (!ready) /* B */
        usleep(100);
    USE(x); /* Y */
    return NULL;
}

int main(void)
{
    both(one, two);
    return 0;
}
