/* A signal handler counts in two steps of its own while its thread is between the two steps of its count.
 * bug: signal handler
 * depth: 2
 * fails: status
 * place: A
 */
#include "catalogue.h"

static _Atomic int count;
static pthread_t main_thread;

static void add(void)
{
#ifdef FIXED
    count++;
#else
    int seen = count;
    count = seen + 1; /* A */
#endif
}

static void handler(int number)
{
    (void)number;
    add();
}

static void *sender(void *unused)
{
    pthread_kill(main_thread, SIGUSR1);
    return unused;
}

int main(void)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    main_thread = pthread_self();
    pthread_t thread = start(sender, NULL);
    add();
    add();
    join(thread);
    printf("count %d\n", count);
    return count == 3 ? 0 : 1;
}
