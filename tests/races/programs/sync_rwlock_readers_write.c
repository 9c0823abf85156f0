/* Two threads write under the lock for readers: those are not ordered with each other.
 * race: x w:A w:B
 */
#include "races.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int x;

static void *one(void *unused)
{
    pthread_rwlock_rdlock(&lock);
    x = 1; /* A */
    pthread_rwlock_unlock(&lock);
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    pthread_rwlock_rdlock(&lock);
    x = 2; /* B */
    pthread_rwlock_unlock(&lock);
    return NULL;
}

int main(void)
{
    both(one, two);
    return x != 2;
}
