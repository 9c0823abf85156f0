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
static void *first(void *p)
{
    await(1);
    x = 1; //@A
    return p;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, first, NULL);
    pthread_detach(a);
    x = 2; //@B
    next(1);
    return 0;
}
