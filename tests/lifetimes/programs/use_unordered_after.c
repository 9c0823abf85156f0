/* The use comes after another thread's free, and nothing orders them.
 * life: use after free, observed r:B free:A
 */
#include "races.h"

static volatile char *block;

static void *one(void *unused)
{
    free((void *)block); /* A */
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    USE(block[8000]); /* B */
    return NULL;
}

int main(void)
{
    block = calloc(9000, 1);
    both(one, two);
    return 0;
}
