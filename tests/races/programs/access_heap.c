/* A block of the heap that two threads write.
 * race: * w:A w:B
 */
#include "races.h"

static int *block;

static void *one(void *unused)
{
    block[3] = 1; /* A */
    return NULL;
}

static void *two(void *unused)
{
    block[3] = 2; /* B */
    return NULL;
}

int main(void)
{
    block = malloc(16);
    both(one, two);
    free(block);
    return 0;
}
