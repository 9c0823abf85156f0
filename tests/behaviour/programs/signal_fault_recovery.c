/* Faults from which siglongjmp recovers, in two threads, and a division by zero.
 * holds: x >= 0 && x <= 60
 * violated: x != 42
 */
#include "say.h"
#include <setjmp.h>
#include <sys/mman.h>

static _Thread_local sigjmp_buf back;
static volatile int x;
static char *nowhere;
static volatile int zero;

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)context;
    siglongjmp(back, number == SIGSEGV && (char *)info->si_addr == nowhere + 8 ? 1 : number == SIGFPE ? 2 : 3);
}

static void *worker(void *given)
{
    for (volatile int i = 0; i < 20; i++) {
        int how = sigsetjmp(back, 1);
        if (how == 0)
            nowhere[8] = 1;
        NEED(how == 1);
        SAY(x, (int)(long)given + i);
    }
    return NULL;
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    pthread_t thread;
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGFPE, &action, NULL);
    nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    worker((void *)0);
    NEED(pthread_create(&thread, NULL, worker, (void *)40L) == 0);
    pthread_join(thread, NULL);
    int how = sigsetjmp(back, 1);
    if (how == 0)
        SAY(x, 100 / zero);
    printf("%d %d\n", how, x);
    return 0;
}
