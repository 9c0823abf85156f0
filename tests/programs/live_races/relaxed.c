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

static int x;
static atomic_int ready;
static void *first(void *p)
{
    x = 1; //@A
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return p;
}
static void *second(void *p)
{
    while (!atomic_load_explicit(&ready, memory_order_acquire))
        ;
    x = 2; //@B
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
