/* The program closes every descriptor above 2, as daemons do, with threads and without.
 * holds: x <= 1000
 * violated: x != 600
 */
#include "say.h"

static int x;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *given)
{
    for (int i = 0; i < 500; i++) {
        pthread_mutex_lock(&lock);
        SAY(x, x + 1);
        pthread_mutex_unlock(&lock);
    }
    return given;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 3; i < 1024; i++)
        close(i);
    for (int i = 0; i < 2; i++)
        NEED(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    close_range(3, ~0U, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", x);
    return 0;
}
