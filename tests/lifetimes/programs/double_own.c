/* A thread frees a block twice.
 * life: double free, observed free:B free:A
 */
#include "races.h"

static void *volatile block;

int main(void)
{
    block = malloc(30);
    free(block); /* A */
    free(block); /* B */
    return 0;
}
