/* Signals, forks, many short threads, exits in the middle: what must neither hang, crash, nor lose an event. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hooks.h"

_Alignas(64) int a;
_Alignas(64) int b;
static int scratch[64];
static _Atomic int handled, finished;
static volatile int stop;
static sigjmp_buf back;

static void *count_up(void *context)
{
    long times = (long)context;
    for (long i = 0; i < times; i++)
        ADD4(&a, 1);
    return NULL;
}
/* What the last store did is seen before its event is complete: whoever ends the program waits for this. */
static void *count_up_and_say(void *context)
{
    count_up(context);
    finished++;
    return NULL;
}
static void on_alarm(int signal)
{
    (void)signal;
    ADD4(&a, 1);
    ST4(&scratch[0], LD4(&scratch[0]) + 1);
    handled++;
}
static void *busy(void *context)
{
    long times = (long)context;
    for (long i = 0; i < times; i++) {
        ADD4(&a, 1);
        ST4(&scratch[i & 7], (int)i);
        ST4(&b, LD4(&a));
    }
    finished++;
    while (!stop)
        usleep(1000);
    return NULL;
}
static void *shoot(void *context)
{
    /* at those who are most likely inside the runtime */
    pthread_t *targets = context;
    while (!stop) {
        for (int i = 0; i < 2 && targets; i++)
            pthread_kill(targets[i], SIGALRM);
        usleep(10);
    }
    return NULL;
}
static void on_fault(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info, (void)context;
    ADD4(&a, 1);
    siglongjmp(back, 1);
}
static char *guarded;
static void unguard(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info, (void)context;
    mprotect(guarded, 4096, PROT_READ | PROT_WRITE);
}

/* A page that its thread keeps (shadow/kept.h) is protected again and again, and its handler makes an event: what is
 * accessed then is so after that event. */
static void unguard_and_count(int signal, siginfo_t *info, void *context)
{
    unguard(signal, info, context);
    ADD4(&a, 1);
}
static int fault_kept(long n)
{
    struct sigaction action = {.sa_sigaction = unguard_and_count, .sa_flags = SA_SIGINFO};
    char text[600];
    long wrong = 0;
    pthread_t other;
    pthread_create(&other, NULL, count_up, (void *)1); /* which ends silence (shadow/silence.h) */
    pthread_join(other, NULL);
    sigaction(SIGSEGV, &action, NULL);
    guarded = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(text, 7, sizeof text);
    for (long i = 0; i < n; i++) {
        ADD4(&a, 1);
        for (long j = 0; j < 128; j++)
            ST4(guarded + 4 * j, (int)i);
        wrong += LD4(guarded + 4 * (i % 128)) != (int)i;
        mprotect(guarded, 4096, PROT_NONE);
        if (i % 4 == 0)
            ST4(guarded + 4 * (i % 128), -1);
        else if (i % 4 == 1)
            wrong += LD4(guarded + 4 * (i % 128)) != (int)i;
        else if (i % 4 == 2)
            __portent_memcpy(guarded, text, 500, SITE, SITE);
        else
            __portent_memcpy(text, guarded, 500, SITE, SITE);
    }
    return wrong || a != 2 * n + 1;
}

/* A store in silence has a fault. Its handler lets another thread have an event, which ends silence, if that is asked
 * for: then its granule is locked when it is made. Of a copy something is lost. */
