/* A handler posts and writes while its thread is inside of malloc, locks and watched writes of its own.
 * holds: a <= 400 && b <= 50
 * violated: b < 50
 * interrupted: yes
 */
#include "say.h"
#include <sys/time.h>

static volatile int a, b;

static void tick(int number)
{
    (void)number;
    if (b < 50)
        SAY(b, b + 1);
}

int main(void)
{
    struct itimerval every = {{0, 100}, {0, 100}}, stop = {{0, 0}, {0, 0}};
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    signal(SIGALRM, tick);
    setitimer(ITIMER_REAL, &every, NULL);
    for (int i = 1; i <= 400 || b < 50; i++) {
        char *block = malloc(100 + (size_t)i % 5000);
        pthread_mutex_lock(&lock);
        block[i % 100] = 1;
        if (i <= 400)
            SAY(a, i);
        pthread_mutex_unlock(&lock);
        free(block);
    }
    setitimer(ITIMER_REAL, &stop, NULL);
    printf("%d %d\n", a, b);
    return 0;
}
