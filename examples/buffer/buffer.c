/*
 * The shared buffer of the JamaicaVM paper (Figure 1), in C: a producer and a consumer take turns. With the argument
 * `impatient` the producer waits for the consumer only so long, and then overwrites what was not read yet.
 *
 * usage: buffer SECONDS [impatient]
 */
#include <portent.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CYCLE_US = 2000, PATIENCE_MS = 100, SLOW_EVERY = 100, SLOW_US = 400000 };
enum state { EMPTY, FULL };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static enum state state = EMPTY; /* under lock, as content and over */
static int content;
static bool over, impatient;

static void set(enum state now)
{
    state = now;
    pthread_cond_broadcast(&changed);
}

static void buffer_write(int value)
{
    pthread_mutex_lock(&lock);
    content = value;
    portent_event("write");
    set(FULL);
    pthread_mutex_unlock(&lock);
}

static int buffer_read(void)
{
    pthread_mutex_lock(&lock);
    int value = content;
    portent_event("read");
    set(EMPTY);
    pthread_mutex_unlock(&lock);
    return value;
}

/* Until the buffer is in that state, or nobody goes on; an impatient caller waits no longer than PATIENCE_MS. */
static bool await(enum state wanted, bool hurry)
{
    struct timespec end;
    int failed = 0;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += PATIENCE_MS * 1000000L;
    end.tv_sec += end.tv_nsec / 1000000000L;
    end.tv_nsec %= 1000000000L;
    pthread_mutex_lock(&lock);
    while (state != wanted && !over && !failed)
        failed = hurry ? pthread_cond_timedwait(&changed, &lock, &end) : pthread_cond_wait(&changed, &lock);
    bool go_on = !over;
    pthread_mutex_unlock(&lock);
    return go_on;
}

static void *producer(void *unused)
{
    int i = 0;
    do {
        usleep(CYCLE_US);
        buffer_write(i++);
    } while (await(EMPTY, impatient));
    return unused;
}

static void *consumer(void *unused)
{
    for (int i = 1; await(FULL, false); i++) {
        if (i % SLOW_EVERY == 0)
            usleep(SLOW_US); /* now and then there is something else to do */
        buffer_read();
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    impatient = argc > 2 && strcmp(argv[2], "impatient") == 0;
    if (pthread_create(&threads[0], NULL, consumer, NULL) != 0 ||
        pthread_create(&threads[1], NULL, producer, NULL) != 0)
        return 1;
    usleep((useconds_t)(1e6 * (argc > 1 ? atof(argv[1]) : 1)));
    pthread_mutex_lock(&lock);
    over = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
