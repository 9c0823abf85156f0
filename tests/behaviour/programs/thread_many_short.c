/* Six hundred threads, eight alive at a time, each of which makes one write.
 * holds: count >= 0 && count <= 600
 * violated: count != 600
 */
#include "say.h"

enum { ALIVE = 8, ROUNDS = 75 };
static int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *once(void *given)
{
    pthread_mutex_lock(&lock);
    SAY(count, count + 1);
    pthread_mutex_unlock(&lock);
    return given;
}

int main(void)
{
    long sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[ALIVE];
        for (long i = 0; i < ALIVE; i++)
            NEED(pthread_create(&threads[i], NULL, once, (void *)i) == 0);
        for (int i = 0; i < ALIVE; i++) {
            void *result;
            pthread_join(threads[i], &result);
            sum += (long)result;
        }
    }
    printf("%d %ld\n", count, sum);
    return 0;
}
