/* The lock orders the two by chance: who comes first frees what the other uses. Happens-before of this run orders them.
 * life: none
 */
#include "races.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int *block;

static void *one(void *unused)
{
    pthread_mutex_lock(&lock);
    block[1] = 1;
    pthread_mutex_unlock(&lock);
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    pthread_mutex_lock(&lock);
    free((void *)block);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    block = calloc(4, sizeof *block);
    both(one, two);
    return 0;
}
