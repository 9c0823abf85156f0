/* Readers and a writer of a read-write lock.
 * race: none
 */
#include "races.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int x;

static void *writer(void *unused)
{
    for (int i = 0; i < 10; i++) {
        pthread_rwlock_wrlock(&lock);
        x++;
        pthread_rwlock_unlock(&lock);
    }
    return NULL;
}

static void *reader(void *unused)
{
    for (int i = 0; i < 10; i++) {
        pthread_rwlock_rdlock(&lock);
        USE(x);
        pthread_rwlock_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t third = start(reader, NULL);
    both(writer, reader);
    pthread_join(third, NULL);
    return x != 10;
}
