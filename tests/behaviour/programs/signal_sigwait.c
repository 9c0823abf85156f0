/* A thread takes signals by sigwait and sigtimedwait, and writes for each.
 * holds: x <= 20
 * violated: x < 12
 * ordered: yes
 */
#include "say.h"
#include <semaphore.h>

static int x;
static sem_t taken;

static void *taker(void *given)
{
    sigset_t *set = given;
    for (int i = 0; i < 10; i++) {
        int number;
        NEED(sigwait(set, &number) == 0);
        SAY(x, number == SIGUSR1 ? i : 10 + i);
        sem_post(&taken);
    }
    return NULL;
}

int main(void)
{
    sigset_t set;
    pthread_t thread;
    struct timespec none = {0, 0};
    sem_init(&taken, 0, 0);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    NEED(pthread_create(&thread, NULL, taker, &set) == 0);
    for (int i = 0; i < 10; i++) {
        kill(getpid(), i % 3 ? SIGUSR1 : SIGTERM);
        while (sem_wait(&taken) != 0)
            ;
    }
    pthread_join(thread, NULL);
    printf("%d\n", sigtimedwait(&set, NULL, &none) == -1 && errno == EAGAIN);
    return 0;
}
