/* A library that has a thread and an open file before main: what a copy of the process lacks, or shares with other
 * copies. With -DLIBRARY it is that library, else a program that uses it. early WAY: `ask` has the library's thread
 * answer over a pipe, `wait` over a condition; `file` reads what the library has opened. In all, two threads may lose
 * an update: status 1. `never` waits for what nobody does, `circle` has two threads that may wait for each other. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int early_ask(int number);  /* one more, by the thread, over pipes */
int early_wait(int number); /* the same by a condition */
int early_line(void);       /* the number in the next line of the file in EARLY_FILE */

#ifdef LIBRARY
static int asks[2], answers[2], file = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int asked, answered;

static void *answer_pipe(void *unused)
{
    int number;
    while (read(asks[0], &number, sizeof number) == sizeof number) {
        number++;
        if (write(answers[1], &number, sizeof number) != sizeof number)
            break;
    }
    return unused;
}

static void *answer_condition(void *unused)
{
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!asked)
            pthread_cond_wait(&changed, &lock);
        answered = asked + 1;
        asked = 0;
        pthread_cond_broadcast(&changed);
    }
    return unused;
}

__attribute__((constructor)) static void begin(void)
{
    const char *name = getenv("EARLY_FILE");
    pthread_t thread;
    if (getenv("EARLY_DESCRIPTOR"))
        file = atoi(getenv("EARLY_DESCRIPTOR"));
    else if (name)
        file = open(name, 0);
    else if (pipe(asks) != 0 || pipe(answers) != 0 || pthread_create(&thread, NULL, answer_pipe, NULL) != 0 ||
             pthread_create(&thread, NULL, answer_condition, NULL) != 0)
        _exit(99);
}

int early_ask(int number)
{
    if (write(asks[1], &number, sizeof number) != sizeof number ||
        read(answers[0], &number, sizeof number) != sizeof number)
        _exit(98);
    return number;
}

int early_wait(int number)
{
    pthread_mutex_lock(&lock);
    asked = number;
    answered = 0;
    pthread_cond_broadcast(&changed);
    while (!answered)
        pthread_cond_wait(&changed, &lock);
    number = answered;
    pthread_mutex_unlock(&lock);
    return number;
}

int early_line(void)
{
    char text[8] = "";
    return read(file, text, 2) == 2 ? atoi(text) : -1;
}
#else
static atomic_int count;
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER, own = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void *both(void *reversed)
{
    pthread_mutex_lock(reversed ? &b : &a);
    pthread_mutex_lock(reversed ? &a : &b);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return reversed;
}

static void *add(void *unused)
{
    int seen = atomic_load(&count);
    atomic_store(&count, seen + 1); /* an update is lost */
    return unused;
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    pthread_t threads[2];
    int right = 7;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, strcmp(way, "circle") == 0 ? both : add, i ? &count : NULL);
    pthread_mutex_lock(&own);
    while (strcmp(way, "never") == 0)
        pthread_cond_wait(&never, &own);
    pthread_mutex_unlock(&own);
    if (strcmp(way, "ask") == 0)
        right = early_ask(6);
    else if (strcmp(way, "wait") == 0)
        right = early_wait(6);
    else if (strcmp(way, "file") == 0)
        right = early_line();
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d %d\n", right, atomic_load(&count));
    return right != 7 ? 2 : strcmp(way, "circle") != 0 && atomic_load(&count) != 2;
}
#endif
