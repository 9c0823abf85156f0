/* Detached threads that say by a semaphore that they are done.
 * race: none
 */
#include "races.h"

static sem_t done;
static int x;

static void *work(void *unused)
{
    x++;
    sem_post(&done);
    return NULL;
}

int main(void)
{
    sem_init(&done, 0, 0);
    for (int i = 0; i < 5; i++) {
        pthread_detach(start(work, NULL));
        sem_wait(&done);
    }
    return x != 5;
}
