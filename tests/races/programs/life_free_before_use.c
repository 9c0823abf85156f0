/* A block is used after another thread has freed it.
 * race: * free:A r:B
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
    USE(block[40]); /* B */
    return NULL;
}

int main(void)
{
    block = calloc(64, 1);
    both(one, two);
    return 0;
}
