// races:
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

static int x;
static pthread_barrier_t barrier;
static void *first(void *p)
{
    x = 1;
    pthread_barrier_wait(&barrier);
    return p;
}
static void *second(void *p)
{
    pthread_barrier_wait(&barrier);
    x = 2;
    return p;
}
int main(void)
{
    pthread_t a, b;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    next(1);
    await(1);
    return 0;
}
