/* Signals that are read from a descriptor.
 * holds: x <= 64
 * violated: x == 0
 * ordered: yes
 */
#include "say.h"
#include <sys/signalfd.h>

static int x;

int main(void)
{
    sigset_t set;
    struct signalfd_siginfo info;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int file = signalfd(-1, &set, SFD_CLOEXEC);
    NEED(file >= 0);
    for (int i = 0; i < 4; i++) {
        raise(i % 2 ? SIGUSR1 : SIGUSR2);
        NEED(read(file, &info, sizeof info) == sizeof info && info.ssi_pid == (unsigned)getpid());
        SAY(x, info.ssi_signo);
        printf("%u\n", info.ssi_signo);
    }
    return 0;
}
