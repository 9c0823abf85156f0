/* Ten thousand others are freed between the free and the use.
 * life: use after free, observed r:B free:A
 */
#include "races.h"

int main(void)
{
    volatile int *block = calloc(4, sizeof *block);
    free((void *)block); /* A */
    for (int i = 0; i < 10000; i++) {
        void *volatile other = malloc(64);
        free(other);
    }
    USE(block[2]); /* B */
    return 0;
}
