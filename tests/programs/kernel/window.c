/*
 * A check and an action in two sections of a lock: window ROUNDS
 *
 * Two threads take from a balance that is enough for one. Whoever comes first is done with both sections long before
 * the other is there, unless it is late for the second: then both take. Prints how often that was.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

int balance;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *draw(void *unused)
{
    pthread_mutex_lock(&lock);
    int enough = balance >= 10;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    if (enough)
        balance -= 10;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(int count, char **words)
{
    int overdrawn = 0, rounds = count > 1 ? atoi(words[1]) : 1;
    for (int i = 0; i < rounds; i++) {
        pthread_t first, second;
        balance = 10;
        if (pthread_create(&first, NULL, draw, NULL) || pthread_create(&second, NULL, draw, NULL))
            return 1;
        pthread_join(first, NULL);
        pthread_join(second, NULL);
        overdrawn += balance < 0;
    }
    printf("%d\n", overdrawn);
    return 0;
}
