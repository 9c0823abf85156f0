/* timeout ends a program that does not end by itself: its handler writes.
 * holds: x <= 2
 * violated: x != 2
 * ordered: yes
 * run: timeout --preserve-status -s USR1 1 ./program
 */
#include "say.h"

static volatile int x;

static void handler(int number)
{
    (void)number;
    SAY(x, 2);
    _exit(21);
}

int main(void)
{
    signal(SIGUSR1, handler);
    SAY(x, 1);
    for (;;)
        pause();
}
