/*
 * A ring of pieces under one lock: [taken, filled) are ready. Each hand-over is a lock. Who has to wait does so until
 * half of the ring is there for him, so that two sides of about one speed do not sleep and wake each other for each
 * piece, which costs as much as some tens of microseconds of work.
 *
 * Guarantee: `fill` runs in one thread at a time, what it has written is seen by whoever takes the piece, and after the
 * last piece was taken, or pt_ahead_stop, it does not run any more.
 */
#include "trace/ahead.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

#include "base/mem.h"

struct pt_ahead {
    bool (*fill)(void *context, void *piece);
    void *context;
    void *pieces[PT_AHEAD_MOST];
    unsigned count;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned long filled, taken; /* counts; `taken` of those that were given back */
    bool waits;                  /* one of the two */
    bool holds;                  /* one was taken and is not given back */
    bool last, stops;            /* no more will be filled */
};

static unsigned long ready(const struct pt_ahead *a)
{
    return a->filled - a->taken;
}

/* Whoever waits goes on. */
static void wake(struct pt_ahead *a)
{
    if (a->waits)
        pthread_cond_signal(&a->changed);
    a->waits = false;
}

static void wait_for(struct pt_ahead *a)
{
    a->waits = true;
    pthread_cond_wait(&a->changed, &a->lock);
}

static bool wait_for_room(struct pt_ahead *a)
{
    pthread_mutex_lock(&a->lock);
    if (ready(a) == a->count)
        while (!a->stops && ready(a) > a->count / 2)
            wait_for(a);
    bool goes_on = !a->stops;
    pthread_mutex_unlock(&a->lock);
    return goes_on;
}

static void *work(void *argument)
{
    struct pt_ahead *a = argument;
    for (bool more = true; more && wait_for_room(a);) {
        more = a->fill(a->context, a->pieces[a->filled % a->count]);
        pthread_mutex_lock(&a->lock);
        a->filled++;
        a->last = !more;
        if (a->last || ready(a) >= (a->count + 1) / 2)
            wake(a);
        pthread_mutex_unlock(&a->lock);
    }
    return NULL;
}

static bool has_second_processor(void)
{
    cpu_set_t allowed;
    return sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) > 1;
}

/* Signals are for the other threads. */
static bool start_thread(struct pt_ahead *a)
{
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return false;
    bool started = pthread_create(&a->thread, NULL, work, a) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static void release(struct pt_ahead *a)
{
    pthread_mutex_destroy(&a->lock);
    pthread_cond_destroy(&a->changed);
    free(a);
}

struct pt_ahead *pt_ahead_start(bool (*fill)(void *context, void *piece), void *context, void **pieces, unsigned count)
{
    if (!has_second_processor())
        return NULL;
    struct pt_ahead *a = pt_xcalloc(1, sizeof *a);
    a->fill = fill;
    a->context = context;
    a->count = count;
    for (unsigned i = 0; i < count; i++)
        a->pieces[i] = pieces[i];
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->changed, NULL);
    if (start_thread(a))
        return a;
    release(a);
    return NULL;
}

void *pt_ahead_next(struct pt_ahead *a)
{
    pthread_mutex_lock(&a->lock);
    a->taken += a->holds;
    if (a->holds && ready(a) <= a->count / 2)
        wake(a);
    if (!ready(a))
        while (!a->last && ready(a) < (a->count + 1) / 2)
            wait_for(a);
    a->holds = ready(a);
    void *piece = a->holds ? a->pieces[a->taken % a->count] : NULL;
    pthread_mutex_unlock(&a->lock);
    return piece;
}

void pt_ahead_stop(struct pt_ahead *a)
{
    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    a->stops = true;
    wake(a);
    pthread_mutex_unlock(&a->lock);
    pthread_join(a->thread, NULL);
    release(a);
}
