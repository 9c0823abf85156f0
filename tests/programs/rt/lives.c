/* The ends of threads and of the program, handlers at every moment, cancellation: what must neither hang, crash, leave
 * a signal blocked, nor lose an event. Every event is one more in `a`. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <threads.h>
#include <unistd.h>

#include "hooks.h"

_Alignas(64) int a;
static _Atomic int handled, ready, done;
static bool ends; /* the destructor of the program is part of what is tested */

enum { SKIPPED = 77 };

#define ONE ADD4(&a, 1)

static void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    _exit(1);
}

static void on_signal(int number)
{
    (void)number;
    ONE;
    handled++;
}

static void handle(int number, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigaction(number, &action, NULL);
}

static void run_thread(void *(*function)(void *), void *argument)
{
    pthread_t thread;
    pthread_create(&thread, NULL, function, argument);
    pthread_join(thread, NULL);
}

/* --- the ends of a thread --- */

enum { KEYS = 60 };
static pthread_key_t keys[KEYS];
static tss_t places[2];
int __cxa_thread_atexit_impl(void (*function)(void *), void *object, void *module);
extern void *__dso_handle __attribute__((visibility("hidden")));

static void destroy(void *value)
{
    ONE;
    pthread_setspecific(*(pthread_key_t *)value, value);
}

static void destroy_place(void *value)
{
    ONE;
    tss_set(*(tss_t *)value, value);
}

static void destroy_object(void *object)
{
    (void)object;
    ONE;
}

static void *with_keys(void *unused)
{
    for (int i = 0; i < KEYS; i++)
        pthread_setspecific(keys[i], &keys[i]);
    return unused;
}

static void *with_one_key(void *unused)
{
    pthread_setspecific(keys[0], &keys[0]);
    return unused;
}

static void *with_objects(void *unused)
{
    for (int i = 0; i < 2; i++) {
        tss_set(places[i], &places[i]);
        __cxa_thread_atexit_impl(destroy_object, NULL, &__dso_handle);
    }
    return unused;
}

static int all_destructors(void)
{
    for (int i = 0; i < KEYS; i++)
        pthread_key_create(&keys[i], destroy);
    for (int i = 0; i < 2; i++)
        tss_create(&places[i], destroy_place);
    run_thread(with_keys, NULL);
    run_thread(with_one_key, NULL);
    run_thread(with_objects, NULL);
    return a == 4 * KEYS + 4 + 4 * 2 + 2 ? 0 : 1;
}

/* --- the ends of the program --- */

static void at_end(void)
{
    ONE;
}
static void on_end(int status, void *unused)
{
    (void)status, (void)unused;
    ONE;
}
__attribute__((destructor)) static void destruct(void)
{
    if (ends)
        ONE;
}
static void *ends_last(void *unused)
{
    usleep(20000); /* main is gone */
    ONE;
    return unused;
}

static int end_of_program(const char *way)
{
    pthread_t thread;
    ends = true;
    ONE;
    atexit(at_end);
    on_exit(on_end, NULL);
    at_quick_exit(at_end);
    if (strcmp(way, "quick") == 0)
        quick_exit(0);
    if (strcmp(way, "at_once") == 0)
        _exit(0);
    if (strcmp(way, "last") == 0) {
        pthread_create(&thread, NULL, ends_last, NULL);
        pthread_exit(NULL);
    }
    return 0;
}

/* --- handlers while threads begin and end --- */

static pthread_t target;
static _Atomic int aim;

static void *shoot(void *unused)
{
    while (!done)
        if (aim)
            pthread_kill(target, SIGUSR1);
    return unused;
}

static void *is_short(void *unused)
{
    ONE;
    return unused;
}

/* Signals to the process go to the main thread as long as it takes them, so it does only while it makes a thread; those
 * to a thread come until it is joined. */
static int short_threads(long count)
{
    struct itimerval often = {{0, 50}, {0, 50}};
    sigset_t both;
    pthread_t gun;
    sigemptyset(&both);
    sigaddset(&both, SIGALRM);
    sigaddset(&both, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &both, NULL);
    pthread_create(&gun, NULL, shoot, NULL);
    handle(SIGALRM, on_signal, SA_RESTART);
    handle(SIGUSR1, on_signal, SA_RESTART);
    setitimer(ITIMER_REAL, &often, NULL);
    for (long i = 0; i < count; i++) {
        pthread_sigmask(SIG_UNBLOCK, &both, NULL);
        pthread_create(&target, NULL, is_short, NULL);
        pthread_sigmask(SIG_BLOCK, &both, NULL);
        aim = 1;
        pthread_join(target, NULL);
        aim = 0;
        usleep(20); /* the gun has seen it */
    }
    done = 1;
    pthread_join(gun, NULL);
    printf("%d\n", handled);
    return a == count + handled ? 0 : 1;
}

