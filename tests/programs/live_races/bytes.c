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

static volatile char text[64];
static void *first(void *p)
{
    for (int i = 0; i < 64; i += 2)
        text[i] = 1;
    next(1);
    return p;
}
static void *second(void *p)
{
    await(1);
    for (int i = 1; i < 64; i += 2)
        text[i] = 2;
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
