/* The handler of a timer leaves by siglongjmp, whatever the program is doing; then two threads make the same accesses.
 * holds: x <= 300
 * violated: x != 300
 * ordered: yes
 */
#include "say.h"
#include <setjmp.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/time.h>
#include <time.h>

enum { TIMES = 300, BLOCK = 300 };

struct block {
    unsigned char bytes[BLOCK];
};

static int x;
static sigjmp_buf back;
static volatile unsigned long number;
static volatile unsigned char small[16];
static _Atomic unsigned shared;
static struct block from, to;
static struct timespec moment;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void leave(int signal)
{
    (void)signal;
    siglongjmp(back, 1);
}

static void each_kind(void)
{
    unsigned seen = atomic_load(&shared);
    number++;
    for (size_t i = 0; i < sizeof small; i++)
        small[i]++;
    atomic_compare_exchange_strong(&shared, &seen, seen + 1);
    to = from;
    memset(&from, (int)(number & 127), sizeof from);
    clock_gettime(CLOCK_MONOTONIC, &moment);
}

static void *worker(void *given)
{
    pthread_mutex_lock(&lock);
    each_kind();
    pthread_mutex_unlock(&lock);
    return given;
}

int main(void)
{
    pthread_t threads[2];
    struct sigaction action = {.sa_handler = leave};
    static volatile int times;
    sigaction(SIGALRM, &action, NULL);
    for (times = 0; times < TIMES; times++) {
        struct itimerval once = {{0, 0}, {0, 50 + times * 7 % 100}};
        if (sigsetjmp(back, 1) == 0) {
            setitimer(ITIMER_REAL, &once, NULL);
            for (;;)
                each_kind();
        }
        SAY(x, times + 1);
    }
    for (int i = 0; i < 2; i++)
        NEED(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    puts("left");
    return 0;
}
