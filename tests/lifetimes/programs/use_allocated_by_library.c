/* A block that the library has allocated.
 * life: use after free, observed r:B free:A
 */
#include "races.h"

int main(void)
{
    char *text = realpath("/", NULL);
    NEED(text);
    free(text); /* A */
    USE(*(volatile char *)text); /* B */
    return 0;
}
