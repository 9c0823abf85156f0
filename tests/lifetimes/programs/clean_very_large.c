/* A block that is larger than all that is kept.
 * life: none
 */
#include "races.h"

int main(void)
{
    for (int i = 0; i < 3; i++) {
        volatile char *block = malloc(100 << 20);
        block[0] = block[50 << 20] = 1;
        free((void *)block);
    }
    return 0;
}
