/*
 * The tests of tests/interleave with real threads: pt_interleave() runs its bodies once, in whatever order `portent
 * explore` gives them, and says what was wrong with that run. PROTOCOL_TEST names the test that runs.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "explore.h"

struct thread {
    const struct pt_interleave *what;
    unsigned number;
    pthread_t handle;
};

__attribute__((constructor)) static void choose(void)
{
    cmocka_set_test_filter(getenv("PROTOCOL_TEST"));
}

void pt_interleave_fault(const char *why)
{
    fprintf(stderr, "%s\n", why);
    _exit(3);
}

void pt_interleave_pause(void)
{
    sched_yield();
}

/* Threads that are controlled have no buffers. */
void pt_interleave_barrier(void)
{
    atomic_thread_fence(memory_order_seq_cst);
}

void pt_interleave_await(const volatile void *at, uint64_t seen, size_t bytes)
{
    while (bytes == 8 ? __atomic_load_n((const volatile uint64_t *)at, __ATOMIC_ACQUIRE) == seen
                      : __atomic_load_n((const volatile uint32_t *)at, __ATOMIC_ACQUIRE) == seen)
        sched_yield();
}

static void *run(void *context)
{
    struct thread *self = context;
    if (self->what->enter)
        self->what->enter(self->number);
    self->what->body[self->number]();
    return NULL;
}

struct pt_interleave_result pt_interleave(const struct pt_interleave *what)
{
    struct thread threads[PT_INTERLEAVE_THREADS];
    if (what->begin)
        what->begin();
    for (unsigned i = 0; i < what->threads; i++) {
        threads[i] = (struct thread){.what = what, .number = i};
        if (pthread_create(&threads[i].handle, NULL, run, &threads[i]) != 0)
            pt_interleave_fault("no thread");
    }
    for (unsigned i = 0; i < what->threads; i++)
        pthread_join(threads[i].handle, NULL);
    const char *wrong = what->check ? what->check() : NULL;
    return (struct pt_interleave_result){.runs = 2, .fault = wrong};
}
