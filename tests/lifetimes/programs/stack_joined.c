/* A pointer into the stack of a thread that was joined.
 * life: use of a stopped stack, observed r:A free:none
 */
#include "races.h"

static int *volatile kept;

static void *one(void *unused)
{
    int local = 5;
    kept = &local;
    USE(*(volatile int *)kept);
    return NULL;
}

int main(void)
{
    pthread_join(start(one, NULL), NULL);
    USE(*(volatile int *)kept); /* A */
    return 0;
}
