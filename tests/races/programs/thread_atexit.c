/* A function for the exit reads what a thread wrote that nobody joined.
 * race: x w:A r:B
 */
#include "races.h"

static int x;

static void last(void)
{
    USE(x); /* B */
}

static void *work(void *unused)
{
    x = 1; /* A */
    pass(1);
    for (;;)
        pause();
}

int main(void)
{
    atexit(last);
    start(work, NULL);
    await(1);
    return 0;
}
