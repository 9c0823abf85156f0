/* What main writes before it starts threads and after it has joined them.
 * race: none
 */
#include "races.h"

static int x, *block;

static void *one(void *unused)
{
    block[0] = x;
    return NULL;
}

static void *two(void *unused)
{
    block[1] = x + 1;
    return NULL;
}

int main(void)
{
    x = 4;
    block = malloc(2 * sizeof *block);
    block[0] = block[1] = 1;
    both(one, two);
    x = block[0] + block[1];
    free(block);
    return x != 9;
}
