/* expect: change unknown */
/* unknown: begin_elsewhere */
/* What is handed to an unknown function it may run, for all we know in a thread. printf and qsort are known. */
#include <stdio.h>

#include "portent.h"

extern void begin_elsewhere(void (*function)(void));
static int x;

static void change(void)
{
    portent_begin("change");
    x++;
    x++;
    portent_end("change");
}

int main(void)
{
    begin_elsewhere(change);
    printf("%d\n", x);
    return 0;
}
