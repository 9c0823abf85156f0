/* A block goes from thread to thread by a lock, and the last one frees it.
 * life: none
 */
#include "races.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int *box;

static void *one(void *unused)
{
    for (int i = 0; i < 100; i++) {
        int *block = malloc(40);
        block[2] = i;
        pthread_mutex_lock(&lock);
        while (box)
            pthread_cond_wait(&filled, &lock);
        box = block;
        pthread_cond_broadcast(&filled);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void *two(void *unused)
{
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&lock);
        while (!box)
            pthread_cond_wait(&filled, &lock);
        int *block = box;
        box = NULL;
        pthread_cond_broadcast(&filled);
        pthread_mutex_unlock(&lock);
        NEED(block[2] == i);
        free(block);
    }
    return NULL;
}

int main(void)
{
    both(one, two);
    return 0;
}
