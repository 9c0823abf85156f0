/* A write after the unlock is not covered by it, though the other thread locks later.
 * race: x w:A w:B
 */
#include "races.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int x, y;

static void *one(void *unused)
{
    pthread_mutex_lock(&lock);
    y = 1;
    pthread_mutex_unlock(&lock);
    x = 1; /* A */
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    pthread_mutex_lock(&lock);
    y = 2;
    x = 2; /* B */
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    both(one, two);
    return x + y != 4;
}
