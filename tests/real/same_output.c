/*
 * Linked beside a program, it compares at the end of the process what standard output has got, which must be a file,
 * with the file that SAME_OUTPUT names, and ends it with status 77 if that differs: so each run of `portent explore` is
 * held against what the plain program printed.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DIFFERS = 77, ROOM = 1 << 16 };

/* Up to ROOM bytes; short only at the end. */
static size_t fill(int fd, char *room)
{
    size_t got = 0;
    for (ssize_t n; got < ROOM && (n = read(fd, room + got, ROOM - got)) > 0;)
        got += (size_t)n;
    return got;
}

static int kept; /* the same file: the program may close it */

__attribute__((constructor)) static void keep(void)
{
    if (getenv("SAME_OUTPUT"))
        kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 100);
}

__attribute__((destructor)) static void compare(void)
{
    static char ours[ROOM], theirs[ROOM], name[64];
    const char *path = getenv("SAME_OUTPUT");
    if (!path)
        return;
    fflush(NULL);
    snprintf(name, sizeof name, "/proc/self/fd/%d", kept);
    int expected = open(path, O_RDONLY), printed = open(name, O_RDONLY);
    if (expected < 0 || printed < 0)
        _exit(DIFFERS);
    for (size_t length = ROOM; length == ROOM;) {
        length = fill(expected, theirs);
        if (fill(printed, ours) != length || memcmp(ours, theirs, length) != 0)
            _exit(DIFFERS);
    }
    close(expected);
    close(printed);
}
