/* A semaphore that lets two threads in at a time.
 * race: x w:A w:B
 */
#include "races.h"

static sem_t places;
static int x;

static void *one(void *unused)
{
    sem_wait(&places);
    pass_one();
    await(2);
    x = 1; /* A */
    pass_one();
    await(4);
    sem_post(&places);
    return NULL;
}

static void *two(void *unused)
{
    sem_wait(&places);
    pass_one();
    await(2);
    x = 2; /* B */
    pass_one();
    await(4);
    sem_post(&places);
    return NULL;
}

int main(void)
{
    sem_init(&places, 0, 2);
    both(one, two);
    return x == 0;
}
