/* Two threads free a block.
 * life: double free, observed free:B free:A
 */
#include "races.h"

static void *volatile block;

static void *one(void *unused)
{
    free(block); /* A */
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    free(block); /* B */
    return NULL;
}

int main(void)
{
    block = malloc(30);
    both(one, two);
    return 0;
}
