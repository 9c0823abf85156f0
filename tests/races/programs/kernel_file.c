/* A file of the disk orders nothing.
 * race: x w:A w:B
 * tsan: nothing, it lets every descriptor order
 */
#include "races.h"

static int file, x;

static void *one(void *unused)
{
    x = 1; /* A */
    NEED(pwrite(file, "a", 1, 0) == 1);
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    char byte;
    await(1);
    NEED(pread(file, &byte, 1, 0) == 1);
    x = 2; /* B */
    return NULL;
}

int main(void)
{
    char name[] = "/tmp/portent-race-XXXXXX";
    file = mkstemp(name);
    unlink(name);
    both(one, two);
    return x != 2;
}
