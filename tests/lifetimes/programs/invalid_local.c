/* A local is no block.
 * life: invalid free, observed free:A
 * status: -6
 */
#include "races.h"

static void *volatile pointer;

int main(void)
{
    long numbers[20] = {0}; /* what libc takes for a size: it gives up */
    pointer = &numbers[4];
    free(pointer); /* A */
    return 0;
}
