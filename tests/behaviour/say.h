/*
 * How a program of this folder says what it does. SAY(x, 3) writes 3 to the variable x and says so; said() alone says a
 * write that was made otherwise. What is said goes to memory shared with the file `said` beside the program, if there
 * is one, so it outlives any end of the process. said.c is never instrumented: saying is no event and orders no
 * threads.
 */
#ifndef SAY_H
#define SAY_H

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

void said(const char *name, long long value);
void said_real(const char *name, double value);
void said_text(const char *name, const char *value);

#ifdef __cplusplus
}
#endif

#define SAY(variable, value)                                                                                           \
    do {                                                                                                               \
        __typeof__(variable) say_ = (value);                                                                           \
        (variable) = say_;                                                                                             \
        said(#variable, (long long)say_);                                                                              \
    } while (0)

/* Ends a program that could not do what it is about. */
#define NEED(condition)                                                                                                \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                    \
            _exit(99);                                                                                                 \
        }                                                                                                              \
    } while (0)

#endif
