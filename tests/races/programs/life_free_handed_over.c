/* A block that goes through a lock to the thread that frees it.
 * race: none
 */
#include "races.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *block;

static void *one(void *unused)
{
    int *mine = malloc(64);
    mine[3] = 1;
    pthread_mutex_lock(&lock);
    block = mine;
    pthread_mutex_unlock(&lock);
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    pthread_mutex_lock(&lock);
    int *theirs = block;
    pthread_mutex_unlock(&lock);
    NEED(theirs[3] == 1);
    free(theirs);
    return NULL;
}

int main(void)
{
    both(one, two);
    return 0;
}
