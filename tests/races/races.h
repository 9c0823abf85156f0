/*
 * What the programs of the catalogue share. await(N) returns once pass(N) was called: threads take turns where it
 * matters what is seen, and no tool that looks at memory, locks or atomic operations of the program can know of it
 * (turns.c).
 */
#ifndef RACES_H
#define RACES_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#else
#include <stdatomic.h>
#endif

void await(int number);
void pass(int number);
void pass_one(void); /* several threads may: the number grows by one */

/* The value is needed, so it must be read. */
#define USE(value) __asm__ volatile("" : : "r"(value) : "memory")

/* The program could not do what it is about. */
#define NEED(condition)                                                                                                \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                            \
            _exit(99);                                                                                                 \
        }                                                                                                              \
    } while (0)

static inline pthread_t start(void *(*function)(void *), void *argument)
{
    pthread_t thread;
    NEED(pthread_create(&thread, NULL, function, argument) == 0);
    return thread;
}

/* Runs two threads to their ends. */
static inline void both(void *(*one)(void *), void *(*two)(void *))
{
    pthread_t first = start(one, NULL), second = start(two, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
}

#ifdef __cplusplus
}
#endif
#endif
