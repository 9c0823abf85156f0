/* timeout passes a signal on to its program, which sent it, and waits for it; the handler writes.
 * holds: x <= 2
 * violated: x != 2
 * ordered: yes
 * run: timeout --preserve-status 60 ./program
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
    signal(SIGTERM, handler);
    SAY(x, 1);
    kill(getppid(), SIGTERM);
    for (;;)
        pause();
}
