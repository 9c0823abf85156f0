/* realloc ends the old block.
 * race: * w:A free:B
 */
#include "races.h"

static char *block;

static void *one(void *unused)
{
    block[5] = 1; /* A */
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    char *old = block;
    await(1);
    USE(realloc(old, 100000)); /* B */
    return NULL;
}

int main(void)
{
    block = malloc(64);
    both(one, two);
    return 0;
}
