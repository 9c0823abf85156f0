/*
 * A stand-in for GLib, compiled without Portent into a shared library: locks that are words of their own, waited for by
 * futexes and taken without a call where nobody has them; and locks of POSIX, taken inside the library.
 */
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef struct {
    atomic_int word;
    void *rest;
} object;
typedef struct {
    object lock;
    void *items[8];
    int count;
} queue;

void *g_once_impl(object *once, void *(*function)(void *), void *argument);
int g_once_init_enter(_Atomic size_t *location);
void g_once_init_leave(_Atomic size_t *location, size_t result);
int g_mutex_trylock(object *mutex);
void g_mutex_lock(object *mutex);
void g_mutex_unlock(object *mutex);
int g_bit_trylock(atomic_int *word, int bit);
void g_bit_lock(atomic_int *word, int bit);
void g_bit_unlock(atomic_int *word, int bit);
int g_cond_wait_until(object *condition, object *mutex, int64_t end);
void g_cond_wait(object *condition, object *mutex);
void g_cond_signal(object *condition);
void g_cond_broadcast(object *condition);
void g_async_queue_push(queue *q, void *item);
void *g_async_queue_try_pop(queue *q);
void *g_async_queue_pop(queue *q);
void posix_lock(void);
void posix_unlock(void);
void wake_word(atomic_int *word);
void wait_word(atomic_int *word);

static void wait_on(atomic_int *word, int seen)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void wake(atomic_int *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

int g_mutex_trylock(object *mutex)
{
    int none = 0;
    return atomic_compare_exchange_strong(&mutex->word, &none, 1);
}

void g_mutex_lock(object *mutex)
{
    if (!g_mutex_trylock(mutex))
        while (atomic_exchange(&mutex->word, 2) != 0)
            wait_on(&mutex->word, 2);
}

void g_mutex_unlock(object *mutex)
{
    if (atomic_exchange(&mutex->word, 0) == 2)
        wake(&mutex->word);
}

int g_bit_trylock(atomic_int *word, int bit)
{
    return !(atomic_fetch_or(word, 1 << bit) >> bit & 1);
}

void g_bit_lock(atomic_int *word, int bit)
{
    while (!g_bit_trylock(word, bit))
        ;
}

void g_bit_unlock(atomic_int *word, int bit)
{
    atomic_fetch_and(word, ~(1 << bit));
}

/* Signals are kept, so that none is lost. */
int g_cond_wait_until(object *condition, object *mutex, int64_t end)
{
    (void)end;
    g_mutex_unlock(mutex);
    while (!atomic_load(&condition->word))
        sched_yield();
    g_mutex_lock(mutex);
    return 1;
}

void g_cond_wait(object *condition, object *mutex)
{
    g_cond_wait_until(condition, mutex, 0);
}

void g_cond_signal(object *condition)
{
    atomic_store(&condition->word, 1);
}

void g_cond_broadcast(object *condition)
{
    g_cond_signal(condition);
}

void *g_once_impl(object *once, void *(*function)(void *), void *argument)
{
    if (atomic_load(&once->word) == 0) {
        once->rest = function(argument);
        atomic_store(&once->word, 2);
    }
    return once->rest;
}

int g_once_init_enter(_Atomic size_t *location)
{
    return *location == 0;
}

void g_once_init_leave(_Atomic size_t *location, size_t result)
{
    *location = result;
}

void g_async_queue_push(queue *q, void *item)
{
    g_mutex_lock(&q->lock);
    q->items[q->count++] = item;
    g_mutex_unlock(&q->lock);
}

void *g_async_queue_try_pop(queue *q)
{
    g_mutex_lock(&q->lock);
    void *item = q->count ? q->items[--q->count] : NULL;
    g_mutex_unlock(&q->lock);
    return item;
}

void *g_async_queue_pop(queue *q)
{
    void *item;
    while (!(item = g_async_queue_try_pop(q)))
        ;
    return item;
}

static pthread_mutex_t inside = PTHREAD_MUTEX_INITIALIZER;

void posix_lock(void)
{
    pthread_mutex_lock(&inside);
}

void posix_unlock(void)
{
    pthread_mutex_unlock(&inside);
}

/* A wait always asks the kernel, which says so when the word has changed before. */
void wake_word(atomic_int *word)
{
    atomic_store(word, 1);
    wake(word);
}

void wait_word(atomic_int *word)
{
    do {
        wait_on(word, 0);
    } while (!atomic_load(word));
}
