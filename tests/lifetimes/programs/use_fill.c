/* memset of freed memory.
 * life: use after free, observed w:B free:A
 */
#include "races.h"

static char *volatile block;
static volatile size_t size = 300;

int main(void)
{
    block = calloc(300, 1);
    free(block); /* A */
    memset(block, 1, size); /* B */
    return 0;
}
