/* A semaphore that hands over, and one that counts to one.
 * race: none
 */
#include "races.h"

static sem_t ready, lock;
static int x, y;

static void *one(void *unused)
{
    x = 1;
    sem_post(&ready);
    sem_wait(&lock);
    y++;
    sem_post(&lock);
    return NULL;
}

static void *two(void *unused)
{
    sem_wait(&lock);
    y++;
    sem_post(&lock);
    while (sem_trywait(&ready) != 0)
        usleep(100);
    x++;
    return NULL;
}

int main(void)
{
    sem_init(&ready, 0, 0);
    sem_init(&lock, 0, 1);
    both(one, two);
    return x + y != 4;
}
