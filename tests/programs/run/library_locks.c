/* Two threads write x, one after the other, and only a lock of a library that is not instrumented orders them: glib_plain.c. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

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
    begin();
    x++;
    end();
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t one, two;
    kind = argc > 1 ? argv[1] : "";
    pthread_create(&two, NULL, second, NULL);
    pthread_create(&one, NULL, first, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    printf("%d\n", x);
    return 0;
}
