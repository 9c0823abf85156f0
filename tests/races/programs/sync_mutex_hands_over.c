/* What was written before an unlock is ordered before what comes after the next lock, inside or outside.
 * race: none
 */
#include "races.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int x;

static void *one(void *unused)
{
    x = 1;
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    x = 2;
    return NULL;
}

int main(void)
{
    both(one, two);
    return x != 2;
}
