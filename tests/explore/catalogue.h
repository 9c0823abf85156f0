/*
 * What the programs of the catalogue share. A program with -DFIXED is its own correct twin. NEED is for what the
 * program takes for granted (status 99, never the bug); the bug itself shows by assert, by the status that main
 * returns, by a crash, or because nobody goes on.
 */
#ifndef CATALOGUE_H
#define CATALOGUE_H

#undef NDEBUG
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifndef __cplusplus
#include <stdatomic.h>
#include <threads.h>

#define NEED(condition)                                                                                                \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                            \
            _exit(99);                                                                                                 \
        }                                                                                                              \
    } while (0)

#define LOCK   PTHREAD_MUTEX_INITIALIZER
#define WAITER PTHREAD_COND_INITIALIZER

/* Macros, so that places are the program's own. */
#define start(function, argument)                                                                                      \
    ({                                                                                                                 \
        pthread_t started_;                                                                                            \
        NEED(pthread_create(&started_, NULL, function, argument) == 0);                                                \
        started_;                                                                                                      \
    })
#define join(thread)  NEED(pthread_join(thread, NULL) == 0)
#define lock(mutex)   NEED(pthread_mutex_lock(mutex) == 0)
#define unlock(mutex) NEED(pthread_mutex_unlock(mutex) == 0)

/* Runs two threads to their ends. */
static inline void both(void *(*one)(void *), void *(*two)(void *))
{
    pthread_t first = start(one, NULL), second = start(two, NULL);
    join(first);
    join(second);
}

/* The real time in so many milliseconds. */
static inline struct timespec in_ms(long ms)
{
    struct timespec at;
    NEED(clock_gettime(CLOCK_REALTIME, &at) == 0);
    at.tv_nsec += ms * 1000000;
    at.tv_sec += at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    return at;
}

/* A heap block that knows whether it is alive: its mark is behind what the allocator writes into a free block. */
struct object {
    void *links[4];
    _Atomic int mark;
};
enum { ALIVE = 0x600d, DEAD = 0xdead };

static inline struct object *make_object(void)
{
    struct object *object = (struct object *)calloc(1, sizeof *object);
    NEED(object);
    object->mark = ALIVE;
    return object;
}

static inline void free_object(struct object *object)
{
    assert(object->mark == ALIVE);
    object->mark = DEAD;
    free(object);
}

static inline void use_object(struct object *object)
{
    assert(object->mark == ALIVE);
}
#endif
#endif
