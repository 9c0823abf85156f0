/* expect: private true, private true, given true, given true, shared false, shared false */
/* Locals, heap memory, thread-locals and what each thread is handed alone are nobody else's. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "portent.h"

struct job {
    int id, sum;
    int *common;
};
static _Thread_local int mine;
static int common;

static void fill(int *list, int count)
{
    for (int i = 0; i < count; i++)
        list[i] = i;
}

static void *run(void *arg)
{
    struct job *job = arg, copy;
    portent_begin("private");
    int local[8], *heap = malloc(sizeof local);
    fill(local, 8);
    memcpy(heap, local, sizeof local);
    mine += heap[3];
    mine += heap[4];
    free(heap);
    portent_end("private");
    portent_begin("given");
    job->sum = job->id;
    copy = *job;
    job->sum += copy.id + mine;
    portent_end("given");
    portent_begin("shared");
    *job->common = *copy.common + 1;
    portent_end("shared");
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    struct job jobs[2];
    for (int i = 0; i < 2; i++) {
        jobs[i].id = i;
        jobs[i].common = &common;
        pthread_create(&threads[i], NULL, run, &jobs[i]);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return jobs[0].sum + jobs[1].sum + common;
}
