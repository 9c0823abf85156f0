/* All of it instrumented: whatever threads, handlers, sorting and ends of lives do to watched variables, nothing was
 * written outside. */
#include <portent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { THREADS = 6, ROUNDS = 3000 };

int level;
_Atomic int counter;
struct {
    unsigned a : 3, b : 5, c : 12;
} bits;
char name[40];
int sorted[16];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void handler(int signal)
{
    (void)signal;
    level = 1;
    counter++;
}

/* Handlers run in the first thread alone: in one that ends they would come when nobody sees their stores any more. */
static void *hammer(void *number)
{
    for (int i = 0; i < ROUNDS; i++) {
        level = i; /* races, on purpose */
        counter += level & 1;
        atomic_compare_exchange_strong(&counter, &(int){i}, i + 1);
        pthread_mutex_lock(&lock);
        bits.a = (unsigned)i & 7;
        bits.b = (unsigned)i & 31;
        bits.c++;
        memset(name, 'a' + i % 20, (size_t)(i % 39) + 1);
        pthread_mutex_unlock(&lock);
    }
    return number;
}

static int smaller(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* A local's name ends with it in a thread's stack, and the memory is others' then. */
static void *named_local(void *unused)
{
    int local = 3;
    portent_watch(&local, sizeof local, PORTENT_INT, "local");
    local = 4;
    return unused;
}

static void objects(void)
{
    for (int i = 0; i < 50; i++) {
        int *object = malloc(sizeof *object);
        *object = i;
        portent_watch(object, sizeof *object, PORTENT_INT, "obj");
        *object = i + 1;
        if (i % 2)
            object = realloc(object, 4096);
        free(object);
        char *again = strdup("a text in the same place");
        free(again);
    }
}

int main(void)
{
    pthread_t threads[THREADS];
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 500}, {0, 500}};
    sigset_t alarm;
    sigaction(SIGALRM, &action, NULL);
    pthread_create(&threads[0], NULL, named_local, NULL);
    pthread_join(threads[0], NULL);
    objects();
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, hammer, NULL);
    pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    for (int i = 0; i < 16; i++)
        sorted[i] = 16 - i;
    qsort(sorted, 16, sizeof *sorted, smaller);
    return 0;
}
