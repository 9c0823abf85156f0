/* A wait by a clock after a block was freed: the runtime looks for the real function, of which libc says an error first, and frees its text.
 * life: none
 */
#include "races.h"
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int going = 1;
static int *volatile block;

static void *work(void *unused)
{
    pthread_mutex_lock(&lock);
    while (going)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t thread;
    struct timespec until;
    pthread_create(&thread, NULL, work, NULL);
    block = malloc(sizeof *block);
    free(block);
    clock_gettime(CLOCK_MONOTONIC, &until);
    pthread_mutex_lock(&lock);
    NEED(pthread_cond_clockwait(&changed, &lock, CLOCK_MONOTONIC, &until) == ETIMEDOUT);
    going = 0;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
