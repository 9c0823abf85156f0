/* realloc of what was freed, and what realloc has moved is freed.
 * life: double free, observed free:B free:A
 * life: double free, observed free:D free:C
 */
#include "races.h"

static void *volatile block, *volatile other;

int main(void)
{
    block = malloc(30);
    free(block); /* A */
    other = realloc(block, 100); /* B */
    block = realloc(other, 1000); /* C */
    free(other); /* D */
    free(block);
    return 0;
}
