/* An interval timer interrupts a loop that writes; the handler writes too. How often it comes is left to the machine.
 * holds: ticks >= 0 && ticks <= 10 && x <= 1
 * violated: ticks < 10
 * interrupted: yes
 */
#include "say.h"
#include <sys/time.h>

static volatile sig_atomic_t ticks;
static int x;

static void tick(int number)
{
    (void)number;
    if (ticks < 10)
        SAY(ticks, ticks + 1);
}

int main(void)
{
    struct itimerval every = {{0, 500}, {0, 500}}, stop = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
    volatile unsigned long work = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    SAY(x, 1);
    while (ticks < 10)
        work++;
    setitimer(ITIMER_REAL, &stop, NULL);
    SAY(x, 0);
    puts("ten");
    return 0;
}
