/* A read that saw a racing write is ordered after it: what the writer did before does not race with what comes next.
 * race: flag w:A r:B
 * tsan: may have x w:X w:Y as well, which happens-before alone leaves unordered; but whoever sees the flag sees x
 */
#include "races.h"

static int x, flag;

static void *one(void *unused)
{
    x = 1;    /* X */
    flag = 1; /* A */
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    USE(flag); /* B */
    x = 2;     /* Y */
    return NULL;
}

int main(void)
{
    both(one, two);
    return x == 0;
}
