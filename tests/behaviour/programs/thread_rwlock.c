/* Readers and writers: a reader never sees the two halves differ.
 * holds: a - b <= 1 && b - a <= 1
 * violated: a < 20
 * ordered: yes
 */
#include "say.h"

static int a, b;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *writer(void *given)
{
    for (int i = 0; i < 10; i++) {
        pthread_rwlock_wrlock(&lock);
        SAY(a, a + 1);
        SAY(b, b + 1);
        pthread_rwlock_unlock(&lock);
    }
    return given;
}

static void *reader(void *given)
{
    for (int i = 0; i < 50; i++) {
        pthread_rwlock_rdlock(&lock);
        NEED(a == b);
        pthread_rwlock_unlock(&lock);
    }
    return given;
}

int main(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        NEED(pthread_create(&threads[i], NULL, i % 2 ? reader : writer, NULL) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    printf("%d %d\n", a, b);
    return 0;
}
