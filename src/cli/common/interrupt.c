#include "cli/common/interrupt.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>

enum { CHECK_EVERY = 100 }; /* milliseconds */

static volatile sig_atomic_t interrupted;

static void note(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

static void catch_one(int signal_number)
{
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESETHAND}, old;
    sigemptyset(&action.sa_mask);
    if (sigaction(signal_number, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(signal_number, &action, NULL);
}

void pt_interrupt_catch(void)
{
    catch_one(SIGINT);
}

void pt_interrupt_catch_all(void)
{
    catch_one(SIGINT);
    catch_one(SIGTERM);
    catch_one(SIGHUP);
}

bool pt_interrupted(void)
{
    return interrupted;
}

bool pt_interrupt_wait(int fd)
{
    /* The signal may come just before poll, or end up in another thread, without ending the wait: hence the timeout. */
    struct pollfd wanted = {.fd = fd, .events = POLLIN};
    int ready = 0;
    while (!interrupted && (ready == 0 || (ready < 0 && errno == EINTR)))
        ready = poll(&wanted, 1, CHECK_EVERY);
    return !interrupted; /* another failure of poll is for read to report */
}
