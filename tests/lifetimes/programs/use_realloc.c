/* The old address is used after realloc has moved the block.
 * life: use after free, observed w:B free:A
 */
#include "races.h"

static char *volatile block;

int main(void)
{
    char *old = block = malloc(20);
    block = realloc(block, 4000); /* A */
    ((volatile char *)old)[3] = 1; /* B */
    free(block);
    return 0;
}
