/* A pipe orders its reader after its writer, not the writer after the reader.
 * race: x r:A w:B
 */
#include "races.h"

static int ends[2], x;

static void *one(void *unused)
{
    char byte;
    USE(x); /* A */
    pass(1);
    NEED(read(ends[0], &byte, 1) == 1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    NEED(write(ends[1], "a", 1) == 1);
    x = 2; /* B */
    return NULL;
}

int main(void)
{
    NEED(pipe(ends) == 0);
    both(one, two);
    return x != 2;
}
