/*
 * Stands between the runtime and the C library, and makes time for what otherwise hardly ever happens: while
 * `late_threads` is set, a thread is created only after another line on standard input, and begins after one more.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

int late_threads;

static void *(*real_start)(void *);

static void *begin_late(void *argument)
{
    getchar();
    return real_start(argument);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    if (!late_threads)
        return real(thread, attributes, start, argument);
    real_start = start;
    puts("creating");
    getchar();
    int result = real(thread, attributes, begin_late, argument);
    puts("created");
    return result;
}
