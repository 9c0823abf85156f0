/* Main ends while a thread that it has not joined has written.
 * race: x w:A r:B
 */
#include "races.h"

static int x;

static void *work(void *unused)
{
    x = 1; /* A */
    pass(1);
    for (;;)
        pause();
}

int main(void)
{
    start(work, NULL);
    await(1);
    USE(x); /* B */
    return 0;
}
