/* Threads get the stacks of others that have ended.
 * life: none
 */
#include "races.h"

static void *one(void *unused)
{
    volatile int local[200];
    for (int i = 0; i < 200; i++)
        local[i] = i;
    USE(local[100]);
    return NULL;
}

int main(void)
{
    for (int i = 0; i < 40; i++)
        both(one, one);
    return 0;
}
