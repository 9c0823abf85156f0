/* Each thread fills its half of a block, which meet in the middle of a word.
 * race: none
 */
#include "races.h"

static _Alignas(8) char block[64];
static volatile size_t half = 27;

static void *one(void *unused)
{
    memset(block, 1, half);
    return NULL;
}

static void *two(void *unused)
{
    memset(block + half, 2, sizeof block - half);
    return NULL;
}

int main(void)
{
    both(one, two);
    return block[0] + block[63] != 3;
}
