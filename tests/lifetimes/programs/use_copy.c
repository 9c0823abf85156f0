/* memcpy from freed memory.
 * life: use after free, observed r:B free:A
 */
#include "races.h"

static char *volatile block;
static char to[64];

int main(void)
{
    block = calloc(64, 1);
    free(block); /* A */
    memcpy(to, block, sizeof to); /* B */
    USE(to[5]);
    return 0;
}
