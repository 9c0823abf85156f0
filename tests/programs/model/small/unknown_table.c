/* expect: change unknown */
/* unknown: elsewhere */
/* A function in a table that another file can name is within reach of unknown functions. */
#include "portent.h"

extern void elsewhere(void);
static int x;

static void change(void)
{
    x = 2;
}

void (*const table[])(void) = {change};

int main(void)
{
    elsewhere();
    portent_begin("change");
    x++;
    portent_end("change");
    return 0;
}
