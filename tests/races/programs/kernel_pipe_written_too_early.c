/* What was written after the byte was sent is not ordered by it.
 * race: x w:A w:B
 */
#include "races.h"

static int ends[2], x;

static void *one(void *unused)
{
    NEED(write(ends[1], "a", 1) == 1);
    x = 1; /* A */
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    char byte;
    await(1);
    NEED(read(ends[0], &byte, 1) == 1);
    x = 2; /* B */
    return NULL;
}

int main(void)
{
    NEED(pipe(ends) == 0);
    both(one, two);
    return x != 2;
}
