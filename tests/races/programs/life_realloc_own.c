/* Blocks that grow where only one thread knows them.
 * race: none
 */
#include "races.h"

static void *one(void *unused)
{
    int *block = NULL;
    for (int i = 1; i < 40; i++) {
        block = realloc(block, (size_t)i * 100 * sizeof *block);
        block[i * 100 - 1] = i;
    }
    free(block);
    return NULL;
}

int main(void)
{
    both(one, one);
    return 0;
}
