/* A signal, and a store after it: the receiver may see the store before its handler runs. The status says what was
 * seen: what each of two loads had, how far the thread was when the handler ran, and what the handler had. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

static _Alignas(64) atomic_int x;
static _Alignas(
    64) volatile int at; /* of one thread: no scheduling point, so that it changes with the load before it */
static volatile int handled_at = 3, seen;
static pthread_t receiver;

static void handler(int number)
{
    (void)number;
    handled_at = at;
    seen = x;
}

static void *sender(void *unused)
{
    pthread_kill(receiver, SIGUSR1);
    x = 1;
    return unused;
}

int main(void)
{
    pthread_t thread;
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    receiver = pthread_self();
    pthread_create(&thread, NULL, sender, NULL);
    int first = x;
    at = 1;
    int second = x;
    at = 2;
    pthread_join(thread, NULL);
    return 1 + first + 2 * second + 4 * handled_at + 16 * seen;
}
