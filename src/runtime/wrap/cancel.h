/*
 * Calls in which the thread may be cancelled, where a wrapper has something to put right then: before the cleanup
 * handlers of the program run, and after libc's own, by which a wait for a condition takes its mutex again.
 */
#ifndef PT_RUNTIME_WRAP_CANCEL_H
#define PT_RUNTIME_WRAP_CANCEL_H

#include <pthread.h>

#include "runtime/thread/thread.h"

/* gcc takes it for possible that libc's macro changes its variables between its setjmp and the longjmp: it does not. */
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wclobbered"
#endif

/* result = call; stop(context) if it is cancelled. Of a thread that nobody observes there is nothing to put right. */
#define PT_CANCELLABLE(result, call, stop, context)                                                                    \
    do {                                                                                                               \
        if (!pt_thread_now()) {                                                                                        \
            (result) = call;                                                                                           \
            break;                                                                                                     \
        }                                                                                                              \
        pthread_cleanup_push(stop, context);                                                                           \
        (result) = call;                                                                                               \
        pthread_cleanup_pop(0);                                                                                        \
    } while (0)

#endif
