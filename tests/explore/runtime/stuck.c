/* Each way to be stuck, by its name: no thread can ever go on. */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t permits;
static int ends[2];
static const char *way;

static void stop(void)
{
    char c;
    if (strcmp(way, "mutex") == 0)
        pthread_mutex_lock(&a), pthread_mutex_lock(&a);
    else if (strcmp(way, "condition") == 0)
        pthread_mutex_lock(&a), pthread_cond_wait(&changed, &a);
    else if (strcmp(way, "semaphore") == 0)
        sem_wait(&permits);
    else if (strcmp(way, "barrier") == 0)
        pthread_barrier_wait(&barrier);
    else if (strcmp(way, "upgrade") == 0)
        pthread_rwlock_rdlock(&shared), pthread_rwlock_wrlock(&shared);
    else if (strcmp(way, "pipe") == 0)
        _exit(read(ends[0], &c, 1) == 1);
    else
        exit(9);
}

static void *work(void *unused)
{
    pthread_mutex_lock(&b);
    stop();
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc < 3 || pipe(ends) != 0)
        return 9;
    way = argv[1];
    sem_init(&permits, 0, 0);
    pthread_barrier_init(&barrier, NULL, 2);
    if (strcmp(argv[2], "alone") == 0)
        stop();
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    return 0;
}
