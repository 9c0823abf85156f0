/* Two threads that mostly compute in memory of their own, and meet at a spin lock.
 * holds: best >= 0 && best <= 1280
 * violated: best < 1000
 * races: not looked for, since each access would be an event then
 */
#include "say.h"

enum { SIZE = 1 << 12, PASSES = 30, ROUNDS = 160 };
static int best;
static pthread_spinlock_t lock;

static void *worker(void *given)
{
    unsigned *cells = calloc(SIZE, sizeof *cells), seed = 1 + (unsigned)(long)given;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < PASSES * SIZE; i++) {
            seed = seed * 1664525 + 1013904223;
            cells[i % SIZE] += seed >> 28;
        }
        pthread_spin_lock(&lock);
        SAY(best, best + 4);
        pthread_spin_unlock(&lock);
    }
    unsigned sum = 0;
    for (int i = 0; i < SIZE; i++)
        sum += cells[i];
    free(cells);
    return (void *)(long)sum;
}

int main(void)
{
    pthread_t threads[2];
    long sum = 0;
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    for (long i = 0; i < 2; i++)
        NEED(pthread_create(&threads[i], NULL, worker, (void *)i) == 0);
    for (int i = 0; i < 2; i++) {
        void *result;
        pthread_join(threads[i], &result);
        sum += (long)result;
    }
    printf("%ld %d\n", sum, best);
    return 0;
}
