/* A file is read by threads and closed when main is alone again; then its number is that of an end of a pipe.
 * race: none
 */
#include "races.h"
#include <fcntl.h>

static int file, ends[2], x;

static void *reads(void *unused)
{
    char byte;
    NEED(read(file, &byte, 1) >= 0);
    return NULL;
}

static void *one(void *unused)
{
    x = 1;
    NEED(write(ends[1], "a", 1) == 1);
    return NULL;
}

static void *two(void *unused)
{
    char byte;
    NEED(read(ends[0], &byte, 1) == 1);
    x++;
    return NULL;
}

int main(void)
{
    int number;
    NEED((number = file = open("/proc/self/exe", O_RDONLY)) >= 0);
    both(reads, reads);
    NEED(close(file) == 0);
    NEED(pipe(ends) == 0 && ends[0] == number);
    both(one, two);
    return x != 2;
}
