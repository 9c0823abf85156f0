// races:
/* A long run without a race: what was accessed a million accesses ago, and by whom, still counts as known. */
#include <pthread.h>
#include <stdlib.h>

enum { TABLE = 512, ROUNDS = 150000 };

static int table[TABLE], *counts;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *argument)
{
    unsigned seed = *(unsigned *)argument;
    long sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        seed = seed * 1103515245u + 12345u;
        sum += table[seed / 65536 % TABLE];
        pthread_mutex_lock(&lock);
        counts[seed / 128 % TABLE]++;
        counts[seed / 1024 % TABLE]--;
        pthread_mutex_unlock(&lock);
    }
    return sum < 0 ? argument : NULL;
}

int main(void)
{
    pthread_t first, others[2];
    unsigned seeds[3] = {1, 2, 3};
    counts = calloc(TABLE, sizeof *counts);
    pthread_create(&first, NULL, work, &seeds[0]);
    pthread_join(first, NULL);
    for (int i = 0; i < TABLE; i++)
        table[i] = i;
    for (int i = 0; i < 2; i++)
        pthread_create(&others[i], NULL, work, &seeds[i + 1]);
    for (int i = 0; i < 2; i++)
        pthread_join(others[i], NULL);
    free(counts);
    return 0;
}
