/* write(2) reads a buffer that another thread writes.
 * race: buffer w:A r:B
 */
#include "races.h"

static char buffer[16];

static void *one(void *unused)
{
    buffer[5] = 1; /* A */
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    int file = open("/dev/null", O_WRONLY);
    NEED(write(file, buffer, 16) == 16); /* B */
    close(file);
    return NULL;
}

int main(void)
{
    both(one, two);
    return 0;
}
