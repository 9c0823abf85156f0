/* A spin lock of the library.
 * race: none
 */
#include "races.h"

static pthread_spinlock_t lock;
static int x;

static void *one(void *unused)
{
    for (int i = 0; i < 10; i++) {
        if (i % 2)
            pthread_spin_lock(&lock);
        else
            while (pthread_spin_trylock(&lock) != 0)
                usleep(10);
        x++;
        pthread_spin_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    both(one, one);
    pthread_spin_destroy(&lock);
    return x != 20;
}
