/* Reads that block: one is interrupted, one goes on after a signal, one is cancelled, one would block. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int level;
static int ends[2];
static volatile sig_atomic_t calls;

static void call(int signal)
{
    (void)signal;
    calls++;
}

static void cleaned(void *unused)
{
    (void)unused;
    puts("cleaned up");
}

static void *wait_for_ever(void *unused)
{
    (void)unused;
    pthread_cleanup_push(cleaned, NULL);
    (void)!read(ends[0], &level, sizeof level);
    pthread_cleanup_pop(0);
    return NULL;
}

/* Sends signals until the read has ended. */
static void *disturb(void *reader)
{
    for (int i = 0; i < 5; i++) {
        usleep(20000);
        pthread_kill(*(pthread_t *)reader, SIGUSR1);
    }
    usleep(20000);
    int seven = 7;
    (void)!write(ends[1], &seven, sizeof seven);
    return NULL;
}

static void read_with(int flags, const char *what)
{
    struct sigaction action = {.sa_handler = call, .sa_flags = flags};
    pthread_t self = pthread_self(), other;
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&other, NULL, disturb, &self);
    ssize_t got = read(ends[0], &level, sizeof level);
    printf("%s: %s\n", what, got == sizeof level ? "7" : errno == EINTR ? "interrupted" : "?");
    pthread_join(other, NULL);
    if (got < 0)
        (void)!read(ends[0], &level, sizeof level);
}

int main(void)
{
    pthread_t thread;
    void *result;
    if (pipe(ends))
        return 1;
    read_with(0, "plain");
    read_with(SA_RESTART, "restarted");
    pthread_create(&thread, NULL, wait_for_ever, NULL);
    usleep(50000);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    puts(result == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    errno = 0;
    if (read(ends[0], &level, sizeof level) < 0 && errno == EAGAIN)
        puts("would block");
    errno = EDOM;
    (void)!write(ends[1], &level, sizeof level);
    if (read(ends[0], &level, sizeof level) == sizeof level && errno == EDOM)
        puts("errno is kept");
    printf("level %d\n", level);
    return 0;
}
