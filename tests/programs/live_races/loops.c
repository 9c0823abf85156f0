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

enum { N = 5000 };
static volatile long shared[N], guarded[N];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *first(void *p)
{
    for (int i = 0; i < N; i++)
        shared[i] = i; //@A
    pthread_mutex_lock(&lock);
    for (int i = 0; i < N; i++)
        guarded[i] = i;
    pthread_mutex_unlock(&lock);
    next(1);
    return p;
}
static void *second(void *p)
{
    await(1);
    (void)shared[N - 1]; //@B
    pthread_mutex_lock(&lock);
    for (int i = 0; i < N; i++)
        guarded[i]++;
    pthread_mutex_unlock(&lock);
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
