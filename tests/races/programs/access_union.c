/* Members of a union share their bytes; its two halves do not.
 * race: u w:A r:B
 */
#include "races.h"

static union {
    long whole;
    int half[2];
} u;

static void *one(void *unused)
{
    u.half[0] = 1;
    u.half[1] = 1; /* A */
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    USE(u.half[1]); /* B */
    return NULL;
}

int main(void)
{
    both(one, two);
    return u.whole == 0;
}
