/*
 * GLib: its mutexes, conditions and bit locks are words of their own, taken without a call where nobody else has them
 * and waited for by futexes, so they are recorded here; likewise what it does with them inside, a GOnce and an
 * asynchronous queue. Its recursive and reader-writer locks and its threads are POSIX's, which are seen there. Not
 * covered: a GThreadPool, and a GMainContext whose sources another thread adds.
 *
 * Guarantee: as in sync.c, an event is recorded only while the calling thread has what it is about, or before it gives
 * it up. Cost: without an observer a load and a branch beside the call.
 */
#ifndef PT_RT_STATIC
#include <stdint.h>

#include "runtime/shadow/slow.h"
#include "runtime/thread/call.h"
#include "runtime/wrap/hooks.h"
#include "runtime/wrap/interpose.h"

typedef void *once_function(void *argument);
typedef int comparison(const void *a, const void *b, void *context);

void g_mutex_lock(void *mutex);
int g_mutex_trylock(void *mutex);
void g_mutex_unlock(void *mutex);
void g_bit_lock(volatile int *word, int bit);
int g_bit_trylock(volatile int *word, int bit);
void g_bit_unlock(volatile int *word, int bit);
void g_cond_wait(void *condition, void *mutex);
int g_cond_wait_until(void *condition, void *mutex, int64_t limit);
void g_cond_signal(void *condition);
void g_cond_broadcast(void *condition);
void *g_once_impl(void *once, once_function *function, void *argument);
int g_once_init_enter(volatile void *location);
void g_once_init_leave(volatile void *location, size_t result);
void g_async_queue_lock(void *queue);
void g_async_queue_unlock(void *queue);
void g_async_queue_push(void *queue, void *item);
void g_async_queue_push_front(void *queue, void *item);
void g_async_queue_push_sorted(void *queue, void *item, comparison *compare, void *context);
void g_async_queue_push_unlocked(void *queue, void *item);
void *g_async_queue_pop(void *queue);
void *g_async_queue_try_pop(void *queue);
void *g_async_queue_timeout_pop(void *queue, uint64_t microseconds);
void *g_async_queue_pop_unlocked(void *queue);
void *g_async_queue_try_pop_unlocked(void *queue);

static const struct pt_site *begin(const volatile void *object, enum pt_gate_doing doing)
{
    const struct pt_site *site = pt_call_take((const void *)object);
    pt_wrap_blocks((const void *)object, doing);
    return site;
}

static void end(const volatile void *object, bool succeeded, int kind, const struct pt_site *site)
{
    pt_wrap_blocks(NULL, PT_GATE_RUNS);
    if (succeeded)
        pt_wrap_sync((const void *)object, kind, site);
}

#define LOCK(name, parameters, arguments, object)                                                                      \
    PT_WRAP(void, name, parameters)                                                                                    \
    {                                                                                                                  \
        const struct pt_site *site = begin(object, PT_GATE_WAITS_LOCK);                                                \
        PT_REAL(name) arguments;                                                                                       \
        pt_wrap_blocks(NULL, PT_GATE_RUNS);                                                                            \
        pt_wrap_sync_as((const void *)object, PT_EFFECT(name), site, true);                                            \
    }
/* What succeeds does not return 0. */
#define TAKE(returns, name, parameters, arguments, object)                                                             \
    PT_WRAP(returns, name, parameters)                                                                                 \
    {                                                                                                                  \
        const struct pt_site *site = begin(object, PT_GATE_WAITS_OTHER);                                               \
        returns result = PT_REAL(name) arguments;                                                                      \
        end(object, result != 0, PT_EFFECT(name), site);                                                               \
        return result;                                                                                                 \
    }
#define GIVE(name, parameters, arguments, object)                                                                      \
    PT_WRAP(void, name, parameters)                                                                                    \
    {                                                                                                                  \
        pt_wrap_sync((const void *)object, PT_EFFECT(name), pt_call_take((const void *)object));                       \
        PT_REAL(name) arguments;                                                                                       \
    }

