/* Both threads count without a lock.
 * race: x rw:A rw:B
 */
#include "races.h"

static int x;

static void *one(void *unused)
{
    x++; /* A */
    return NULL;
}

static void *two(void *unused)
{
    x++; /* B */
    return NULL;
}

int main(void)
{
    both(one, two);
    return x == 0;
}
