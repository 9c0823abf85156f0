/* A byte through one pipe does not order what another pipe's reader does.
 * race: x w:A w:B
 */
#include "races.h"

static int ends[2], others[2], x;

static void *one(void *unused)
{
    x = 1; /* A */
    NEED(write(ends[1], "a", 1) == 1);
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    char byte;
    await(1);
    NEED(read(others[0], &byte, 1) == 1);
    x = 2; /* B */
    return NULL;
}

int main(void)
{
    NEED(pipe(ends) == 0 && pipe(others) == 0);
    NEED(write(others[1], "a", 1) == 1);
    both(one, two);
    return x != 2;
}
