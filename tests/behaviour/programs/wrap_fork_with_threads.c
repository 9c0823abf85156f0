/* fork while threads run: pthread_atfork's handlers, a lock that is held, a thread in the child.
 * holds: x <= 100
 * violated: x < 100
 */
#include "say.h"
#include <semaphore.h>
#include <sys/wait.h>

static int x;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void before(void)
{
    pthread_mutex_lock(&lock);
}

static void after(void)
{
    pthread_mutex_unlock(&lock);
}

static void *worker(void *given)
{
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&lock);
        SAY(x, x + 1);
        pthread_mutex_unlock(&lock);
    }
    return given;
}

int main(void)
{
    pthread_t threads[2];
    int status, sum = 0;
    pthread_atfork(before, after, after);
    for (int i = 0; i < 2; i++)
        NEED(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    for (int i = 0; i < 10; i++) {
        pid_t child = fork();
        if (child == 0) {
            pthread_t own;
            pthread_mutex_lock(&lock);
            pthread_mutex_unlock(&lock);
            NEED(pthread_create(&own, NULL, (void *(*)(void *))(void (*)(void))pthread_self, NULL) == 0);
            pthread_join(own, NULL);
            _exit(i);
        }
        NEED(waitpid(child, &status, 0) == child);
        sum += WEXITSTATUS(status);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d %d\n", sum, x);
    return 0;
}