/* A signal that is pending for the process, and a thread whose attributes let it through before it has begun. */
static int early_handler(long count)
{
    pthread_attr_t attributes;
    sigset_t one, none;
    pthread_t thread;
    sigemptyset(&none);
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &one, NULL);
    handle(SIGUSR1, on_signal, 0);
    pthread_attr_init(&attributes);
    pthread_attr_setsigmask_np(&attributes, &none);
    for (long i = 0; i < count; i++) {
        kill(getpid(), SIGUSR1);
        pthread_create(&thread, &attributes, is_short, NULL);
        pthread_join(thread, NULL);
    }
    return a == 2 * count && handled == count ? 0 : 1;
}

/* --- stacks of handlers --- */

static sigjmp_buf back;
enum { SMALL = 8192, LARGE = 400000 };

static void uses_much(int number)
{
    char room[LARGE / 2];
    for (size_t i = 0; i < sizeof room; i += 1024)
        ((volatile char *)room)[i] = 1;
    on_signal(number);
}

static void *on_small_stack(void *unused)
{
    stack_t stack = {.ss_sp = malloc(LARGE), .ss_size = LARGE};
    sigaltstack(&stack, NULL);
    ready = 1;
    while (!done)
        ONE;
    return unused;
}

static int alternate_stack(long count)
{
    pthread_attr_t attributes;
    pthread_t thread;
    handle(SIGUSR1, uses_much, SA_ONSTACK | SA_RESTART);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 65536);
    pthread_create(&thread, &attributes, on_small_stack, NULL);
    while (!ready)
        usleep(100);
    for (long i = 0; i < count; i++) {
        pthread_kill(thread, SIGUSR1);
        usleep(10);
    }
    done = 1;
    pthread_join(thread, NULL);
    printf("%d\n", handled);
    return handled ? 0 : 1;
}

static void on_overflow(int number)
{
    on_signal(number);
    siglongjmp(back, 1);
}

/* Frames of all sizes, so that the stack ends in every place of the hooks. */
static __attribute__((noinline)) int deeper(long seed, int depth)
{
    volatile char room[32 + seed % 64 * 8];
    room[0] = (char)depth;
    ONE;
    return deeper(seed, depth + 1) + room[0];
}

static void *overflows(void *context)
{
    long count = (long)context;
    stack_t stack = {.ss_sp = malloc(SMALL), .ss_size = SMALL};
    sigaltstack(&stack, NULL);
    for (volatile long i = 0; i < count; i++)
        if (sigsetjmp(back, 1) == 0)
            deeper(i, 0);
    return NULL;
}

static int stack_overflow(long count)
{
    pthread_attr_t attributes;
    pthread_t thread;
    handle(SIGSEGV, on_overflow, SA_ONSTACK);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 65536);
    pthread_create(&thread, &attributes, overflows, (void *)count);
    pthread_join(thread, NULL);
    ONE;
    return handled == count ? 0 : 1;
}

/* --- faults and other signals --- */

static char *guarded;
static _Atomic int jumps, own_mask;

static void expect_mask(int number, bool blocked)
{
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    for (int i = 1; i < SIGRTMAX; i++)
        if (sigismember(&now, i) == 1 && (i != number || !blocked))
            fail("a signal is blocked");
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    sigset_t alarm;
    (void)number, (void)context;
    ONE;
    if (own_mask) {
        sigemptyset(&alarm);
        sigaddset(&alarm, SIGALRM);
        pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
        pthread_sigmask(SIG_BLOCK, &alarm, NULL);
        ONE;
        pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
    }
    if (jumps)
        siglongjmp(back, 1);
    mprotect((void *)((uintptr_t)info->si_addr & ~4095ul), 4096, PROT_READ | PROT_WRITE);
}

static void meet_faults(long count, int flags)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | flags};
    sigaction(SIGSEGV, &action, NULL);
    guarded = mmap(NULL, (size_t)count * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (volatile long i = 0; i < count; i++) {
        if (sigsetjmp(back, 1) == 0)
            ST4(guarded + i * 4096, 9);
        expect_mask(0, false);
        for (int j = 0; j < 100; j++)
            ONE;
    }
    munmap(guarded, (size_t)count * 4096);
}

