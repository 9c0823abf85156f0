/* A block of several megabytes, of which the middle is used.
 * life: use after free, observed w:B free:A
 */
#include "races.h"

int main(void)
{
    volatile char *block = malloc(5 << 20);
    block[0] = 1;
    free((void *)block); /* A */
    block[3 << 20] = 1;  /* B */
    return 0;
}
