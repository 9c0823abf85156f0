/* Main ends by pthread_exit, and others go on. */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int done;
static sem_t ready;

static void check(void)
{
    if (__atomic_load_n(&done, __ATOMIC_SEQ_CST) == 0)
        _exit(4);
}

static void *work(void *unused)
{
    __atomic_fetch_add(&done, 1, __ATOMIC_SEQ_CST);
    usleep(1000);
    return unused;
}

static void *wait_first(void *unused)
{
    sem_wait(&ready);
    return work(unused);
}

int main(int count, char **words)
{
    pthread_t thread;
    const char *way = count > 1 ? words[1] : "";
    int several = !strcmp(way, "several");
    sem_init(&ready, 0, 0);
    atexit(check);
    for (int i = 0; i < (several ? 3 : 1); i++) {
        pthread_create(&thread, NULL, several || !strcmp(way, "stuck") ? wait_first : work, NULL);
        if (strcmp(way, "joinable") != 0)
            pthread_detach(thread);
    }
    for (int i = 0; i < 3 && several; i++)
        sem_post(&ready);
    pthread_exit(NULL);
}
