/* A lost update, as often as standard input says; each line of that is a round. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_int count;

static void *add(void *unused)
{
    int seen = count;
    count = seen + 1;
    return unused;
}

int main(void)
{
    char line[80];
    int rounds = 0;
    while (fgets(line, sizeof line, stdin)) {
        pthread_t threads[2];
        rounds++;
        if (line[0] == 'u')
            count++;
        for (int i = 0; i < 2; i++)
            pthread_create(&threads[i], NULL, add, NULL);
        if (line[0] == 'u')
            count--;
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
    }
    printf("%d of %d\n", count, 2 * rounds);
    if (count != 2 * rounds)
        abort();
    return 0;
}