static int faults_and_timer(long count)
{
    struct itimerval often = {{0, 100}, {0, 100}}, never = {0};
    stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
    sigaltstack(&stack, NULL);
    handle(SIGALRM, on_signal, SA_RESTART);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int way = 0; way < 8; way++) {
        jumps = way & 1;
        own_mask = way >> 1 & 1;
        meet_faults(count, (way & 4 ? SA_NODEFER : 0) | SA_ONSTACK);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    expect_mask(0, false);
    printf("%d\n", handled);
    return handled ? 0 : 1;
}

/* --- handlers that are set while they run --- */

static void once(int number)
{
    on_signal(number);
    handle(SIGURG, once, (int)(SA_RESETHAND | SA_NODEFER)); /* whose default is to be ignored */
}

static void *is_hit(void *unused)
{
    ready = 1;
    while (!done)
        ONE;
    return unused;
}

static int one_shot(long count)
{
    pthread_t thread;
    struct sigaction now;
    handle(SIGURG, once, (int)(SA_RESETHAND | SA_NODEFER));
    pthread_create(&thread, NULL, is_hit, NULL);
    while (!ready)
        usleep(100);
    for (long i = 0; i < count; i++) {
        pthread_kill(thread, SIGURG);
        usleep(10);
    }
    done = 1;
    pthread_join(thread, NULL);
    sigaction(SIGURG, NULL, &now);
    if (now.sa_handler != once || !(now.sa_flags & (int)SA_RESETHAND))
        fail("it is another handler");
    raise(SIGURG);
    handle(SIGURG, on_signal, (int)SA_RESETHAND);
    raise(SIGURG);
    sigaction(SIGURG, NULL, &now);
    return handled > 2 && now.sa_handler == SIG_DFL ? 0 : 1;
}

/* --- cancellation --- */

static void *computes(void *unused)
{
    volatile int local = 0;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    ready = 1;
    for (;;)
        local++;
    return unused;
}

static void *counts(void *unused)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    ready = 1;
    for (;;)
        ONE;
    return unused;
}

static void *waits(void *unused)
{
    static sem_t never;
    ready = 1;
    sem_wait(&never);
    return unused;
}

static int cancelled(long count)
{
    void *(*const functions[])(void *) = {computes, counts, waits};
    for (long i = 0; i < count; i++) {
        pthread_t thread;
        void *result;
        ready = 0;
        pthread_create(&thread, NULL, functions[i % 3], NULL);
        while (!ready)
            sched_yield();
        usleep((useconds_t)(i % 50));
        pthread_cancel(thread);
        pthread_join(thread, &result);
        if (result != PTHREAD_CANCELED)
            fail("it was not cancelled");
        ONE; /* nothing is left locked */
    }
    return 0;
}

/* --- two priorities on one processor --- */

static _Alignas(64) int shared; /* nobody watches it: its accesses are clocks alone */

static void *low(void *unused)
{
    ONE;
    while (!done)
        ADD4(&shared, 1);
    return unused;
}

static void *high(void *context)
{
    struct timespec moment = {0, 20000};
    ONE;
    for (long i = 0; i < (long)context; i++) {
        nanosleep(&moment, NULL); /* it comes in the middle of whatever the other one does */
        ADD4(&shared, 1);
    }
    done = 1;
    return NULL;
}

static bool start_with(pthread_t *thread, int priority, void *(*function)(void *), void *argument)
{
    pthread_attr_t attributes;
    struct sched_param parameter = {.sched_priority = priority};
    pthread_attr_init(&attributes);
    pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
    pthread_attr_setschedparam(&attributes, &parameter);
    return pthread_create(thread, &attributes, function, argument) == 0;
}

static int priorities(long count)
{
    pthread_t threads[2];
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0 || !start_with(&threads[0], 2, high, (void *)count))
        return SKIPPED;
    start_with(&threads[1], 1, low, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    long count = argc > 2 ? atol(argv[2]) : 1;
    static const struct {
        const char *name;
        int (*run)(long count);
    } tests[] = {{"early_handler", early_handler},
                 {"short_threads", short_threads},
                 {"alternate_stack", alternate_stack},
                 {"stack_overflow", stack_overflow},
                 {"faults_and_timer", faults_and_timer},
                 {"one_shot", one_shot},
                 {"cancelled", cancelled},
                 {"priorities", priorities}};
    if (strcmp(what, "destructors") == 0)
        return all_destructors();
    if (strcmp(what, "end") == 0)
        return end_of_program(argv[2]);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        if (strcmp(what, tests[i].name) == 0)
            return tests[i].run(count);
    return 2;
}
