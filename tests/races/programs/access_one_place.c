/* Two threads race at one and the same place, with itself.
 * race: x rw:A rw:A
 */
#include "races.h"

static int x;

static void *one(void *unused)
{
    x++; /* A */
    return NULL;
}

int main(void)
{
    both(one, one);
    return x == 0;
}
