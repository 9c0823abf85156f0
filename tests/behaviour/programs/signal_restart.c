/* SA_RESTART goes on with an interrupted read; without it the read ends with EINTR.
 * holds: x <= 3
 * violated: x != 2
 */
#include "say.h"
#include <semaphore.h>

static volatile int x;
static int ends[2];
static sem_t handled;
static pthread_t reader;

static void handler(int number)
{
    (void)number;
    SAY(x, x + 1);
    sem_post(&handled);
}

static void *poke(void *given)
{
    /* The reader may not be in its read yet: then no EINTR comes, so it is poked until it says that it has ended. */
    sem_t *ended = given;
    pthread_kill(reader, SIGUSR1);
    while (sem_wait(&handled) != 0)
        ;
    if (write(ends[1], "a", 1) != 1)
        _exit(99);
    sem_wait(ended);
    return NULL;
}

static void round_with(int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    pthread_t thread;
    sem_t ended;
    char got = 0;
    sem_init(&ended, 0, 0);
    sigaction(SIGUSR1, &action, NULL);
    NEED(pthread_create(&thread, NULL, poke, &ended) == 0);
    while (read(ends[0], &got, 1) != 1)
        NEED(!(flags & SA_RESTART) && errno == EINTR);
    printf("%c\n", got);
    sem_post(&ended);
    pthread_join(thread, NULL);
}

int main(void)
{
    reader = pthread_self();
    sem_init(&handled, 0, 0);
    NEED(pipe(ends) == 0);
    round_with(SA_RESTART);
    round_with(0);
    round_with(SA_RESTART);
    return x;
}
