/*
 * A work queue with one worker. submit() refuses jobs once the queue is closed, but looks before it takes the lock: a
 * job can slip in after closing, when the worker may have left.
 */
#include <portent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

enum { JOBS = 3, CAPACITY = 8, PAUSE_US = 50000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int jobs[CAPACITY];
static unsigned head, tail; /* under lock, as jobs */
static atomic_bool closed;

static bool submit(int job)
{
    if (closed)
        return false;
    pthread_mutex_lock(&lock);
    jobs[tail++ % CAPACITY] = job;
    portent_event("enqueue");
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return true;
}

static void close_queue(void)
{
    closed = true;
    pthread_mutex_lock(&lock);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* The next job, or -1 when there is none and there will be none. */
static int take(void)
{
    int job = -1;
    pthread_mutex_lock(&lock);
    while (head == tail && !closed)
        pthread_cond_wait(&changed, &lock);
    if (head != tail)
        job = jobs[head++ % CAPACITY];
    pthread_mutex_unlock(&lock);
    return job;
}

static void *worker(void *unused)
{
    int done = 0;
    while (take() >= 0) {
        usleep(4 * PAUSE_US); /* a job takes its time */
        done++;
    }
    printf("%d of %d jobs done\n", done, JOBS);
    return unused;
}

static void *producer(void *unused)
{
    for (int job = 0; job < JOBS; job++) {
        submit(job);
        usleep(PAUSE_US);
    }
    return unused;
}

int main(void)
{
    pthread_t a, b;
    if (pthread_create(&a, NULL, worker, NULL) != 0 || pthread_create(&b, NULL, producer, NULL) != 0)
        return 1;
    usleep(7 * PAUSE_US);
    close_queue();
    pthread_join(b, NULL);
    pthread_join(a, NULL);
    return head == JOBS && tail == JOBS ? 0 : 1;
}
