/* The use is ordered after another thread's free.
 * life: use after free, observed r:B free:A
 */
#include "races.h"

static volatile int *block;

static void *one(void *unused)
{
    free((void *)block); /* A */
    return NULL;
}

int main(void)
{
    block = calloc(4, sizeof *block);
    pthread_join(start(one, NULL), NULL);
    USE(block[1]); /* B */
    return 0;
}
