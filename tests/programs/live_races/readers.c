// races: A-B
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

// Orders what happens, and nothing else: relaxed operations make no happens-before.
static atomic_int turn;
static void await(int n)
{
    while (atomic_load_explicit(&turn, memory_order_relaxed) < n)
        ;
}
static void next(int n)
{
    atomic_store_explicit(&turn, n, memory_order_relaxed);
}

static volatile int x;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static void *first(void *p)
{
    pthread_rwlock_rdlock(&lock);
    x = 1; //@A
    pthread_rwlock_unlock(&lock);
    next(1);
    return p;
}
static void *second(void *p)
{
    await(1);
    pthread_rwlock_rdlock(&lock);
    (void)x; //@B
    pthread_rwlock_unlock(&lock);
    return p;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
