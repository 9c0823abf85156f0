/* Both hold a lock, but not the same one.
 * life: use after free, predicted w:A free:B
 */
#include "races.h"

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static volatile int *block;

static void *one(void *unused)
{
    pthread_mutex_lock(&first);
    block[1] = 1; /* A */
    pthread_mutex_unlock(&first);
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    pthread_mutex_lock(&second);
    free((void *)block); /* B */
    pthread_mutex_unlock(&second);
    return NULL;
}

int main(void)
{
    block = calloc(4, sizeof *block);
    both(one, two);
    return 0;
}
