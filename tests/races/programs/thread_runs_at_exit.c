/* A thread that is not joined writes once more while the program ends: that is waited for, up to a second.
 * race: x r:A w:B
 */
#include "races.h"

static int x;

static void *work(void *unused)
{
    await(1);
    usleep(100000);
    x = 1; /* B */
    for (;;)
        pause();
}

int main(void)
{
    start(work, NULL);
    USE(x); /* A */
    pass(1);
    return 0;
}
