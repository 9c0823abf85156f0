/* A server that goes into the background, where its threads work. */
#include <pthread.h>
#include <unistd.h>

int level;

static void *worker(void *unused)
{
    usleep(200 * 1000); /* the first process has long ended */
    level = 2;
    return unused;
}

int main(void)
{
    pthread_t thread;
    level = 1;
    if (daemon(1, 1) != 0)
        return 1;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_join(thread, NULL);
    level = 3;
    return 5;
}
