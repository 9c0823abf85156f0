/* Two accesses of one phase. Nobody is at the next barrier before both have made theirs.
 * race: x w:A w:B
 */
#include "races.h"

static pthread_barrier_t barrier;
static int x;

static void *one(void *unused)
{
    pthread_barrier_wait(&barrier);
    x = 1; /* A */
    pass_one();
    await(2);
    pthread_barrier_wait(&barrier);
    return NULL;
}

static void *two(void *unused)
{
    pthread_barrier_wait(&barrier);
    x = 2; /* B */
    pass_one();
    await(2);
    pthread_barrier_wait(&barrier);
    return NULL;
}

int main(void)
{
    pthread_barrier_init(&barrier, NULL, 2);
    both(one, two);
    return x == 0;
}
