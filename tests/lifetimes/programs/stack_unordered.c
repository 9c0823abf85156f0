/* A local of a thread that ends while another may use it.
 * life: use of a stopped stack, predicted r:A free:none
 */
#include "races.h"

static int *volatile kept;

static void *one(void *unused)
{
    int local = 5;
    kept = &local;
    pass(1);
    await(2);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    USE(*(volatile int *)kept); /* A */
    pass(2);
    return NULL;
}

int main(void)
{
    kept = NULL;
    both(one, two);
    return 0;
}
