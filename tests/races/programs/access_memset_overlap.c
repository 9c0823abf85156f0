/* The same with one byte that both fill.
 * race: block w:A w:B
 */
#include "races.h"

static _Alignas(8) char block[64];
static volatile size_t half = 27;

static void *one(void *unused)
{
    memset(block, 1, half + 1); /* A */
    return NULL;
}

static void *two(void *unused)
{
    memset(block + half, 2, sizeof block - half); /* B */
    return NULL;
}

int main(void)
{
    both(one, two);
    return block[0] != 1;
}
