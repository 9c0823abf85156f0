/*
 * Message queues, of POSIX and of System V, and System V's semaphores: the kernel has them, and a program knows them by
 * a number. What is sent comes before what is received, and what is added to a semaphore before what is taken from it.
 * The thread of mq_notify comes after who asked for it, and after who sent.
 *
 * Guarantee: no order is missing; numbers that differ by a multiple of OBJECTS are one object, so there may be too
 * much. Cost: without an observer a load and a branch beside the call.
 */
#include <mqueue.h>
#include <sys/msg.h>
#include <sys/sem.h>

#include "runtime/shadow/slow.h"
#include "runtime/wrap/hooks.h"
#include "runtime/wrap/interpose.h"
#include "runtime/wrap/timer.h"
#include "runtime/wrap/turn.h"

enum { OBJECTS = 256 };
enum sort { POSIX_QUEUE, QUEUE, SEMAPHORES, SORTS };

/* Stand for what has no memory of its own. */
static _Alignas(8) const char objects[SORTS][OBJECTS][8];

static const void *object_of(enum sort sort, int number)
{
    return objects[sort][(unsigned)number % OBJECTS];
}

static void happened(enum sort sort, int number, int kind)
{
    pt_wrap_sync(object_of(sort, number), kind, NULL);
}

#define SENT(name, parameters, arguments, sort)                                                                        \
    PT_WRAP(int, name, parameters)                                                                                     \
    {                                                                                                                  \
        happened(sort, number, PT_EFFECT(name));                                                                       \
        pt_turn_away(NULL);                                                                                            \
        int result = PT_REAL(name) arguments;                                                                          \
        pt_turn_back(NULL);                                                                                            \
        return result;                                                                                                 \
    }
#define RECEIVED(name, parameters, arguments, sort)                                                                    \
    PT_WRAP(ssize_t, name, parameters)                                                                                 \
    {                                                                                                                  \
        pt_wrap_blocks(object_of(sort, number), PT_GATE_WAITS_OTHER);                                                  \
        pt_turn_away(NULL);                                                                                            \
        ssize_t result = PT_REAL(name) arguments;                                                                      \
        pt_turn_back(NULL);                                                                                            \
        pt_wrap_blocks(NULL, PT_GATE_RUNS);                                                                            \
        if (result >= 0)                                                                                               \
            happened(sort, number, PT_EFFECT(name));                                                                   \
        return result;                                                                                                 \
    }

SENT(mq_send, (mqd_t number, const char *text, size_t size, unsigned priority), (number, text, size, priority),
     POSIX_QUEUE)
SENT(mq_timedsend, (mqd_t number, const char *text, size_t size, unsigned priority, const struct timespec *limit),
     (number, text, size, priority, limit), POSIX_QUEUE)
RECEIVED(mq_receive, (mqd_t number, char *text, size_t size, unsigned *priority), (number, text, size, priority),
         POSIX_QUEUE)
RECEIVED(mq_timedreceive, (mqd_t number, char *text, size_t size, unsigned *priority, const struct timespec *limit),
         (number, text, size, priority, limit), POSIX_QUEUE)
SENT(msgsnd, (int number, const void *message, size_t size, int flags), (number, message, size, flags), QUEUE)
RECEIVED(msgrcv, (int number, void *message, size_t size, long type, int flags), (number, message, size, type, flags),
         QUEUE)

/* The thread that libc starts for a message comes after this, and after whoever has sent it. */
PT_WRAP(int, mq_notify, (mqd_t number, const struct sigevent *how))
{
    struct sigevent ours;
    const void *object = pt_timer_thread(how, object_of(POSIX_QUEUE, number), &ours);
    if (object)
        pt_wrap_sync_kernel(object, PT_EFFECT(mq_notify), NULL);
    if (object && __builtin_expect(pt_explore_on, 0))
        pt_explore_outside();
    int result = PT_REAL(mq_notify)(number, object ? &ours : how);
    if (object && result == 0)
        pt_timer_expect_threads();
    return result;
}

/* Does one of the operations add to a semaphore; take from one, or wait for its 0? */
static bool adds(const struct sembuf *operations, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (operations[i].sem_op > 0)
            return true;
    return false;
}
static bool takes(const struct sembuf *operations, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (operations[i].sem_op <= 0)
            return true;
    return false;
}

#define OPERATED(name, parameters, arguments)                                                                          \
    PT_WRAP(int, name, parameters)                                                                                     \
    {                                                                                                                  \
        if (adds(operations, count))                                                                                   \
            happened(SEMAPHORES, number, PT_EFFECT(name));                                                             \
        bool waits = takes(operations, count);                                                                         \
        pt_wrap_blocks(object_of(SEMAPHORES, number), PT_GATE_WAITS_OTHER);                                            \
        pt_turn_away(NULL);                                                                                            \
        int result = PT_REAL(name) arguments;                                                                          \
        pt_turn_back(NULL);                                                                                            \
        pt_wrap_blocks(NULL, PT_GATE_RUNS);                                                                            \
        if (waits && result == 0)                                                                                      \
            happened(SEMAPHORES, number, PT_EFFECT(name));                                                             \
        return result;                                                                                                 \
    }

OPERATED(semop, (int number, struct sembuf *operations, size_t count), (number, operations, count))
OPERATED(semtimedop, (int number, struct sembuf *operations, size_t count, const struct timespec *limit),
         (number, operations, count, limit))
