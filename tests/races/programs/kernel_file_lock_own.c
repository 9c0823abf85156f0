/* Who has the lock already gets it again: threads with one descriptor, and for locks of the process any, are not kept
 * apart. Nor are those who share it, though these write.
 * race: same w:A w:B
 * race: own w:C w:D
 * race: readers w:E w:F
 */
#include "races.h"
#include <sys/file.h>

static char path[] = "/tmp/portent-lock-XXXXXX", other[] = "/tmp/portent-lock-XXXXXX";
int same, own, readers;
static int shared;

static void control(int fd, short type)
{
    struct flock range = {.l_type = type, .l_whence = SEEK_SET};
    NEED(fcntl(fd, F_SETLKW, &range) == 0);
}

static void *one(void *unused)
{
    (void)unused;
    int fd = open(other, O_RDWR);
    NEED(fd >= 0 && flock(shared, LOCK_EX) == 0);
    same = 1; /* A */
    NEED(flock(shared, LOCK_UN) == 0);
    control(fd, F_WRLCK);
    own = 1; /* C */
    control(fd, F_UNLCK);
    NEED(flock(fd, LOCK_SH) == 0);
    readers = 1; /* E */
    close(fd);
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    (void)unused;
    int fd = open(other, O_RDWR);
    await(1);
    NEED(fd >= 0 && flock(shared, LOCK_EX) == 0);
    same = 2; /* B */
    NEED(flock(shared, LOCK_UN) == 0);
    control(fd, F_WRLCK);
    own = 2; /* D */
    control(fd, F_UNLCK);
    NEED(flock(fd, LOCK_SH) == 0);
    readers = 2; /* F */
    close(fd);
    return NULL;
}

int main(void)
{
    shared = mkstemp(path);
    int fd = mkstemp(other);
    NEED(shared >= 0 && fd >= 0);
    both(one, two);
    close(shared);
    close(fd);
    unlink(path);
    unlink(other);
    return 0;
}
