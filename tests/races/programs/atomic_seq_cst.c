/* Sequentially consistent stores and loads, as the plain operators of C make them.
 * race: none
 */
#include "races.h"

static _Atomic int flag;
static int x;

static void *one(void *unused)
{
    x = 1;
    flag = 1;
    return NULL;
}

static void *two(void *unused)
{
    while (!flag)
        usleep(100);
    x = 2;
    return NULL;
}

int main(void)
{
    both(one, two);
    return x != 2;
}
