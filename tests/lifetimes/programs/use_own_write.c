/* A thread writes into what it has freed itself.
 * life: use after free, observed w:B free:A
 */
#include "races.h"

int main(void)
{
    volatile char *block = malloc(100);
    free((void *)block); /* A */
    block[99] = 1;       /* B */
    return 0;
}
