/* expect: pick true, pick true, slot false, slot false */
/* note: index.c:20: .*all of */
/* An unknown index is the whole array: mutexes that cannot be told apart exclude nobody. */
#include <pthread.h>
#include <stdlib.h>

#include "portent.h"

static pthread_mutex_t locks[4], one = PTHREAD_MUTEX_INITIALIZER;
static int data[4], slots[4];

static void *worker(void *arg)
{
    int i = rand() % 4;
    portent_begin("pick");
    pthread_mutex_lock(&one);
    data[i]++;
    pthread_mutex_unlock(&one);
    portent_end("pick");
    pthread_mutex_lock(&locks[i]);
    portent_begin("slot");
    slots[i]++;
    portent_end("slot");
    pthread_mutex_unlock(&locks[i]);
    return arg;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
