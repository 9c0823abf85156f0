/* A byte through a pipe: what was written before it is there for who has read it.
 * race: none
 */
#include "races.h"

static int ends[2], x;

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
    NEED(pipe(ends) == 0);
    both(one, two);
    return x != 2;
}
