/* A thread with a small stack writes all the time; a handler that needs more than that stack runs on its own one.
 * holds: n <= 1000 && hits <= 200
 * violated: hits < 200
 * interrupted: yes
 * races: main looks at hits, and the handler writes it plainly
 */
#include "say.h"

static int n, hits, done;
static pthread_barrier_t ready;

static void handler(int number)
{
    char big[200000];
    (void)number;
    for (volatile int i = 0; i < 200000; i += 4096)
        big[i] = 1;
    __asm__ volatile("" ::"r"(big) : "memory");
    if (__atomic_load_n(&hits, __ATOMIC_RELAXED) < 200)
        SAY(hits, hits + 1);
}

static void *worker(void *given)
{
    stack_t stack = {.ss_sp = malloc(400000), .ss_size = 400000};
    NEED(sigaltstack(&stack, NULL) == 0);
    pthread_barrier_wait(&ready);
    for (int i = 1; i <= 1000 || !__atomic_load_n(&done, __ATOMIC_SEQ_CST); i++)
        if (i <= 1000)
            SAY(n, i);
    return given;
}

int main(void)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK | SA_RESTART};
    pthread_t thread;
    pthread_attr_t small;
    sigaction(SIGUSR1, &action, NULL);
    pthread_barrier_init(&ready, NULL, 2);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    NEED(pthread_create(&thread, &small, worker, NULL) == 0);
    pthread_barrier_wait(&ready);
    while (__atomic_load_n(&hits, __ATOMIC_RELAXED) < 200)
        pthread_kill(thread, SIGUSR1);
    __atomic_store_n(&done, 1, __ATOMIC_SEQ_CST);
    pthread_join(thread, NULL);
    printf("%d\n", hits);
    return 0;
}
