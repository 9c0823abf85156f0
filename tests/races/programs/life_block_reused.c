/* A block's memory is taken again by another thread: what was done with it in its former life does not count.
 * race: none
 */
#include "races.h"

enum { LARGE = 1 << 20 }; /* mapped, and unmapped when it is freed: the next one gets the same addresses */

static void *one(void *unused)
{
    char *block = malloc(LARGE);
    block[100] = 1;
    USE(block[100]);
    free(block);
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    char *block = malloc(LARGE);
    block[100] = 2;
    USE(block[100]);
    free(block);
    return NULL;
}

int main(void)
{
    both(one, two);
    return 0;
}
