/* Two threads that are created and joined take turns under a mutex.
 * holds: x >= 0 && x <= 200
 * violated: x != 150
 * ordered: yes
 */
#include "say.h"

static int x;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *given)
{
    (void)given;
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&lock);
        SAY(x, x + 1);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", x);
    return 3;
}
