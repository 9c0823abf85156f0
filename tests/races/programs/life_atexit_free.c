/* A function for the exit frees what threads that were joined have used.
 * race: none
 */
#include "races.h"

static int *block;

static void last(void)
{
    free(block);
}

static void *work(void *unused)
{
    block[1] = 1;
    return NULL;
}

int main(void)
{
    atexit(last);
    block = malloc(16);
    pthread_join(start(work, NULL), NULL);
    return 0;
}
