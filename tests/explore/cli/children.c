/* Two threads that read, wait for a child, and write: who comes back from waitpid when is not the program's choice. */
#include <assert.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static int count;

static void *worker(void *unused)
{
    int seen = __atomic_load_n(&count, __ATOMIC_SEQ_CST);
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    __atomic_store_n(&count, seen + 1, __ATOMIC_SEQ_CST);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(count == 2);
    return 0;
}
