/* Readers of what was written before they started.
 * race: none
 */
#include "races.h"

static int x;

static void *one(void *unused)
{
    USE(x);
    return NULL;
}

static void *two(void *unused)
{
    USE(x);
    return NULL;
}

int main(void)
{
    x = 7;
    both(one, two);
    x = 8;
    return x != 8;
}
