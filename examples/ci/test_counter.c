/* usage: test_counter add|peek. Two threads count to 200; with peek, they look at the counter without the lock. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "counter.h"

static int peeks;

static void *count(void *unused)
{
    int seen = 0;
    for (int i = 0; i < 100; i++) {
        if (peeks)
            seen += counter_peek() > 0;
        counter_add(1);
    }
    (void)seen;
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t a, b;
    peeks = argc > 1 && strcmp(argv[1], "peek") == 0;
    pthread_create(&a, NULL, count, NULL);
    pthread_create(&b, NULL, count, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("counted %d\n", counter_get());
    return counter_get() == 200 ? 0 : 1;
}