LOCK(g_mutex_lock, (void *mutex), (mutex), mutex)
TAKE(int, g_mutex_trylock, (void *mutex), (mutex), mutex)
GIVE(g_mutex_unlock, (void *mutex), (mutex), mutex)
LOCK(g_bit_lock, (volatile int *word, int bit), (word, bit), word)
TAKE(int, g_bit_trylock, (volatile int *word, int bit), (word, bit), word)
GIVE(g_bit_unlock, (volatile int *word, int bit), (word, bit), word)
GIVE(g_cond_signal, (void *condition), (condition), condition)
GIVE(g_cond_broadcast, (void *condition), (condition), condition)

static struct pt_call begin_wait(const void *condition, const void *mutex)
{
    struct pt_call call = pt_call_take_both(condition);
    pt_wrap_sync((const void *)mutex, PT_KIND_REL, call.mutex);
    pt_wrap_active(PT_STATE_CONDITION, (uintptr_t)condition);
    pt_wrap_blocks(condition, PT_GATE_WAITS_CONDITION);
    return call;
}

static void end_wait(const void *condition, const void *mutex, bool signalled, int kind, struct pt_call call)
{
    pt_wrap_active(PT_STATE_RUNNING, 0);
    end(condition, signalled, kind, call.site);
    pt_wrap_sync_as((const void *)mutex, PT_KIND_ACQ, call.mutex, true);
}

PT_WRAP(void, g_cond_wait, (void *condition, void *mutex))
{
    struct pt_call call = begin_wait(condition, mutex);
    PT_REAL(g_cond_wait)(condition, mutex);
    end_wait(condition, mutex, true, PT_EFFECT(g_cond_wait), call);
}

PT_WRAP(int, g_cond_wait_until, (void *condition, void *mutex, int64_t limit))
{
    struct pt_call call = begin_wait(condition, mutex);
    int signalled = PT_REAL(g_cond_wait_until)(condition, mutex, limit);
    end_wait(condition, mutex, signalled, PT_EFFECT(g_cond_wait_until), call);
    return signalled;
}

/* As in sync.c: the initialiser's effects are on the object before anyone returns. */
struct first_call {
    once_function *function;
    void *argument;
    const void *once;
    const struct pt_site *site;
};

static void *call_once_function(void *context)
{
    const struct first_call *first = context;
    void *result = first->function(first->argument);
    pt_wrap_sync((const void *)first->once, PT_EFFECT(g_once_impl), first->site);
    return result;
}

PT_WRAP(void *, g_once_impl, (void *once, once_function *function, void *argument))
{
    struct first_call first = {function, argument, once, pt_call_take(once)};
    void *result = PT_REAL(g_once_impl)(once, call_once_function, &first);
    pt_wrap_sync((const void *)once, PT_EFFECT(g_once_impl), first.site);
    return result;
}

/* Whoever does not have to initialise comes after whoever did. */
PT_WRAP(int, g_once_init_enter, (volatile void *location))
{
    const struct pt_site *site = begin(location, PT_GATE_WAITS_OTHER);
    int first = PT_REAL(g_once_init_enter)(location);
    end(location, !first, PT_EFFECT(g_once_init_enter), site);
    return first;
}
GIVE(g_once_init_leave, (volatile void *location, size_t result), (location, result), location)

LOCK(g_async_queue_lock, (void *queue), (queue), queue)
GIVE(g_async_queue_unlock, (void *queue), (queue), queue)
GIVE(g_async_queue_push, (void *queue, void *item), (queue, item), queue)
GIVE(g_async_queue_push_front, (void *queue, void *item), (queue, item), queue)
GIVE(g_async_queue_push_sorted, (void *queue, void *item, comparison *compare, void *context),
     (queue, item, compare, context), queue)
GIVE(g_async_queue_push_unlocked, (void *queue, void *item), (queue, item), queue)
TAKE(void *, g_async_queue_pop, (void *queue), (queue), queue)
TAKE(void *, g_async_queue_try_pop, (void *queue), (queue), queue)
TAKE(void *, g_async_queue_timeout_pop, (void *queue, uint64_t microseconds), (queue, microseconds), queue)
TAKE(void *, g_async_queue_pop_unlocked, (void *queue), (queue), queue)
TAKE(void *, g_async_queue_try_pop_unlocked, (void *queue), (queue), queue)
#endif
