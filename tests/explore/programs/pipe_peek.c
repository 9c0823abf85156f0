/* Two threads see one byte in a pipe, and both go to read it.
 * bug: check-then-act
 * depth: 2
 * fails: lost-wakeup|deadlock|timeout
 * place: A
 */
#include "catalogue.h"
#include <fcntl.h>
#include <sys/ioctl.h>

static int ends[2];

static void *reader(void *unused)
{
    char byte;
#ifdef FIXED
    if (read(ends[0], &byte, 1) != 1)
        NEED(errno == EAGAIN);
#else
    int there = 0;
    NEED(ioctl(ends[0], FIONREAD, &there) == 0);
    if (there > 0)
        NEED(read(ends[0], &byte, 1) == 1); /* A */
#endif
    return unused;
}

int main(void)
{
    NEED(pipe(ends) == 0);
    NEED(write(ends[1], "x", 1) == 1);
#ifdef FIXED
    NEED(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
#endif
    both(reader, reader);
    return 0;
}
