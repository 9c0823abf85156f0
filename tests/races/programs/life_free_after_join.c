/* A block is freed by another thread than the one that took it, after all have used it.
 * race: none
 */
#include "races.h"

static int *block;

static void *one(void *unused)
{
    block[0] = 1;
    return NULL;
}

static void *two(void *unused)
{
    block[1] = 1;
    return NULL;
}

static void *last(void *unused)
{
    free(block);
    return NULL;
}

int main(void)
{
    block = malloc(2 * sizeof *block);
    both(one, two);
    pthread_join(start(last, NULL), NULL);
    return 0;
}
