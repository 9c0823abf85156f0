/* A queue with a mutex and two conditions, and the blocks that go through it.
 * race: none
 */
#include "races.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static int *slots[4], used, sum;

static void *produce(void *unused)
{
    for (int i = 1; i <= 20; i++) {
        int *block = malloc(sizeof *block);
        *block = i;
        pthread_mutex_lock(&lock);
        while (used == 4)
            pthread_cond_wait(&emptied, &lock);
        slots[used++] = block;
        pthread_cond_signal(&filled);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void *consume(void *unused)
{
    for (int i = 1; i <= 20; i++) {
        pthread_mutex_lock(&lock);
        while (!used)
            pthread_cond_wait(&filled, &lock);
        int *block = slots[--used];
        pthread_cond_signal(&emptied);
        pthread_mutex_unlock(&lock);
        sum += *block;
        free(block);
    }
    return NULL;
}

int main(void)
{
    both(produce, consume);
    return sum != 210;
}
