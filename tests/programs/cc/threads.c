/* Two threads, a lock, and every way of building a program: its output does not depend on the schedule. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "part.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    int total;
    struct record last;
    char name[16];
} shared;

static void *work(void *arg)
{
    const struct record *mine = arg;
    for (int i = 0; i < 1000; i++) {
        pthread_mutex_lock(&lock);
        shared.total += part_step(mine->weight);
        shared.last = *mine;
        memcpy(shared.name, "record", 7);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    struct record records[2] = {{3, 1.5}, {4, 2.5}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, work, &records[i]) != 0)
            return 1;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d %s %d\n", shared.total, shared.name, part_steps);
    return 0;
}
