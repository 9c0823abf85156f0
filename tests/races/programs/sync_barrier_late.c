/* Two threads write between two barriers, as fast as they can: one that leaves the first barrier late is not ordered
 * after what the other did on its way to the second.
 * race: x w:A w:B
 * tsan: at times nothing, who leaves late learns of the next phase
 */
#include "races.h"

static pthread_barrier_t barrier;
static int x;

static void *one(void *unused)
{
    pthread_barrier_wait(&barrier);
    x = 1; /* A */
    pthread_barrier_wait(&barrier);
    return NULL;
}

static void *two(void *unused)
{
    pthread_barrier_wait(&barrier);
    x = 2; /* B */
    pthread_barrier_wait(&barrier);
    return NULL;
}

int main(void)
{
    pthread_barrier_init(&barrier, NULL, 2);
    both(one, two);
    pthread_barrier_destroy(&barrier);
    return 0;
}
