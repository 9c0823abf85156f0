/* C11 locks of the program's own, as programs have them that also run where <threads.h> is missing. */
#include <pthread.h>
#include <stdio.h>

typedef pthread_mutex_t mtx_t;
static mtx_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int locked;
int n;

int mtx_lock(mtx_t *lock)
{
    int result = pthread_mutex_lock(lock);
    locked++;
    return result;
}

int mtx_unlock(mtx_t *lock)
{
    return pthread_mutex_unlock(lock);
}

static void *work(void *arg)
{
    for (int i = 0; i < 100; i++) {
        mtx_lock(&mutex);
        n++;
        mtx_unlock(&mutex);
    }
    return arg;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d %d\n", n, locked);
    return 0;
}
