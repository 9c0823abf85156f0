/* Freed when the program ends, and used before.
 * life: none
 */
#include "races.h"

static volatile int *block;

static void drop(void)
{
    block[1]++;
    free((void *)block);
}

int main(void)
{
    block = calloc(4, sizeof *block);
    atexit(drop);
    block[1] = 5;
    return 0;
}
