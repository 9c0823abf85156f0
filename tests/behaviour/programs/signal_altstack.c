/* Handlers on a stack of their own: they run on it, also when the thread's stack has overflowed.
 * holds: x <= 3
 * violated: x != 3
 * ordered: yes
 * levels: -O0
 */
#include "say.h"
#include <setjmp.h>
#include <sys/resource.h>

static volatile int x;
static char own[65536];
static sigjmp_buf back;

static void on_user(int number)
{
    char here;
    NEED(number == SIGUSR1 && &here > own && &here < own + sizeof own);
    SAY(x, 1);
}

static void on_fault(int number)
{
    char here;
    NEED(number == SIGSEGV && &here > own && &here < own + sizeof own);
    SAY(x, 2);
    siglongjmp(back, 1);
}

static int overflow(int depth)
{
    volatile char frame[4096];
    frame[0] = (char)depth;
    return depth > 1000000 ? 0 : overflow(depth + 1) + frame[0];
}

int main(void)
{
    stack_t stack = {.ss_sp = own, .ss_size = sizeof own};
    struct sigaction action = {.sa_handler = on_user, .sa_flags = SA_ONSTACK};
    struct rlimit small = {1 << 20, 1 << 20};
    setrlimit(RLIMIT_STACK, &small);
    NEED(sigaltstack(&stack, NULL) == 0);
    sigaction(SIGUSR1, &action, NULL);
    action.sa_handler = on_fault;
    sigaction(SIGSEGV, &action, NULL);
    raise(SIGUSR1);
    if (sigsetjmp(back, 1) == 0)
        overflow(0);
    SAY(x, 3);
    puts("back");
    return 0;
}
