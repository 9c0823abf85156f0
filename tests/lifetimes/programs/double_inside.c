/* A pointer into a block that was freed.
 * life: invalid free, observed free:B free:A
 * status: -6
 */
#include "races.h"

static char *volatile block;

int main(void)
{
    block = malloc(300);
    free(block); /* A */
    free(block + 64); /* B */
    return 0;
}
