/* Large blocks come and go, more than are kept.
 * life: none
 */
#include "races.h"

int main(void)
{
    for (int i = 0; i < 60; i++) {
        volatile char *block = malloc(4 << 20);
        for (int at = 0; at < 4 << 20; at += 4096)
            block[at] = 1;
        free((void *)block);
    }
    return 0;
}
