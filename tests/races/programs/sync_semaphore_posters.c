/* Who posts to a semaphore does not come after who has posted before.
 * race: x w:A w:B
 */
#include "races.h"

static int x;
static sem_t semaphore;

static void *one(void *unused)
{
    x = 1; /* A */
    sem_post(&semaphore);
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    sem_post(&semaphore);
    x = 2; /* B */
    return NULL;
}

int main(void)
{
    sem_init(&semaphore, 0, 0);
    both(one, two);
    return 0;
}
