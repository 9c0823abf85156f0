/* Detached threads, whose stacks others get.
 * life: none
 */
#include "races.h"

static void *one(void *unused)
{
    volatile int local[200];
    local[5] = 1;
    USE(local[5]);
    pass_one();
    return NULL;
}

int main(void)
{
    for (int i = 1; i <= 30; i++) {
        pthread_detach(start(one, NULL));
        await(i);
    }
    return 0;
}
