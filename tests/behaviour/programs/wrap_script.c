/* A script of the shell in front of the program, as libtool makes them.
 * holds: x <= 2
 * violated: x != 2
 * ordered: yes
 * run: ./front one 'two three'
 * files: front=#!/bin/sh\nexec "${0%front}program" "$@"\n
 */
#include "say.h"

static int x;

int main(int count, char **arguments)
{
    SAY(x, count - 1);
    for (int i = 1; i < count; i++)
        puts(arguments[i]);
    return 0;
}
