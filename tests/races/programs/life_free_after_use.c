/* A block is freed while another thread may still use it: here it has done so before.
 * race: * r:A free:B
 */
#include "races.h"

static int *block;

static void *one(void *unused)
{
    USE(block[1]); /* A */
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
    block = calloc(4, sizeof *block);
    both(one, two);
    return 0;
}
