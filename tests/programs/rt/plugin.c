/* A library that is loaded while the program runs, with a watched variable of its own. */
#include "hooks.h"

_Alignas(16) int inside = 4;
void poke(int value);

void poke(int value)
{
    ST4(&inside, value);
}
