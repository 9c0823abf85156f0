/* A request that is not answered in time is sent again, and is then carried out twice.
 * bug: time-out
 * depth: 1
 * fails: signal
 * place: A
 */
#include "catalogue.h"

static sem_t requests, answers;
static _Atomic int applied, identity, last_identity;

static void *server(void *unused)
{
    for (;;) {
        sem_wait(&requests);
        int id = identity;
        if (id < 0)
            break;
#ifdef FIXED
        if (id != last_identity)
#endif
            applied++;
        last_identity = id;
        sem_post(&answers);
    }
    return unused;
}

int main(void)
{
    sem_init(&requests, 0, 0);
    sem_init(&answers, 0, 0);
    pthread_t thread = start(server, NULL);
    identity = 1;
    for (int tries = 0, answered = 0; tries < 2 && !answered; tries++) {
        struct timespec until = in_ms(400);
        sem_post(&requests);
        answered = sem_timedwait(&answers, &until) == 0; /* A */
        if (!answered && tries == 1) {
            sem_wait(&answers);
            sem_wait(&answers);
        }
    }
    identity = -1;
    sem_post(&requests);
    join(thread);
    assert(applied <= 1);
    return 0;
}
