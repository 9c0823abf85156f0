/* read(2) writes a buffer that another thread reads.
 * race: buffer w:A r:B
 */
#include "races.h"

static char buffer[16];

static void *one(void *unused)
{
    int file = open("/dev/zero", O_RDONLY);
    NEED(read(file, buffer, 16) == 16); /* A */
    close(file);
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    USE(buffer[5]); /* B */
    return NULL;
}

int main(void)
{
    both(one, two);
    return 0;
}
