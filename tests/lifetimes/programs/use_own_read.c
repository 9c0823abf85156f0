/* A thread reads what it has freed itself.
 * life: use after free, observed r:B free:A
 */
#include "races.h"

int main(void)
{
    volatile int *block = calloc(4, sizeof *block);
    USE(block[1]);
    free((void *)block); /* A */
    USE(block[1]); /* B */
    return 0;
}
