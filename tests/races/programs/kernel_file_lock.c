/* Locks of open files keep threads apart that have opened them for themselves: flock, and fcntl's of descriptions.
 * Closing gives them up.
 * race: none
 */
#include "races.h"
#include <sys/file.h>

static char path[] = "/tmp/portent-lock-XXXXXX";
static int counter, seen;

static void control(int fd, short type)
{
    struct flock range = {.l_type = type, .l_whence = SEEK_SET};
    NEED(fcntl(fd, F_OFD_SETLKW, &range) == 0);
}

static void count(int round)
{
    int fd = open(path, O_RDWR);
    NEED(fd >= 0);
    if (round % 2)
        NEED(flock(fd, LOCK_EX) == 0);
    else
        control(fd, F_WRLCK);
    counter++;
    if (round == 1) {
        control(fd, F_WRLCK);
        NEED(flock(fd, LOCK_UN) == 0);
        control(fd, F_UNLCK);
    }
    close(fd);
}

static void look(void)
{
    int fd = open(path, O_RDWR);
    NEED(fd >= 0 && flock(fd, LOCK_SH) == 0);
    control(fd, F_RDLCK);
    USE(counter);
    USE(seen);
    NEED(flock(fd, LOCK_UN) == 0);
    control(fd, F_UNLCK);
    close(fd);
}

static void *one(void *unused)
{
    (void)unused;
    count(1);
    pass(1);
    await(2);
    count(3);
    pass(3);
    await(4);
    look();
    pass(5);
    return NULL;
}

static void *two(void *unused)
{
    (void)unused;
    await(1);
    count(1);
    pass(2);
    await(3);
    count(3);
    pass(4);
    look();
    return NULL;
}

int main(void)
{
    int fd = mkstemp(path);
    NEED(fd >= 0);
    seen = 1;
    both(one, two);
    close(fd);
    unlink(path);
    return 0;
}
