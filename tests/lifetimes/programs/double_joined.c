/* Two threads free a block, one after the other.
 * life: double free, observed free:B free:A
 */
#include "races.h"

static void *volatile block;

static void *one(void *unused)
{
    free(block); /* A */
    return NULL;
}

int main(void)
{
    block = malloc(1 << 20);
    pthread_join(start(one, NULL), NULL);
    free(block); /* B */
    return 0;
}
