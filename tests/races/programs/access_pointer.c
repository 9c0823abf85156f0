/* The pointer races; what it points to does not, as whoever has read the pointer comes after its store.
 * race: pointer w:A r:B
 * tsan: also block w:X r:Y, as happens-before alone leaves them unordered
 */
#include "races.h"

static int block[2], *pointer;

static void *one(void *unused)
{
    block[1] = 5;    /* X */
    pointer = block; /* A */
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    int *p = pointer; /* B */
    USE(p[1]);        /* Y */
    return NULL;
}

int main(void)
{
    both(one, two);
    return 0;
}
