/* Who is cancelled while it waits for a condition has the mutex in its cleanup handlers. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int waiting, count;

static void leave(void *unused)
{
    (void)unused;
    count++;
    pthread_mutex_unlock(&lock);
}

static void *work(void *unused)
{
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(leave, NULL);
    waiting++;
    pthread_cond_broadcast(&changed);
    while (waiting)
        pthread_cond_wait(&changed, &lock);
    pthread_cleanup_pop(1);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    pthread_mutex_lock(&lock);
    while (waiting < 2)
        pthread_cond_wait(&changed, &lock);
    count++;
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 2; i++)
        pthread_cancel(threads[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return count != 3;
}
