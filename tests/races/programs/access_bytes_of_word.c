/* Neighbouring bytes are memory locations of their own.
 * race: none
 */
#include "races.h"

static _Alignas(8) char bytes[8];

static void *one(void *unused)
{
    for (int i = 0; i < 8; i += 2)
        bytes[i] = 1;
    return NULL;
}

static void *two(void *unused)
{
    for (int i = 1; i < 8; i += 2)
        bytes[i] = 2;
    return NULL;
}

int main(void)
{
    both(one, two);
    return bytes[0] + bytes[7] != 3;
}
