/* A detached thread that main knows nothing of.
 * race: x w:A w:B
 */
#include "races.h"

int x;

static void *work(void *unused)
{
    x = 1; /* A */
    pass(1);
    return NULL;
}

int main(void)
{
    pthread_detach(start(work, NULL));
    await(1);
    x = 2; /* B */
    return 0;
}
