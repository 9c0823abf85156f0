/* A program that brings its own thrd_create and mtx_lock, as shims for older C libraries do.
 * holds: x <= 200
 * violated: x != 200
 */
#include "say.h"

typedef struct {
    pthread_mutex_t mutex;
} mtx_t;

static int x;
static mtx_t lock = {PTHREAD_MUTEX_INITIALIZER};

int mtx_lock(mtx_t *mutex);
int mtx_unlock(mtx_t *mutex);
int thrd_create(pthread_t *thread, int (*function)(void *), void *given);

int mtx_lock(mtx_t *mutex)
{
    return pthread_mutex_lock(&mutex->mutex);
}

int mtx_unlock(mtx_t *mutex)
{
    return pthread_mutex_unlock(&mutex->mutex);
}

int thrd_create(pthread_t *thread, int (*function)(void *), void *given)
{
    return pthread_create(thread, NULL, (void *(*)(void *))(void (*)(void))function, given);
}

static int worker(void *given)
{
    for (int i = 0; i < 100; i++) {
        mtx_lock(&lock);
        SAY(x, x + 1);
        mtx_unlock(&lock);
    }
    return given != NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        NEED(thrd_create(&threads[i], worker, NULL) == 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", x);
    return 0;
}
