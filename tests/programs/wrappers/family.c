/* Children that go on without exec, in the way that the first argument says; each counts `level`, a copy of its own. */
#include <portent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int level, unsafe;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int stop;

static void count(int times)
{
    for (int i = 0; i < times; i++) {
        pthread_mutex_lock(&lock);
        level++;
        pthread_mutex_unlock(&lock);
    }
}

static void *counter(void *unused)
{
    (void)unused;
    count(3);
    unsafe++;
    return NULL;
}

/* Two threads that count, and race for `unsafe`. */
static void count_in_threads(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, counter, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

static void wait_for_all(int expected)
{
    int status, sum = 0;
    while (wait(&status) > 0)
        sum += WIFEXITED(status) ? WEXITSTATUS(status) : 100;
    if (sum != expected)
        printf("status %d\n", sum);
}

static void *restless(void *unused)
{
    (void)unused;
    while (!stop) {
        count(1);
        usleep(1);
    }
    return NULL;
}

/* Others hold the runtime's locks, and the program's, while the fork is done; the program's are the program's affair.
 */
static void *fork_in_thread(void *unused)
{
    pthread_t others[3];
    (void)unused;
    for (int i = 0; i < 3; i++)
        pthread_create(&others[i], NULL, restless, NULL);
    for (int i = 0; i < 10; i++) {
        if (fork() == 0) {
            pthread_mutex_init(&lock, NULL);
            level = -i;
            count_in_threads();
            _exit(level == 6 - i ? 0 : 1);
        }
        usleep(1000);
    }
    wait_for_all(0);
    stop = 1;
    for (int i = 0; i < 3; i++)
        pthread_join(others[i], NULL);
    return NULL;
}

static void nested(int depth)
{
    count(1);
    if (depth && fork() == 0) {
        if (depth == 2 && fork() != 0) { /* a child that does nothing but fork */
            wait(NULL);
            _exit(0);
        }
        nested(depth - 1);
        exit(0);
    }
    wait_for_all(0);
}

static void fork_at_exit(void)
{
    if (fork() == 0) {
        count(2);
        _exit(0);
    }
    wait_for_all(0);
}

static void in_turn(int children)
{
    for (int i = 0; i < children; i++) {
        if (fork() == 0) {
            count(1);
            _exit(0);
        }
        wait_for_all(0);
    }
}

static void at_once(int children)
{
    for (int i = 0; i < children; i++)
        if (fork() == 0) {
            count(1 + i % 2);
            _exit(0);
        }
    wait_for_all(0);
}

static void killed(void)
{
    if (fork() == 0) {
        count(4);
        raise(SIGKILL);
    }
    wait_for_all(100);
}

static void outliving(void)
{
    if (fork() == 0) {
        usleep(200 * 1000);
        count(4);
        exit(0);
    }
}

/* What the properties do not speak of. */
static void uninvolved(int times)
{
    static int other[1000];
    if (fork() == 0) {
        for (int i = 0; i < times; i++)
            other[i % 1000] = other[999 - i % 1000] + level;
        exit(0);
    }
    wait_for_all(0);
}

/* Objects and events by annotation. */
static void annotated(void)
{
    int *cell = malloc(sizeof *cell);
    *cell = 1;
    portent_watch(cell, sizeof *cell, PORTENT_INT, "cell");
    *cell = 2;
    if (fork() == 0) {
        *cell = 3;
        portent_event("done");
        exit(0);
    }
    wait_for_all(0);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    pthread_t thread;
    count(1);
    if (strcmp(how, "threads") == 0 && fork() == 0) {
        count_in_threads();
        exit(0);
    }
    if (strcmp(how, "thread") == 0) {
        pthread_create(&thread, NULL, fork_in_thread, NULL);
        pthread_join(thread, NULL);
    }
    if (strcmp(how, "nested") == 0)
        nested(3);
    if (strcmp(how, "atexit") == 0)
        atexit(fork_at_exit);
    if (strcmp(how, "turn") == 0)
        in_turn(200);
    if (strcmp(how, "once") == 0)
        at_once(20);
    if (strcmp(how, "killed") == 0)
        killed();
    if (strcmp(how, "outliving") == 0)
        outliving();
    else
        wait_for_all(0);
    if (strcmp(how, "uninvolved") == 0)
        uninvolved(1000);
    if (strcmp(how, "busy") == 0)
        uninvolved(20000);
    if (strcmp(how, "annotated") == 0)
        annotated();
    puts("done");
    return 0;
}
