/* An atomic store does not help against a plain one.
 * race: number w:A w:B
 */
#include "races.h"

static int number;

static void *one(void *unused)
{
    __atomic_store_n(&number, 1, __ATOMIC_SEQ_CST); /* A */
    return NULL;
}

static void *two(void *unused)
{
    number = 2; /* B */
    return NULL;
}

int main(void)
{
    both(one, two);
    return number == 0;
}
