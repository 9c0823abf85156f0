/* A timer's signals come while faults are recovered from: none stays blocked, and none is lost for good.
 * holds: faults >= 0 && ticks <= 20
 * violated: faults < 300
 * interrupted: yes
 */
#include "say.h"
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/time.h>

static sigjmp_buf back;
static volatile int faults, ticks;
static volatile char *nowhere;

static void on_fault(int number)
{
    (void)number;
    siglongjmp(back, 1);
}

static void tick(int number)
{
    (void)number;
    if (ticks < 20)
        SAY(ticks, ticks + 1);
}

int main(void)
{
    struct itimerval every = {{0, 200}, {0, 200}}, stop = {{0, 0}, {0, 0}};
    sigset_t mask;
    signal(SIGSEGV, on_fault);
    signal(SIGALRM, tick);
    nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    setitimer(ITIMER_REAL, &every, NULL);
    for (volatile int i = 1; i <= 300 || ticks < 20; i++) {
        if (sigsetjmp(back, 1) == 0)
            *nowhere = 1;
        if (i <= 300)
            SAY(faults, i);
        sigprocmask(SIG_BLOCK, NULL, &mask);
        NEED(!sigismember(&mask, SIGALRM) && !sigismember(&mask, SIGSEGV));
    }
    setitimer(ITIMER_REAL, &stop, NULL);
    puts("nothing is blocked");
    return 0;
}
