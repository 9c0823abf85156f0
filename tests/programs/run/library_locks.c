/* Two threads write x, one after the other, and only a lock of a library that is not instrumented orders them:
 * glib_plain.c. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/msg.h>
#include <sys/sem.h>

void *await(int number);
void pass(int number, void *address);
void *g_once_impl(void *once, void *(*function)(void *), void *argument);
int g_once_init_enter(void *location);
void g_once_init_leave(void *location, size_t result);
int g_mutex_trylock(void *mutex);
void g_mutex_lock(void *mutex);
void g_mutex_unlock(void *mutex);
int g_bit_trylock(int *word, int bit);
void g_bit_lock(int *word, int bit);
void g_bit_unlock(int *word, int bit);
void g_cond_wait(void *condition, void *mutex);
int g_cond_wait_until(void *condition, void *mutex, long end);
void g_cond_signal(void *condition);
void g_async_queue_push(void *queue, void *item);
void *g_async_queue_pop(void *queue);
void *g_async_queue_try_pop(void *queue);
void posix_lock(void);
void posix_unlock(void);
void wake_word(int *word);
void wait_word(int *word);

static const char *kind;
static int x;
static void *mutex[2], *condition[2], *once[2], *queue[16], *again[2];
static size_t location;
static int word;

/* What the kernel has, made before the threads are; a message has a kind, and one byte. */
static mqd_t posix_queue;
static int number;
static struct {
    long kind;
    char text[8];
} sent = {.kind = 1}, received;

static int make(const char *what)
{
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = sizeof received.text};
    if (strncmp(what, "mq", 2) == 0) {
        posix_queue = mq_open("/portent-library-locks", O_CREAT | O_RDWR, 0600, &attributes);
        return mq_unlink("/portent-library-locks") == 0 && posix_queue != (mqd_t)-1;
    }
    if (strcmp(what, "msg") == 0)
        number = msgget(IPC_PRIVATE, 0600);
    else if (strncmp(what, "semop", 5) == 0)
        number = semget(IPC_PRIVATE, 1, 0600);
    return number >= 0;
}

static void destroy(const char *what)
{
    if (strcmp(what, "msg") == 0)
        msgctl(number, IPC_RMID, NULL);
    else if (strncmp(what, "semop", 5) == 0)
        semctl(number, 0, IPC_RMID);
}

static int is(const char *name)
{
    return strcmp(kind, name) == 0;
}

static void *set(void *value)
{
    x++;
    return value;
}

static void begin(void)
{
    if (is("mutex"))
        g_mutex_lock(mutex);
    else if (is("trylock"))
        while (!g_mutex_trylock(mutex))
            ;
    else if (is("bit"))
        g_bit_lock(&word, 3);
    else if (is("bit_try"))
        while (!g_bit_trylock(&word, 3))
            ;
    else if (is("posix"))
        posix_lock();
}

static void end(void)
{
    if (is("mutex") || is("trylock"))
        g_mutex_unlock(mutex);
    else if (is("bit") || is("bit_try"))
        g_bit_unlock(&word, 3);
    else if (is("posix"))
        posix_unlock();
}

static void *first(void *unused)
{
    begin();
    if (is("once"))
        g_once_impl(once, set, NULL);
    else if (!is("enter") || g_once_init_enter(&location))
        x++;
    end();
    if (is("enter"))
        g_once_init_leave(&location, 1);
    else if (is("futex"))
        wake_word(&word);
    else if (is("queue") || is("try_pop"))
        g_async_queue_push(queue, &x);
    else if (is("condition") || is("until"))
        g_cond_signal(condition);
    else if (is("mq"))
        mq_send(posix_queue, sent.text, 1, 0);
    else if (is("msg"))
        msgsnd(number, &sent, 1, 0);
    else if (is("semop"))
        semop(number, &(struct sembuf){.sem_op = 1}, 1);
    pass(1, NULL);
    return unused;
}

/* What comes after the first thread by its turn alone, but for what is waited for. */
static void *second(void *unused)
{
    if (is("condition") || is("until")) {
        g_mutex_lock(again);
        if (is("condition"))
            g_cond_wait(condition, again);
        else
            g_cond_wait_until(condition, again, 0);
        g_mutex_unlock(again);
    }
    await(1);
    if (is("futex"))
        wait_word(&word);
    else if (is("queue"))
        g_async_queue_pop(queue);
    else if (is("try_pop"))
        g_async_queue_try_pop(queue);
    else if (is("once"))
        g_once_impl(once, set, NULL);
    else if (is("enter"))
        g_once_init_enter(&location);
    else if (is("mq"))
        mq_receive(posix_queue, received.text, sizeof received.text, NULL);
    else if (is("msg"))
        msgrcv(number, &received, sizeof received.text, 1, 0);
    else if (is("semop"))
        semop(number, &(struct sembuf){.sem_op = -1}, 1);
    begin();
    x++;
    end();
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t one, two;
    kind = argc > 1 ? argv[1] : "";
    if (!make(kind))
        return 3;
    pthread_create(&two, NULL, second, NULL);
    pthread_create(&one, NULL, first, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    destroy(kind);
    printf("%d\n", x);
    return 0;
}
