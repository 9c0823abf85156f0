/* ppoll, pselect, epoll_pwait and sigsuspend let one signal through, which interrupts them.
 * holds: x <= 4
 * violated: x != 4
 * ordered: yes
 */
#include "say.h"
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

static volatile int x;

static void handler(int number)
{
    (void)number;
    SAY(x, x + 1);
}

int main(void)
{
    sigset_t blocked, none;
    struct epoll_event event;
    int queue = epoll_create1(EPOLL_CLOEXEC);
    signal(SIGUSR1, handler);
    sigemptyset(&none);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    raise(SIGUSR1);
    printf("%d ", ppoll(NULL, 0, NULL, &none) == -1 && errno == EINTR);
    raise(SIGUSR1);
    printf("%d ", pselect(0, NULL, NULL, NULL, NULL, &none) == -1 && errno == EINTR);
    raise(SIGUSR1);
    printf("%d ", epoll_pwait(queue, &event, 1, -1, &none) == -1 && errno == EINTR);
    raise(SIGUSR1);
    printf("%d\n", sigsuspend(&none) == -1 && errno == EINTR);
    return 0;
}
