/* The use comes before the free, which another order of the run does not keep.
 * life: use after free, predicted r:A free:B
 */
#include "races.h"

static volatile char *block;

static void *one(void *unused)
{
    USE(block[40]); /* A */
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    free((void *)block); /* B */
    return NULL;
}

int main(void)
{
    block = calloc(64, 1);
    both(one, two);
    return 0;
}
