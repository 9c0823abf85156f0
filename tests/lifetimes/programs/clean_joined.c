/* Freed after the threads that use it were joined.
 * life: none
 */
#include "races.h"

static volatile int *block;

static void *one(void *unused)
{
    USE(block[1]);
    return NULL;
}

int main(void)
{
    block = calloc(4, sizeof *block);
    both(one, one);
    free((void *)block);
    return 0;
}
