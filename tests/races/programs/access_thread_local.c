/* Thread-local variables, through their addresses too.
 * race: none
 */
#include "races.h"

static _Thread_local int mine;

static __attribute__((noinline)) void count(int *number)
{
    ++*number;
}

static void *one(void *unused)
{
    mine = 1;
    count(&mine);
    NEED(mine == 2);
    return NULL;
}

int main(void)
{
    both(one, one);
    both(one, one);
    return mine;
}