static _Atomic int asked;
static void unguard_and_wait(int signal, siginfo_t *info, void *context)
{
    unguard(signal, info, context);
    asked++;
    while (asked == 1)
        usleep(100);
}
static void *count_when_asked(void *context)
{
    while (!asked)
        usleep(100);
    count_up(context);
    asked++;
    return NULL;
}
static int fault_silent(long events, bool copies)
{
    int nine = 9;
    struct sigaction action = {.sa_sigaction = unguard_and_wait, .sa_flags = SA_SIGINFO};
    pthread_t other;
    sigaction(SIGSEGV, &action, NULL);
    ADD4(&a, 1);
    pthread_create(&other, NULL, count_when_asked, (void *)events);
    guarded = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copies)
        __portent_memcpy(guarded + 8, &nine, sizeof nine, SITE, SITE);
    else
        ST4(guarded + 8, nine);
    pthread_join(other, NULL);
    return LD4(guarded + 8) != 9 || a != 1 + events;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    long n = argc > 2 ? atol(argv[2]) : 1;
    pthread_t threads[2], gun;
    if (strcmp(what, "storm") == 0) {
        struct sigaction action = {.sa_handler = on_alarm}, was;
        sigaction(SIGALRM, &action, NULL);
        sigaction(SIGALRM, NULL, &was);
        if (was.sa_handler != on_alarm)
            return 1;
        for (int i = 0; i < 2; i++)
            pthread_create(&threads[i], NULL, busy, (void *)n);
        pthread_create(&gun, NULL, shoot, threads);
        while (finished < 2)
            usleep(1000);
        stop = 1;
        pthread_join(gun, NULL);
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        signal(SIGALRM, SIG_IGN);
        printf("%d %d\n", a, handled);
        return a == 2 * n + handled ? 0 : 1;
    }
    if (strcmp(what, "fault") == 0) {
        struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
        sigaction(SIGSEGV, &action, NULL);
        for (long i = 0; i < n; i++)
            if (sigsetjmp(back, 1) == 0)
                ST4((int *)(uintptr_t)(8 * (1 + i % 100)), 1);
        action.sa_sigaction = unguard;
        sigaction(SIGSEGV, &action, NULL);
        guarded = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ST4(guarded, 9);
        return LD4(guarded) == 9 && a == n ? 0 : 1;
    }
    if (strcmp(what, "fault_kept") == 0)
        return fault_kept(n);
    if (strcmp(what, "fault_silent") == 0)
        return fault_silent(n, argc > 3);
    if (strcmp(what, "fork") == 0) {
        count_up((void *)n);
        pid_t child = fork();
        if (child == 0) {
            for (int i = 0; i < 1000; i++)
                ADD4(&a, 1);
            pthread_create(&threads[0], NULL, count_up, (void *)1000);
            pthread_join(threads[0], NULL);
            exit(a == n + 2000 ? 0 : 1);
        }
        int status;
        waitpid(child, &status, 0);
        count_up((void *)n);
        return status || a != 2 * n;
    }
    if (strcmp(what, "many") == 0) {
        for (long i = 0; i < n; i += 2) {
            for (int j = 0; j < 2; j++)
                pthread_create(&threads[j], NULL, count_up, (void *)3);
            for (int j = 0; j < 2; j++)
                pthread_join(threads[j], NULL);
        }
        return a == 3 * n ? 0 : 1;
    }
    if (strcmp(what, "many_detached") == 0) {
        for (long i = 0; i < n; i++) {
            pthread_create(&threads[0], NULL, count_up_and_say, (void *)3);
            pthread_detach(threads[0]);
        }
        while (finished != n)
            usleep(1000);
        return a == 3 * n ? 0 : 1;
    }
    if (strcmp(what, "exit") == 0 || strcmp(what, "abort") == 0 || strcmp(what, "forever") == 0) {
        signal(SIGALRM, SIG_IGN);
        pthread_create(&threads[0], NULL, count_up_and_say, (void *)(what[0] == 'f' ? 1L << 60 : n));
        pthread_create(&threads[1], NULL, shoot, NULL);
        if (what[0] == 'f')
            pause();
        while (!finished)
            usleep(1000);
        if (what[0] == 'a')
            abort();
        _exit(7);
    }
    if (strcmp(what, "count") == 0) {
        count_up((void *)n);
        return a == n ? 0 : 1;
    }
    if (strcmp(what, "rate") == 0) {
        pthread_create(&threads[0], NULL, count_up, (void *)n);
        for (long i = 0; i < n; i++)
            ADD4(&b, 1);
        pthread_join(threads[0], NULL);
        return 0;
    }
    if (strcmp(what, "exec") == 0) {
        count_up((void *)n);
        execl(argv[0], argv[0], "count", "5", NULL);
    }
    return 2;
}
