/* A write that races with a write orders nothing: what came before it races too.
 * race: flag w:A w:B
 * race: x w:X w:Y
 * tsan: one of the two
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
    flag = 2; /* B */
    x = 2;    /* Y */
    return NULL;
}

int main(void)
{
    both(one, two);
    return x + flag == 0;
}
