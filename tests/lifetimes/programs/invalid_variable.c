/* Neither a variable nor a local is a block.
 * life: invalid free, observed free:A
 * status: -6
 */
#include "races.h"

static long numbers[20];
static void *volatile pointer = &numbers[4];

int main(void)
{
    free(pointer); /* A */
    return 0;
}
