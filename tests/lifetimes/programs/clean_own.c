/* A block is used, freed, and its memory used again by the next one.
 * life: none
 */
#include "races.h"

int main(void)
{
    for (int i = 0; i < 3000; i++) {
        volatile int *block = malloc(64);
        block[3] = i;
        USE(block[3]);
        free((void *)block);
    }
    return 0;
}
