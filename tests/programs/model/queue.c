/*
 * A work queue with a condition variable. `put` and `done` are atomic: one critical section each. `take` waits for
 * work, so others run in its middle; `peek` looks at the length first, without the mutex.
 */
#include <pthread.h>
#include <stdlib.h>

#include "portent.h"

struct item {
    struct item *next;
    int work;
};

static struct queue {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct item *head, *tail;
    int length;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER};
static int finished;

static void put(struct queue *q, int work)
{
    struct item *item = malloc(sizeof *item);
    item->next = NULL;
    item->work = work;
    portent_begin("put");
    pthread_mutex_lock(&q->lock);
    if (q->tail)
        q->tail->next = item;
    else
        q->head = item;
    q->tail = item;
    q->length++;
    pthread_cond_signal(&q->filled);
    pthread_mutex_unlock(&q->lock);
    portent_end("put");
}

static int take(struct queue *q)
{
    portent_begin("take");
    pthread_mutex_lock(&q->lock);
    while (!q->head)
        pthread_cond_wait(&q->filled, &q->lock);
    struct item *item = q->head;
    q->head = item->next;
    if (!q->head)
        q->tail = NULL;
    q->length--;
    pthread_mutex_unlock(&q->lock);
    portent_end("take");
    int work = item->work;
    free(item);
    return work;
}

static void *worker(void *arg)
{
    struct queue *q = arg;
    for (;;) {
        take(q);
        portent_begin("done");
        pthread_mutex_lock(&q->lock);
        finished++;
        pthread_mutex_unlock(&q->lock);
        portent_end("done");
    }
}

static void *watcher(void *arg)
{
    struct queue *q = arg;
    portent_begin("peek");
    if (q->length > 0) {
        pthread_mutex_lock(&q->lock);
        q->length = q->length > 0 ? q->length : 0;
        pthread_mutex_unlock(&q->lock);
    }
    portent_end("peek");
    return NULL;
}

int main(void)
{
    pthread_t w, p;
    pthread_create(&w, NULL, worker, &queue);
    pthread_create(&p, NULL, watcher, &queue);
    for (int i = 0; i < 100; i++)
        put(&queue, i);
    pthread_join(w, NULL);
    pthread_join(p, NULL);
    return finished;
}
