/* Blocks that each thread takes and gives back by itself.
 * race: none
 */
#include "races.h"

static void *one(void *unused)
{
    for (int i = 1; i < 50; i++) {
        char *block = malloc((size_t)i * 8);
        memset(block, i, (size_t)i * 8);
        block = realloc(block, (size_t)i * 16);
        block[i] = 1;
        free(block);
    }
    return NULL;
}

int main(void)
{
    both(one, one);
    return 0;
}
